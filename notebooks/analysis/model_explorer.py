"""Published models to be explored in a page: linked views in Vega-Lite, a figure where none run."""

import base64
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
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
FIRST_AXES = (
    "knowledge bases: NCCR, zero-shot",
    "IC-LKE: accuracy",
)  # at first, across and up
AMBIGUITY_ENDING, BINARY_ENDING = (
    " ambiguity",
    " binary ambiguity",
)  # how measures of multiplicity end
CHANGE_COLOURS = {
    "the answer never changes": "#8d99a6",
    "the answer changes, its mark does not": "#56b4e9",
    "the mark changes": "#d55e00",
}
YOUR_RUNS_LABEL, YOUR_RUN_LABEL = "your runs", "your run"
BACKGROUND_COLOUR = "var(--pst-color-background, #fff)"  # follows the page's theme
BENCHMARK_GAP = 1.2  # from one benchmark's bars to the next, in bars

JsonRow = dict[str, Any]


def render_explorer(
    table: pd.DataFrame,
    measures: pd.DataFrame,
    relations: pd.DataFrame | None = None,
    folder: str | Path | None = None,
    runs: pd.DataFrame | None = None,
) -> HTML:
    """Show models (`notebooks.kit.published.paper_models`) and `runs` (of `beside`) in linked views."""
    measures = measures[measures.index.isin(table.columns)]
    keys = {name: f"m{place}" for place, name in enumerate(measures.index)}
    first = [
        name if name in keys else list(keys)[place]
        for place, name in enumerate(FIRST_AXES)
    ]
    if folder is not None:
        result_tables.export_table(table, EXPORT_NAME, folder)
    rows = [_model(str(model), row, keys) for model, row in table.iterrows()]
    own, apart = _runs(runs, keys, taken=set(table.index))
    cells, lines, columns, others = _relations(relations, table.index)
    data = {"models": rows + own, "apart": apart, **cells, **_changes(table, measures)}
    better = dict(zip(keys.values(), measures["better"].astype(int)))
    names = {
        key: name + (" ↓" if better[key] < 0 else "") for name, key in keys.items()
    }
    state = {"x": keys[first[0]], "y": keys[first[1]], "names": names, "better": better}
    state |= {"shown": [row["model"] for row in rows], "chosen": "", "benchmark": ""}
    state |= {"rows": lines, "columns": columns}
    held = {"state": state, "data": data, "views": _views(state, data, others)}
    text = json.dumps(held, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    sizes = sorted({row["billion"] for row in rows if row["billion"] is not None})
    families = Counter(row["family"] for row in rows)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(EXPLORER_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    page = environment.get_template("model_explorer.html.jinja").render(
        held=text.replace("<", r"\u003c"),  # no name in it can end the script
        state=state,
        views=held["views"],
        axes=_grouped(zip(measures["paper"], names, names.values())),
        models=_grouped(
            (row["family"], n, row["model"]) for n, row in enumerate(rows + own)
        ),
        sizes=[(size, f"{size:g} billion") for size in sizes],
        families=[
            (name, family_colour(name), count) for name, count in families.items()
        ],
        placed=bool(own or apart),
        changes=CHANGE_COLOURS,
        benchmarks=[
            (head["benchmark"], head["benchmark"]) for head in data["benchmarks"]
        ],
        name=EXPORT_NAME,
        n_models=len(table),
        n_measures=len(measures),
        csv=f"data:text/csv;charset=utf-8,{quote(table.rename_axis('model').to_csv())}",
        listing=_listing(table, measures, first),
        **_still(table, *first),
    )
    return HTML(page)


def _views(state: JsonRow, data: JsonRow, others: list[str]) -> dict[str, JsonRow]:
    """Return the views of the data there are, their parameters set."""
    stored = json.loads(
        (EXPLORER_FOLDER / "model_explorer.json").read_text(encoding="utf-8")
    )
    views = {
        name: {"config": stored["config"], **view}
        for name, view in stored["views"].items()
    }
    for view in views.values():
        view["params"] = [
            {"name": name, "value": value} for name, value in state.items()
        ]
    if not data["apart"]:  # no names above the axis, so no room for them
        views["scatter"]["title"]["offset"] = 10
        del views["scatter"]["layer"][-1]
    beside = views["relations"]["layer"][0]["layer"]
    if others:
        beside[1]["layer"][0]["encoding"]["color"]["legend"]["title"] = ", ".join(
            others
        )
    else:
        del beside[1]
    optional = ("relations", "changes")
    return {
        name: view for name, view in views.items() if name not in optional or data[name]
    }


def _model(model: str, row: pd.Series, keys: dict[str, str]) -> JsonRow:
    """Return the row of a model; numbers that a paper does not print are left out."""
    family, billion, kind = row["family"], row["billion"], row["kind"]
    size = "size not known" if pd.isna(billion) else f"{billion:g} billion"
    about = f"{family}, {size}, {kind}, {row['released']}"
    billion = None if pd.isna(billion) else float(billion)
    found = {"model": model, "family": str(family), "billion": billion, "kind": kind}
    found |= {"about": about, "colour": family_colour(family)}
    return found | {keys[n]: round(float(row[n]), 6) for n in keys if pd.notna(row[n])}


def _runs(
    runs: pd.DataFrame | None, keys: dict[str, str], taken: set[str]
) -> tuple[list[JsonRow], list[JsonRow]]:
    """Return the runs on the papers' questions, a row per model, and the numbers of the others."""
    own, apart = {}, []
    rows = pd.DataFrame(columns=["measure", "n"]) if runs is None else runs
    for run in rows[rows["measure"].isin(keys)].sort_values("n").to_dict("records"):
        key, name, value = keys[run["measure"]], str(run["label"]), float(run["value"])
        origin = run["origin"] if pd.notna(run.get("origin")) else YOUR_RUN_LABEL
        name = f"{name} ({origin})" if name in taken else name
        ends = {end: float(run[end]) for end in ("low", "high") if pd.notna(run[end])}
        about = f"{origin}, n = {run['n']:,}, {run['dataset']}"
        if run["same_questions"]:
            mine = {
                "family": f"{origin}s",
                "kind": YOUR_RUNS_LABEL,
                "colour": BACKGROUND_COLOUR,
                "run": True,
            }
            row = own.setdefault(name, {"model": name, "about": about, **mine})
            row |= {key: value} | {f"{key}_{end}": bound for end, bound in ends.items()}
        else:
            row = {
                "label": name,
                "measure": key,
                "value": value,
                "origin": origin,
                **ends,
            }
            apart.append(
                row | {"about": f"{about}; {run.get('why') or 'other questions'}"}
            )
    return list(own.values()), apart


def _relations(
    table: pd.DataFrame | None, models: pd.Index
) -> tuple[dict[str, list[JsonRow]], list[str], list[str], list[str]]:
    """Return the cells of the models and those beside them; rows, columns, and those beside."""
    if table is None or table.empty:
        return {"relations": [], "beside": []}, [], [], []
    ours = table[[name for name in table if name in models]]
    others = [str(name) for name in table if name not in models]
    hardest = ours.mean(axis="columns").sort_values(ascending=False, kind="stable")
    columns = [*ours.mean().sort_values(kind="stable").index, "", *others]
    cells = (
        table.rename_axis("relation")
        .reset_index()
        .melt("relation", var_name="model")
        .dropna()
    )
    cells = cells.assign(value=cells["value"].astype(float).round(6))
    parts = {
        "relations": cells["model"].isin(models),
        "beside": ~cells["model"].isin(models),
    }
    found = {name: cells[part].to_dict("records") for name, part in parts.items()}
    return found, list(hardest.index), columns, others


def _changes(table: pd.DataFrame, measures: pd.DataFrame) -> dict[str, list[JsonRow]]:
    """Return the shares of questions whose answer never changes, changes, changes its mark."""
    stems = [
        name.removesuffix(BINARY_ENDING)
        for name in measures.index
        if name.endswith(BINARY_ENDING)
    ]
    parts, heads = [], []
    for place, stem in enumerate(stems):
        heads.append(
            {"benchmark": stem.rpartition(": ")[2], "place": place * BENCHMARK_GAP}
        )
        both = (
            table[[stem + AMBIGUITY_ENDING, stem + BINARY_ENDING]]
            .astype(float)
            .dropna()
        )
        for model, any_change, mark in both.itertuples():
            head = {"model": str(model), **heads[-1]}
            ends = [round(end, 6) for end in (0, 1 - any_change, 1 - mark, 1)]
            for kind, low, high in zip(CHANGE_COLOURS, ends, ends[1:]):
                parts.append(head | {"kind": kind, "low": low, "high": high})
    return {"changes": parts, "benchmarks": heads}


def _grouped(
    rows: Iterable[tuple[str, object, str]],
) -> dict[str, list[tuple[object, str]]]:
    """Group the values and texts of options by their heading."""
    found = defaultdict(list)
    for heading, value, text in rows:
        found[heading].append((value, text))
    return found


def _still(table: pd.DataFrame, x: str, y: str) -> dict[str, str]:
    """Return the figure of the first two measures, for where no script runs, and its words."""
    pairs, image = table[[x, y]].astype(float).dropna(), io.BytesIO()
    figure = draw_models_by_family(table, x, y).figure
    figure.savefig(image, format="png")
    plt.close(figure)
    rank = pairs.corr("spearman").iloc[0, 1]
    words = f"{y} against {x}, {len(pairs)} models that have both: rank correlation {rank:.2f}."
    return {"words": words, "image": base64.b64encode(image.getvalue()).decode()}


def _listing(table: pd.DataFrame, measures: pd.DataFrame, first: list[str]) -> str:
    """Return the table of the models, one measure per paper and those of the axes."""
    one = measures.groupby("paper", sort=False).head(1).index
    shown = [name for name in measures.index if name in {*one, *first}]
    part = table[["family", "billion", "kind", "released", *shown]].rename_axis("model")
    part["billion"] = part["billion"].map("{:g}".format, na_action="ignore")
    words = f"{len(part)} models, {len(shown)} of {len(measures)} measures; – is not printed."
    return result_tables.styled_table(part, EXPORT_NAME, words, sortable=True).to_html()
