"""Published models to explore in a page: linked views in Vega-Lite, else a figure."""

import base64
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import jinja2
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML

from notebooks.analysis.real_models import draw_models_by_family
from notebooks.kit.plots import result_tables
from notebooks.kit.plots.style import family_colour

EXPLORER_FOLDER = Path(__file__).parent
EXPORT_NAME = "real_models"  # of the exports
FIRST_AXES = (  # at first, across and up
    "knowledge bases: NCCR, zero-shot",
    "IC-LKE: accuracy",
)
# How measures of multiplicity end
AMBIGUITY_ENDING = " ambiguity"
BINARY_ENDING = " binary ambiguity"
CHANGE_COLOURS = {
    "the answer never changes": "#8d99a6",
    "the answer changes, its mark does not": "#56b4e9",
    "the mark changes": "#d55e00",
}
YOUR_RUNS_LABEL = "your runs"
YOUR_RUN_LABEL = "your run"
BACKGROUND_COLOUR = "var(--pst-color-background, #fff)"  # follows the page's theme
BENCHMARK_GAP = 1.2  # from one benchmark's bars to the next, in bars
DECIMALS = 6  # of numbers in the page

JsonRow = dict[str, Any]  # what JSON holds: texts, numbers, lists, rows


class RelationCells(NamedTuple):
    """The table of relations and models as a page shows it."""

    cells: dict[str, list[JsonRow]]  # of the models, and of those beside them
    relations: list[str]  # the rows, of the highest mean first
    columns: list[str]  # models, of the lowest mean first, a gap, those beside them
    others: list[str]  # those beside the models


def render_explorer(
    table: pd.DataFrame,
    measures: pd.DataFrame,
    relations: pd.DataFrame | None = None,
    folder: str | Path | None = None,
    runs: pd.DataFrame | None = None,
) -> HTML:
    """Show models and `runs` in linked views, and export the table to a `folder`.

    Parameters
    ----------
    table, measures, relations
        As of `notebooks.kit.published.paper_models`: a row a model, a row a measure,
        a row a relation.
    folder
        Where the table is saved; none: nowhere.
    runs
        Of `notebooks.kit.runs_against_papers`.
    """
    measures = measures[measures.index.isin(table.columns)]
    keys = {name: f"m{place}" for place, name in enumerate(measures.index)}
    first_axes = _first_axes(list(keys))
    if folder is not None:
        result_tables.export_table(table, EXPORT_NAME, folder)
    models = [_model_row(str(name), row, keys) for name, row in table.iterrows()]
    own, apart = _run_rows(runs, keys, taken=set(table.index))
    by_relation = _relation_cells(relations, table.index)
    data = {"models": models + own, "apart": apart}
    data |= by_relation.cells
    data |= _answer_changes(table, measures)
    names = _names_of_axes(keys, measures["better"])
    better = measures["better"].astype(int)
    state = {
        "x": keys[first_axes[0]],
        "y": keys[first_axes[1]],
        "names": names,
        "better": dict(zip(keys.values(), better, strict=True)),
        "shown": [row["model"] for row in models],
        "chosen": "",
        "benchmark": "",
        "rows": by_relation.relations,
        "columns": by_relation.columns,
    }
    views = _views_of_data(state, data, by_relation.others)
    page = _template().render(
        held=_json_in_script({"state": state, "data": data, "views": views}),
        state=state,
        views=views,
        axes=_grouped(zip(measures["paper"], names, names.values(), strict=True)),
        models=_grouped(_options_of_models(models + own)),
        sizes=_options_of_sizes(models),
        families=_families_with_counts(models),
        placed=bool(own or apart),
        changes=CHANGE_COLOURS,
        benchmarks=_options_of_benchmarks(data["benchmarks"]),
        name=EXPORT_NAME,
        n_models=len(table),
        n_measures=len(measures),
        csv=f"data:text/csv;charset=utf-8,{quote(table.rename_axis('model').to_csv())}",
        listing=_listing(table, measures, first_axes),
        **_still_figure(table, *first_axes),
    )
    return HTML(page)


