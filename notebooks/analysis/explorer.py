"""Published models to be explored in a page: linked views in Vega-Lite, a figure where none run.

A page that holds them loads ``_static/explorer/explorer.js``, which draws the views of this module
and wires the controls to their parameters.
"""

import base64
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import altair as alt
import pandas as pd
from IPython.display import HTML
from matplotlib import pyplot as plt

from helpers.plots import tables
from helpers.plots.models import family_scatter
from helpers.plots.style import family_colour

NAME = "real_models"  # of the exports
AXES = ("knowledge bases: NCCR, zero-shot", "IC-LKE: accuracy")  # at first, across and up
AMBIGUITY, BINARY = " ambiguity", " binary ambiguity"  # how measures of multiplicity end
CHANGES = {
    "the answer never changes": "#8d99a6",
    "the answer changes, its mark does not": "#56b4e9",
    "the mark changes": "#d55e00",
}
YOURS, MINE = "your runs", "your run"
TEXT = "var(--pst-color-text-base, #222)"  # colours that follow the page's theme
GROUND = "var(--pst-color-background, #fff)"
LINE = "var(--pst-color-border, #d1d5da)"
CROSS = "M-1,-1L1,1M-1,1L1,-1"
GAP = 1.2  # from one benchmark's bars to the next, in bars
SEEN = "datum.run || indexof(shown, datum.model) >= 0"
CHOSEN = "datum.model === chosen"
SHAPES = {"domain": ["base", "tuned", YOURS], "range": ["circle", "triangle-up", "circle"]}
INK = {"stroke": TEXT, "strokeWidth": 2}
TOLD = {"tooltip": "tip:N", "description": "tip:N"}
PADDING = {"left": 5, "top": 5, "right": 24, "bottom": 24}  # room for crosses and a name
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "gridColor": LINE,
        "gridOpacity": 0.6,
        "labelColor": TEXT,
        "labelFontSize": 11,
        "ticks": False,
        "title": None,
    },
    "legend": {
        "orient": "bottom",
        "gradientLength": 80,
        "gradientThickness": 9,
        "labelColor": TEXT,
        "labelFontSize": 11,
        "titleColor": TEXT,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titleLimit": 0,
    },
    "mark": {"invalid": "show"},  # what is not valid is filtered before
    "text": {"color": TEXT, "fontSize": 11},
    "title": {"color": TEXT, "fontSize": 12, "fontWeight": 600},
}