def _template() -> jinja2.Template:
    """Return the template of the page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(EXPLORER_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("model_explorer.html.jinja")


def _json_in_script(content: JsonRow) -> str:
    """Return JSON that can stand in a script: no name in it can end the script."""
    text = json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.replace("<", r"\u003c")


def _first_axes(measures: list[str]) -> list[str]:
    """Return the measures across and up at first: `FIRST_AXES` where there are such."""
    axes = []
    for place, name in enumerate(FIRST_AXES):
        if name not in measures:
            name = measures[place]
        axes.append(name)
    return axes


def _names_of_axes(keys: dict[str, str], better: pd.Series) -> dict[str, str]:
    """Return measures' names by key, with an arrow where less is better."""
    names = {}
    for name, key in keys.items():
        if better[name] < 0:
            name += " ↓"
        names[key] = name
    return names


def _options_of_models(rows: list[JsonRow]) -> Iterator[tuple[str, int, str]]:
    """Yield family, number and name of each model."""
    for number, row in enumerate(rows):
        yield row["family"], number, row["model"]


def _options_of_sizes(rows: list[JsonRow]) -> list[tuple[float, str]]:
    """Return the numbers of parameters that are known, as numbers and in words."""
    sizes = {row["billion"] for row in rows if row["billion"] is not None}
    return [(size, f"{size:g} billion") for size in sorted(sizes)]


def _families_with_counts(rows: list[JsonRow]) -> list[tuple[str, str, int]]:
    """Return each family with its colour and its number of models."""
    counts = Counter(row["family"] for row in rows)
    return [(name, family_colour(name), count) for name, count in counts.items()]


def _options_of_benchmarks(heads: list[JsonRow]) -> list[tuple[str, str]]:
    """Return the benchmarks, each as value and text."""
    return [(head["benchmark"], head["benchmark"]) for head in heads]


def _views_of_data(
    state: JsonRow, data: JsonRow, others: list[str]
) -> dict[str, JsonRow]:
    """Return the views of the data there are, their parameters set."""
    path = EXPLORER_FOLDER / "model_explorer.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    views = {}
    for name, view in stored["views"].items():
        parameters = [{"name": key, "value": value} for key, value in state.items()]
        views[name] = {"config": stored["config"], **view, "params": parameters}
    if not data["apart"]:  # no names above the axis, so no room for them
        views["scatter"]["title"]["offset"] = 10
        del views["scatter"]["layer"][-1]
    layers = views["relations"]["layer"][0]["layer"]
    if others:
        colour = layers[1]["layer"][0]["encoding"]["color"]
        colour["legend"]["title"] = ", ".join(others)
    else:
        del layers[1]
    for name in ("relations", "changes"):
        if not data[name]:
            del views[name]
    return views


def _model_row(model: str, row: pd.Series, keys: dict[str, str]) -> JsonRow:
    """Return the row of a model; numbers that a paper does not print are left out."""
    billion = None
    size = "size not known"
    if pd.notna(row["billion"]):
        billion = float(row["billion"])
        size = f"{row['billion']:g} billion"
    family, kind = row["family"], row["kind"]
    model_row = {
        "model": model,
        "family": str(family),
        "billion": billion,
        "kind": kind,
        "about": f"{family}, {size}, {kind}, {row['released']}",
        "colour": family_colour(family),
    }
    for name, key in keys.items():
        if pd.notna(row[name]):
            model_row[key] = round(float(row[name]), DECIMALS)
    return model_row


def _run_rows(
    runs: pd.DataFrame | None, keys: dict[str, str], taken: set[str]
) -> tuple[list[JsonRow], list[JsonRow]]:
    """Return a row per model of runs on the papers' questions; a row per other number.

    A run of a model whose name is `taken` is named with its origin.
    """
    if runs is None:
        return [], []
    own: dict[str, JsonRow] = {}
    apart = []
    shown = runs[runs["measure"].isin(keys)].sort_values("n")
    for run in shown.to_dict("records"):
        origin = YOUR_RUN_LABEL
        if pd.notna(run.get("origin")):
            origin = run["origin"]
        name = str(run["label"])
        if name in taken:
            name = f"{name} ({origin})"
        key = keys[run["measure"]]
        value = float(run["value"])
        bounds = {end: float(run[end]) for end in ("low", "high") if pd.notna(run[end])}
        about = f"{origin}, n = {run['n']:,}, {run['dataset']}"
        if run["same_questions"]:
            row = own.setdefault(name, _row_of_own_model(name, about, origin))
            row[key] = value
            for end, bound in bounds.items():
                row[f"{key}_{end}"] = bound
        else:
            row = {"label": name, "measure": key, "value": value, "origin": origin}
            row |= bounds
            row["about"] = f"{about}; {run.get('why') or 'other questions'}"
            apart.append(row)
    return list(own.values()), apart