def show(
    table: pd.DataFrame,
    measures: pd.DataFrame,
    relations: pd.DataFrame | None = None,
    folder: str | Path | None = None,
    runs: pd.DataFrame | None = None,
) -> HTML:
    """Show models in linked views: scatter, ranking, map of relations, kinds of change.

    Parameters
    ----------
    table : DataFrame
        Index of models; ``family, billion, kind, released`` and a column for each measure, as from
        :func:`helpers.published.joined.joined`.
    measures : DataFrame
        Index of measures; ``paper, better``, as from :func:`helpers.published.joined.measures`.
    relations : DataFrame, optional
        Index of relations, a column for each model, as from
        :func:`helpers.published.joined.relations`. A column that is no model of `table` is drawn
        beside them with a scale of its own.
    folder : str or Path, optional
        Where the table is exported (:func:`helpers.plots.tables.export`); by default nowhere.
    runs : DataFrame, optional
        Your runs: ``label, measure, value, low, high, n, same_questions, dataset``; if it is known
        ``why``, in what their questions differ, and ``origin``, "your run" by default. On the
        papers' questions they are outlined and ranked, of several values of a measure the one
        of most facts; on others they are crosses beside the axes and ranked nowhere.

    Returns
    -------
    HTML
        Without scripts, and in print: a figure, a table that sorts, and a link to all figures as
        CSV. All names in it are escaped.

    Examples
    --------
    >>> table = pd.DataFrame({"family": "OPT", "billion": 1.3, "kind": "base", "released": 2022,
    ...                       "accuracy": [0.5], "score": [0.4]}, index=["OPT <1.3B>"])
    >>> measures = pd.DataFrame({"paper": "A", "better": 1}, index=["accuracy", "score"])
    >>> text = show(table.rename_axis("model"), measures).data
    >>> "OPT &lt;1.3B&gt;" in text, "<1.3B>" in text
    (True, False)
    """
    measures = measures[measures.index.isin(table.columns)]
    keys = {name: f"m{place}" for place, name in enumerate(measures.index)}
    first = [name if name in keys else list(keys)[place] for place, name in enumerate(AXES)]
    if folder is not None:
        tables.export(table, NAME, folder)
    rows = list(_models(table, keys))
    own, apart = _runs(runs, keys, taken=set(table.index))
    cells, lines, columns, others = _relations(relations, table.index)
    data = {"models": rows + own, "apart": apart, **cells, **_changes(table, measures)}
    better = dict(zip(keys.values(), measures["better"].astype(int)))
    names = {key: name + (" ↓" if better[key] < 0 else "") for name, key in keys.items()}
    state = {
        "x": keys[first[0]],
        "y": keys[first[1]],
        "names": names,
        "better": better,
        "shown": [row["model"] for row in rows],
        "chosen": "",
        "benchmark": "",
        "rows": lines,
        "columns": columns,
    }
    head = _heading("names[y]", offset=6 if apart else 10)
    views = {
        "scatter": _view(_scatter(bool(apart)), state, height=400, title=head, padding=PADDING),
        "ranking": _view(_ranking(), state, height=alt.Step(16), title=_heading("names[x]")),
    }
    if data["relations"]:
        views["relations"] = _view(_map(others), state, height=alt.Step(19))
    if data["changes"]:
        views["changes"] = _view(_bars(), state, height=alt.Step(18))
    held = {"state": state, "data": data, "views": views}
    return HTML(
        f'<div class="explorer">{_script(held)}'
        f"<template>{_controls(rows + own, measures, state)}"
        f"{''.join(_place(name, data) for name in views)}</template>"
        f'<div class="explorer-still">{_still(table, *first)}</div>'
        f"{_listing(table, measures, first)}</div>"
    )


# The data, as lists of rows