def _row_of_own_model(name: str, about: str, origin: str) -> JsonRow:
    """Return the row of a model that was run, as yet without numbers."""
    return {
        "model": name,
        "about": about,
        "family": f"{origin}s",
        "kind": YOUR_RUNS_LABEL,
        "colour": BACKGROUND_COLOUR,
        "run": True,
    }


def _relation_cells(table: pd.DataFrame | None, models: pd.Index) -> RelationCells:
    """Return the cells of the models and of those beside them, in rows and columns."""
    if table is None or table.empty:
        return RelationCells({"relations": [], "beside": []}, [], [], [])
    ours = table[[name for name in table if name in models]]
    others = [str(name) for name in table if name not in models]
    relation_means = ours.mean(axis="columns").sort_values(
        ascending=False, kind="stable"
    )
    model_means = ours.mean().sort_values(kind="stable")
    cells = table.rename_axis("relation").reset_index()
    cells = cells.melt("relation", var_name="model").dropna()
    cells["value"] = cells["value"].astype(float).round(DECIMALS)
    is_ours = cells["model"].isin(models)
    return RelationCells(
        cells={
            "relations": cells[is_ours].to_dict("records"),
            "beside": cells[~is_ours].to_dict("records"),
        },
        relations=list(relation_means.index),
        columns=[*model_means.index, "", *others],
        others=others,
    )


def _answer_changes(
    table: pd.DataFrame, measures: pd.DataFrame
) -> dict[str, list[JsonRow]]:
    """Return shares of questions by what changes: nothing, the answer, its mark."""
    stems = [
        name.removesuffix(BINARY_ENDING)
        for name in measures.index
        if name.endswith(BINARY_ENDING)
    ]
    bars = []
    heads = []
    for number, stem in enumerate(stems):
        benchmark = stem.rpartition(": ")[2]
        head = {"benchmark": benchmark, "place": number * BENCHMARK_GAP}
        heads.append(head)
        columns = [stem + AMBIGUITY_ENDING, stem + BINARY_ENDING]
        shares = table[columns].astype(float).dropna()
        for model, any_change, mark_change in shares.itertuples():
            ends = (0, 1 - any_change, 1 - mark_change, 1)
            ends = [round(end, DECIMALS) for end in ends]
            bounds = zip(CHANGE_COLOURS, ends[:-1], ends[1:], strict=True)
            for kind, low, high in bounds:
                bar = {"model": str(model), **head, "kind": kind}
                bars.append(bar | {"low": low, "high": high})
    return {"changes": bars, "benchmarks": heads}


def _grouped(
    options: Iterable[tuple[str, object, str]],
) -> dict[str, list[tuple[object, str]]]:
    """Group the values and texts of options by their heading."""
    groups: dict[str, list[tuple[object, str]]] = defaultdict(list)
    for heading, value, text in options:
        groups[heading].append((value, text))
    return groups


def _still_figure(table: pd.DataFrame, x: str, y: str) -> dict[str, str]:
    """Return the first two measures' figure, where no script runs, and its words."""
    figure = draw_models_by_family(table, x, y).figure
    image = io.BytesIO()
    figure.savefig(image, format="png")
    plt.close(figure)
    pairs = table[[x, y]].astype(float).dropna()
    rank = pairs.corr("spearman").iloc[0, 1]
    words = (
        f"{y} against {x}, {len(pairs)} models that have both: "
        f"rank correlation {rank:.2f}."
    )
    return {"words": words, "image": base64.b64encode(image.getvalue()).decode()}


def _listing(table: pd.DataFrame, measures: pd.DataFrame, axes: list[str]) -> str:
    """Return the table of the models, one measure per paper and those of the axes."""
    first_of_papers = measures.groupby("paper", sort=False).head(1).index
    shown = [name for name in measures.index if name in {*first_of_papers, *axes}]
    part = table[["family", "billion", "kind", "released", *shown]].rename_axis("model")
    part["billion"] = part["billion"].map("{:g}".format, na_action="ignore")
    words = (
        f"{len(part)} models, {len(shown)} of {len(measures)} measures; "
        "– is not printed."
    )
    styled = result_tables.styled_table(part, EXPORT_NAME, words, sortable=True)
    return styled.to_html()