def _models(table: pd.DataFrame, keys: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each model; figures that a paper does not print are left out."""
    for model, row in table.iterrows():
        size = "size not known" if pd.isna(row["billion"]) else f"{row['billion']:g} billion"
        yield {
            "model": str(model),
            "family": str(row["family"]),
            "billion": None if pd.isna(row["billion"]) else float(row["billion"]),
            "kind": row["kind"],
            "about": f"{row['family']}, {size}, {row['kind']}, {row['released']}",
            "colour": family_colour(row["family"]),
            **{keys[name]: round(float(row[name]), 6) for name in keys if pd.notna(row[name])},
        }


def _runs(
    runs: pd.DataFrame | None, keys: dict[str, str], taken: set[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the runs on the papers' questions, a row per model, and the figures of the others."""
    own: dict[str, dict[str, Any]] = {}
    apart = []
    if runs is None or runs.empty:
        return [], []
    for run in runs[runs["measure"].isin(keys)].sort_values("n").to_dict("records"):
        key, name = keys[run["measure"]], str(run["label"])
        origin = run["origin"] if pd.notna(run.get("origin")) else MINE
        name = f"{name} ({origin})" if name in taken else name
        ends = {"low": run["low"], "high": run["high"]}
        about = f"{origin}, n = {run['n']:,}, {run['dataset']}"
        if run["same_questions"]:
            mine = {"family": f"{origin}s", "kind": YOURS, "colour": GROUND, "run": True}
            row = own.setdefault(name, {"model": name, "about": about, **mine})
            row[key] = float(run["value"])
            row |= {f"{key}_{end}": float(v) for end, v in ends.items() if pd.notna(v)}
        else:
            row = {"label": name, "measure": key, "value": float(run["value"]), "origin": origin}
            row |= {end: float(value) for end, value in ends.items() if pd.notna(value)}
            apart.append(row | {"about": f"{about}; {run.get('why') or 'other questions'}"})
    return list(own.values()), apart


def _relations(
    table: pd.DataFrame | None, models: pd.Index
) -> tuple[dict[str, list[dict[str, Any]]], list[str], list[str], list[str]]:
    """Return the cells of the models and those beside them; rows, columns, and those beside."""
    if table is None or table.empty:
        return {"relations": [], "beside": []}, [], [], []
    ours = table[[name for name in table if name in models]]
    others = [str(name) for name in table if name not in models]
    hardest = ours.mean(axis="columns").sort_values(ascending=False, kind="stable")
    columns = [*ours.mean().sort_values(kind="stable").index, "", *others]
    cells = table.rename_axis("relation").reset_index().melt("relation", var_name="model").dropna()
    cells = cells.assign(value=cells["value"].astype(float).round(6))
    parts = {"relations": cells["model"].isin(models), "beside": ~cells["model"].isin(models)}
    found = {name: cells[part].to_dict("records") for name, part in parts.items()}
    return found, list(hardest.index), columns, others


def _changes(table: pd.DataFrame, measures: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the shares of questions whose answer never changes, changes, changes its mark."""
    stems = [name.removesuffix(BINARY) for name in measures.index if name.endswith(BINARY)]
    parts, heads = [], []
    for place, stem in enumerate(stems):
        benchmark = stem.rpartition(": ")[2]
        heads.append({"benchmark": benchmark, "place": place * GAP})
        both = table[[stem + AMBIGUITY, stem + BINARY]].astype(float).dropna()
        for model, (any_change, mark) in zip(both.index, both.to_numpy()):
            ends = [0, 1 - any_change, 1 - mark, 1]
            for kind, low, high in zip(CHANGES, ends, ends[1:]):
                row = {"model": str(model), "benchmark": benchmark, "place": place * GAP}
                parts.append(row | {"kind": kind, "low": round(low, 6), "high": round(high, 6)})
    return {"changes": parts, "benchmarks": heads}


# The views


def _view(layers: list[alt.LayerChart], state: dict[str, Any], **size: object) -> dict[str, Any]:
    """Return a view as Vega-Lite, checked against its schema; its data are named, not held."""
    parameters = [{"name": name, "value": value} for name, value in state.items()]
    view = alt.layer(*layers).properties(width="container", **size).configure(**CONFIG)
    return view.to_dict() | {"params": parameters}


def _data(name: str, *layers: alt.Chart, **calculated: str) -> alt.LayerChart:
    return alt.layer(*layers, data=alt.NamedData(name)).transform_calculate(**calculated)


def _expression(text: str) -> Any:
    return alt.value(alt.expr(text))


def _heading(text: str, offset: int = 8) -> alt.TitleParams:
    return alt.TitleParams(alt.expr(text), anchor="start", frame="bounds", offset=offset)


def _unless_other(opacity: float) -> Any:
    """Return opacities that make all but the highlighted model fainter, if there is one."""
    return alt.condition(f"chosen === '' || {CHOSEN}", alt.value(1), alt.value(opacity))


def _written(value: str, low: str, high: str) -> str:
    """Return the expression that writes a figure with its interval, if it has one."""
    interval = f"' [' + format({low}, '.3f') + ', ' + format({high}, '.3f') + ']'"
    return f"format({value}, '.3f') + (isValid({low}) ? {interval} : '')"


def _models_with(*layers: alt.Chart) -> alt.LayerChart:
    """Return layers of the models that are shown, their two figures in X and Y."""
    ends = {f"{axis}{end}": f"datum[{axis} + '_{end}']" for axis in "xy" for end in ("low", "high")}
    across, up = (
        f"(isValid(datum[{axis}]) ? '\\n' + names[{axis}] + ': ' + "
        f"{_written(f'datum[{axis}]', f'datum.{axis}low', f'datum.{axis}high')} : '')"
        for axis in "xy"
    )
    tip = f"datum.model + '\\n' + datum.about + {across} + (x === y ? '' : {up})"
    first = f"{CHOSEN} ? 1 : 0"  # of the names that look for room
    found = _data("models", *layers, X="datum[x]", Y="datum[y]", **ends, tip=tip, first=first)
    return found.transform_filter(SEEN)


def _scatter(beside: bool) -> list[alt.LayerChart]:
    """Return points, runs on the papers' questions among them, the other runs beside the axes."""
    number = {"scale": alt.Scale(zero=False), "axis": alt.Axis(tickCount=8)}
    point = alt.Chart().encode(x=alt.X("X:Q", **number), y=alt.Y("Y:Q", **number))
    outlined = f"datum.run || {CHOSEN}"
    models = point.mark_point(filled=True).encode(
        color=alt.Color("colour:N", scale=None),
        shape=alt.Shape("kind:N", scale=alt.Scale(**SHAPES), legend=None),
        size=alt.condition(CHOSEN, alt.value(190), alt.value(95)),
        stroke=alt.condition(outlined, alt.value(TEXT), alt.value(GROUND)),
        strokeWidth=alt.condition(outlined, alt.value(2), alt.value(0.7)),
        opacity=_unless_other(0.45),
        **TOLD,
    )
    spread = [
        point.transform_filter(f"isValid(datum.{axis}low)")
        .mark_rule(aria=False, **INK)
        .encode(**{axis: f"{axis}low:Q", f"{axis}2": f"{axis}high:Q"})
        for axis in "xy"
    ]
    runs = point.transform_filter("datum.run").mark_text(align="left", dx=9, dy=-10)
    layers = (*spread, models.properties(name="points"), runs.encode(text="model:N"))
    shown = _models_with(*layers)
    shown = shown.transform_filter("isValid(datum.X) && isValid(datum.Y)")
    place = {"x": {"y": alt.value(-12)}, "y": {"x": _expression("width + 12")}}
    apart = []
    for axis, other in place.items():
        cross = alt.Chart().transform_filter(f"datum.measure === {axis}").encode(**other)
        ends = {axis: "low:Q", f"{axis}2": "high:Q"}
        apart.append(cross.mark_rule(aria=False, **INK).encode(**ends))
        cross = cross.mark_point(shape=CROSS, size=70, filled=False, **INK)
        apart.append(cross.encode(**{axis: "value:Q"}, **TOLD).properties(name=f"apart_{axis}"))
    for sign, height in {"===": -22, "!==": -34}.items():  # contributed runs in a row of their own
        above = alt.Chart().transform_filter("datum.measure === x")
        above = above.transform_filter(f"datum.origin {sign} '{MINE}'").mark_text(dy=height)
        apart.append(above.encode(x="value:Q", y=alt.value(0), text="label:N"))
    figure = _written("datum.value", "datum.low", "datum.high")
    tip = f"datum.label + '\\n' + datum.about + '\\n' + names[datum.measure] + ': ' + {figure}"
    name = alt.Chart(alt.sequence(1)).mark_text(align="right", baseline="top", fontSize=12)
    name = name.encode(
        text=_expression("names[x]"), x=_expression("width"), y=_expression("height + 24")
    )
    # The heading keeps its place, whether names are above on this axis or not.
    ceiling = alt.Chart(alt.sequence(1)).mark_rule(opacity=0, aria=False).encode(y=alt.value(-40))
    return [shown, _data("apart", *apart, tip=tip), name, *([ceiling] if beside else [])]


def _named(**axis: object) -> alt.Axis:
    """Return an axis of models, the highlighted one in bold."""
    test = {"test": "datum.value === chosen", "value": "bold"}
    bold = {"condition": test, "value": "normal"}
    return alt.Axis(labelFontWeight=bold, grid=False, **axis)


def _ranking() -> list[alt.LayerChart]:
    """Return the models in order of the horizontal axis, the best on top."""
    order = alt.EncodingSortField("order", order="descending")
    row = alt.Chart().encode(y=alt.Y("model:N", sort=order, axis=_named(labelLimit=170)))
    bars = row.mark_bar(height=11, strokeWidth=2).encode(
        x=alt.X("X:Q", axis=None, stack=None),
        color=alt.Color("colour:N", scale=None),
        stroke=alt.condition(f"datum.run || {CHOSEN}", alt.value(TEXT), alt.value("transparent")),
        opacity=_unless_other(0.6),
        **TOLD,
    )
    words = row.mark_text(align="left", dx=4).encode(x="end:Q", text=alt.Text("X:Q", format=".3f"))
    rows = _models_with(bars.properties(name="bars"), words).transform_calculate(
        order="better[x] < 0 ? -datum.X : datum.X", end="max(datum.X, 0)"
    )
    return [rows.transform_filter("isValid(datum.X)")]


def _map(others: list[str]) -> list[alt.LayerChart]:
    """Return a cell for each model and relation, and the columns beside them."""
    x = alt.X("model:N", scale=alt.Scale(domain=alt.ExprRef("columns")))
    y = alt.Y("relation:N", scale=alt.Scale(domain=alt.ExprRef("rows")))
    cell = alt.Chart().encode(
        x=x.axis(_named(orient="top", labelAngle=-90, labelLimit=150)),
        y=y.axis(grid=False, labelLimit=150),
        stroke=alt.condition(CHOSEN, alt.value(TEXT), alt.value(GROUND)),
        **TOLD,
    )

    def cells(name: str, title: str, seen: str, reverse: bool = False) -> alt.LayerChart:
        shade = alt.Color("value:Q", scale=alt.Scale(scheme="viridis", reverse=reverse))
        layer = cell.mark_rect(strokeWidth=2).encode(color=shade.legend(title=title))
        tip = "datum.model + '\\n' + datum.relation + ': ' + format(datum.value, '.3f')"
        return _data(name, layer.properties(name=name), tip=tip).transform_filter(seen)

    beside = [cells("beside", ", ".join(others), "true")] if others else []
    both = alt.layer(cells("relations", "MONITOR ↓", SEEN, reverse=True), *beside)
    return [both.resolve_scale(color="independent")]


def _bars() -> list[alt.LayerChart]:
    """Return a bar for each model and benchmark, one benchmark beside the other."""
    start = "(benchmark === '' ? datum.place : 0)"
    share = "format(datum.high - datum.low, '.1%')"
    tip = f"datum.model + '\\n' + datum.benchmark + ': ' + datum.kind + ', ' + {share}"
    wanted = "benchmark === '' || datum.benchmark === benchmark"
    kinds = alt.Scale(domain=list(CHANGES), range=list(CHANGES.values()))
    bars = (
        alt.Chart()
        .mark_bar(height=13)
        .encode(
            x=alt.X("from:Q", axis=None, scale=alt.Scale(nice=False)),
            x2="to:Q",
            y=alt.Y("model:N", sort=None, axis=_named(labelLimit=170)),
            color=alt.Color("kind:N", scale=kinds).legend(None),
            opacity=_unless_other(0.5),
            **TOLD,
        )
        .properties(name="parts")
    )
    ends = {"from": f"{start} + datum.low", "to": f"{start} + datum.high"}
    heads = alt.Chart().mark_text(align="left")
    heads = heads.encode(x="at:Q", y=alt.value(-10), text="benchmark:N")
    return [
        _data("changes", bars, **ends, tip=tip).transform_filter(SEEN).transform_filter(wanted),
        _data("benchmarks", heads, at=start).transform_filter(wanted),
    ]


# The page


def _script(held: dict[str, Any]) -> str:
    """Return what the views are drawn from; no name in it can end the script."""
    text = json.dumps(held, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'


def _options(values: Iterable[tuple[object, str]], chosen: object = None) -> str:
    return "".join(
        f'<option value="{escape(str(value))}"{" selected" if value == chosen else ""}>'
        f"{escape(text)}</option>"
        for value, text in values
    )


def _select(name: str, label: str, options: str) -> str:
    return f'<label>{label} <select name="{name}">{options}</select></label>'


def _groups(rows: Iterable[tuple[str, object, str]], chosen: object = None) -> str:
    """Return options below headings, from rows of heading, value and text."""
    grouped: dict[str, list[tuple[object, str]]] = {}
    for heading, value, text in rows:
        grouped.setdefault(heading, []).append((value, text))
    return "".join(
        f'<optgroup label="{escape(heading)}">{_options(inside, chosen)}</optgroup>'
        for heading, inside in grouped.items()
    )


def _controls(rows: list[dict[str, Any]], measures: pd.DataFrame, state: dict[str, Any]) -> str:
    """Return the controls and the two sentences that follow them."""
    axes = [(paper, *both) for paper, both in zip(measures["paper"], state["names"].items())]
    models = _groups((row["family"], place, row["model"]) for place, row in enumerate(rows))
    sizes = sorted({row["billion"] for row in rows if row.get("billion") is not None})
    sizes = [(size, f"{size:g} billion") for size in sizes]
    families = Counter(row["family"] for row in rows if not row.get("run"))
    chips = "".join(
        f'<label style="--family: {family_colour(name)}"><input type="checkbox" name="family" '
        f'value="{escape(name)}" checked><span>{escape(name)} ({count})</span></label>'
        for name, count in families.items()
    )
    most = sizes[-1][0] if sizes else None
    return (
        '<form class="explorer-controls">'
        + _select("x", "Horizontal axis", _groups(axes, state["x"]))
        + _select("y", "Vertical axis", _groups(axes, state["y"]))
        + _select("model", "Highlight", f'<option value="">no model</option>{models}')
        + _select(
            "kind", "Kind", _options([("", "base and tuned"), ("base", "base"), ("tuned", "tuned")])
        )
        + _select("least", "Size from", _options(sizes))
        + _select("most", "to", _options(sizes, most))
        + f"<fieldset><legend>Families</legend>{chips}"
        + '<button type="button" name="none">clear</button>'
        + '<button type="button" name="all">all families</button></fieldset></form>'
        + '<p class="explorer-count" role="status"></p>'
        + '<p class="explorer-chosen" aria-live="polite"></p>'
    )


def _sign(sign: str, colour: str = "inherit") -> str:
    return f'<span class="explorer-sign" style="color: {colour}">{sign}</span>'


def _place(name: str, data: dict[str, Any]) -> str:
    """Return the place of a view with its caption, and of the sentence that may replace it."""
    signs = {
        "scatter": f"{_sign('●')} base {_sign('▲')} tuned",
        "ranking": "The ranking by the horizontal axis, the best on top.",
        "relations": "MONITOR by relation, the hardest on top: bright is better.",
        "changes": "What other prompts change, as shares of the questions.",
    }
    words = signs[name]
    if name == "scatter" and (data["apart"] or any(row.get("run") for row in data["models"])):
        words += f" {_sign('○')} a run of yours or a contributed one, the paper's questions "
        words += f"{_sign('×')} the same on other questions, beside the axes: not comparable"
    if name == "changes":
        words += "".join(f" {_sign('■', colour)} {kind}" for kind, colour in CHANGES.items())
        benchmarks = [(head["benchmark"], head["benchmark"]) for head in data["benchmarks"]]
        words += _select("benchmark", " Benchmark", _options([("", "all"), *benchmarks]))
    return (
        f'<figure class="explorer-view" data-view="{name}"><figcaption>{words}</figcaption>'
        '<p class="explorer-none" hidden></p><div class="explorer-drawing"></div></figure>'
    )


def _still(table: pd.DataFrame, x: str, y: str) -> str:
    """Return the figure of the first two measures, for where no script runs."""
    pairs = table[[x, y]].astype(float).dropna()
    figure = family_scatter(table, x, y).figure
    image = io.BytesIO()
    figure.savefig(image, format="png")
    plt.close(figure)
    text = base64.b64encode(image.getvalue()).decode()
    words = escape(f"Scatter of the {len(pairs)} models that have both: {y} against {x}.")
    return f'<img alt="{words}" src="data:image/png;base64,{text}">'


def _listing(table: pd.DataFrame, measures: pd.DataFrame, first: list[str]) -> str:
    """Return the folded table, one measure per paper and those of the axes, and all as CSV."""
    one = measures.groupby("paper", sort=False).head(1).index
    shown = [name for name in measures.index if name in {*one, *first}]
    part = table[["family", "billion", "kind", "released", *shown]].rename_axis("model")
    part["billion"] = part["billion"].map("{:g}".format, na_action="ignore")
    words = f"{len(part)} models, {len(shown)} of {len(measures)} measures; – is not printed."
    html = tables.styled(part, NAME, words, sortable=True).to_html()
    address = f"data:text/csv;charset=utf-8,{quote(table.rename_axis('model').to_csv())}"
    return (
        f"<details><summary>The {len(part)} models as a table</summary>{html}</details>"
        f'<p><a class="explorer-csv" download="{NAME}.csv" href="{address}">'
        f"Download all {len(measures)} measures as CSV</a></p>"
    )
