"""The explorer's page: whole in Vega-Lite, nothing said twice, no name taken for markup."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import altair as alt
import pandas as pd
import pytest

from notebooks.analysis import model_explorer
from notebooks.kit.published import paper_models
from tests import hostile_inputs

RUN = {"measure": "IC-LKE: accuracy", "value": 0.5, "low": 0.4, "high": 0.6, "n": 100}
ACROSS = {**RUN, "measure": "knowledge bases: NCCR, zero-shot", "value": 0.1}
COLUMNS = [*RUN, "label", "same_questions", "dataset"]


def runs(*rows: dict) -> pd.DataFrame:
    """Return runs as those beside the papers are given."""
    common = {"label": "mine", "same_questions": True, "dataset": "trex_mc"}
    return pd.DataFrame([{**common, **row} for row in rows], columns=COLUMNS)


def page(**settings) -> str:
    return model_explorer.render_explorer(
        paper_models.measures_of_all_papers(),
        paper_models.published_measures(),
        **settings,
    ).data


def held(html: str) -> dict:
    """Return what the views are drawn from."""
    (text,) = re.findall(
        r'<script type="application/json">(.*?)</script>', html, re.DOTALL
    )
    return json.loads(text)


@pytest.fixture(scope="module")
def html():
    return page(relations=paper_models.monitor_and_ic_lke_by_relation())


class Reader(HTMLParser):
    """Collects the tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_every_view_is_valid_vega_lite(html):
    views = held(html)["views"]
    assert list(views) == ["scatter", "ranking", "relations", "changes"]
    for view in views.values():
        alt.Chart.from_dict(view, validate=True)
        assert "datasets" not in view  # data are held once, beside the views
        assert view["$schema"].rpartition("/")[2].startswith(alt.SCHEMA_VERSION)


def test_the_libraries_are_those_that_altair_writes_for(root):
    notes = (root / "book" / "_extra" / "vega" / "LICENSE.txt").read_text()
    assert f"vega-lite {alt.SCHEMA_VERSION.removeprefix('v')}, build/" in notes
    assert f"vega {alt.VEGA_VERSION}." in notes


def test_a_row_holds_the_figures_of_its_model(html):
    said, table, measures = (
        held(html),
        paper_models.measures_of_all_papers(),
        paper_models.published_measures(),
    )
    names = [
        f"{name} ↓" if low else name for name, low in (measures["better"] < 0).items()
    ]
    assert [*said["state"]["names"].values()] == names
    assert [row["model"] for row in said["data"]["models"]] == list(table.index)
    keys = dict(zip(measures.index, said["state"]["names"]))
    for row in said["data"]["models"]:
        printed = table.loc[row["model"], list(keys)].dropna()
        assert {name: row[keys[name]] for name in printed.index} == pytest.approx(
            dict(printed)
        )
        assert sum(key in row for key in keys.values()) == len(printed)


def test_relations_are_of_models_or_beside_them(html):
    data = held(html)["data"]
    assert len(data["relations"]) == 20 * 12
    assert len(data["beside"]) == 7
    assert {row["model"] for row in data["beside"]} == {"IC-LKE accuracy"}
    cell = {"relation": "country", "model": "BLOOMZ 560M", "value": 0.782}
    assert cell in data["relations"]  # Wang et al. 2024, Table 10


def test_kinds_of_change_add_up_to_all_questions(html):
    parts = pd.DataFrame(held(html)["data"]["changes"])
    parts["share"] = parts["high"] - parts["low"]
    assert parts.groupby(["model", "benchmark"])[
        "share"
    ].sum().to_numpy() == pytest.approx(1)
    one = parts.query("model == 'Llama 2 7B' and benchmark == 'TruthfulQA'")[
        "share"
    ].tolist()
    row = paper_models.measures_of_all_papers().loc["Llama 2 7B"]
    change, mark = (
        row[f"multiplicity: TruthfulQA {n}"] for n in ("ambiguity", "binary ambiguity")
    )
    assert one == pytest.approx([1 - change, change - mark, mark], abs=1e-5)


def test_without_scripts_there_are_figure_table_and_link(html):
    read = Reader(re.sub(r"<template>.*?</template>", "", html, flags=re.DOTALL))
    assert not [
        tag for tag, _ in read.tags if re.fullmatch(r"h\d", tag)
    ]  # the page has its own
    (image,), (table,), (link,) = map(read.named, ("img", "table", "a"))
    assert image["alt"].endswith("15 models that have both: rank correlation 0.96.")
    assert image["src"].startswith("data:image/png;base64,")
    assert "sortable" in table["class"]
    assert len(read.named("tr")) == 1 + 69
    rows = list(csv.DictReader(io.StringIO(unquote(link["href"].partition(",")[2]))))
    assert len(rows) == 69
    assert (
        float(rows[10]["IC-LKE: accuracy"])
        == paper_models.measures_of_all_papers()["IC-LKE: accuracy"].iloc[10]
    )


@pytest.mark.parametrize("given", [None, runs()], ids=["none", "empty"])
def test_no_runs_leave_nothing_of_them(given):
    html = page(runs=given)
    assert held(html)["data"]["apart"] == []
    assert model_explorer.YOUR_RUNS_LABEL not in html.partition("<template>")[2]
    assert "your run" not in html.partition("<template>")[2]


def test_a_run_on_the_papers_questions_is_a_row_and_one_on_others_is_apart():
    """Of two runs the one with more facts counts; none is taken for the model of its name."""
    other = {**RUN, "label": "other", "same_questions": False, "dataset": "atlas"}
    more, like = {**RUN, "n": 900, "value": 0.7}, {**RUN, "label": "Llama 2 7B"}
    data = held(page(runs=runs(more, RUN, ACROSS, like, other)))["data"]
    names = [row["model"] for row in data["models"]]
    assert len(set(names)) == len(names)
    mine, like = (row for row in data["models"] if row.get("run"))
    assert (mine["model"], like["model"]) == ("mine", "Llama 2 7B (your run)")
    assert {value for key, value in mine.items() if re.fullmatch(r"m\d+", key)} == {
        0.7,
        0.1,
    }
    (apart,) = data["apart"]
    assert (apart["label"], apart["value"], apart["low"]) == ("other", 0.5, 0.4)
    assert "atlas; other questions" in apart["about"]


def test_a_contributed_run_is_labelled_so():
    given = {**RUN, "label": "Llama 2 7B", "origin": "contributed run"}
    mine = {**RUN, "origin": float("nan")}  # where runs of both kinds are put together
    rows = pd.DataFrame(
        [{**given, "same_questions": same} for same in (True, False)] + [mine]
    )
    rows = rows.assign(dataset="trex_mc").fillna(
        {"label": "mine", "same_questions": True}
    )
    data = held(page(runs=rows))["data"]
    own = {row["model"]: row for row in data["models"] if row.get("run")}
    assert set(own) == {"Llama 2 7B (contributed run)", "mine"}
    assert own["Llama 2 7B (contributed run)"]["family"] == "contributed runs"
    assert own["mine"]["family"] == model_explorer.YOUR_RUNS_LABEL
    (apart,) = data["apart"]
    assert apart["about"].startswith("contributed run, n = 100")


def test_no_name_is_taken_for_markup():
    rows = [
        {**RUN, "label": text, "dataset": text}
        for text in hostile_inputs.HOSTILE_STRINGS
    ]
    rows += [{**row, "same_questions": False} for row in rows]
    table, names = (
        paper_models.measures_of_all_papers(),
        ["</script>", "</template>", *hostile_inputs.HOSTILE_STRINGS],
    )
    table = table.rename(index=dict(zip(table.index, names)))
    html = model_explorer.render_explorer(
        table,
        paper_models.published_measures(),
        paper_models.monitor_and_ic_lke_by_relation(),
        runs=runs(*rows),
    ).data
    usual = runs(RUN, {**RUN, "same_questions": False})
    said, plain = (
        Reader(html),
        Reader(
            page(relations=paper_models.monitor_and_ic_lke_by_relation(), runs=usual)
        ),
    )
    for tag in ("script", "img", "svg", "template", "a", "select", "input"):
        assert len(said.named(tag)) == len(plain.named(tag)), tag
    assert not [a for _, a in said.tags if any(name.startswith("on") for name in a)]
    assert {row["model"] for row in held(html)["data"]["models"]} >= {
        names[0],
        names[2],
    }


def test_the_table_is_exported(tmp_path):
    page(folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "real_models.csv",
        "real_models.md",
        "real_models.tex",
    ]


def test_two_measures_alone_are_enough():
    about = {"family": "OPT", "billion": [1.3, None], "kind": "base", "released": 2022}
    table = pd.DataFrame(
        {**about, "a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["one", "two"]
    )
    measures = pd.DataFrame({"paper": ["A", "B"], "better": [1, -1]}, index=["a", "b"])
    said = held(model_explorer.render_explorer(table, measures).data)
    assert list(said["views"]) == ["scatter", "ranking"]
    assert said["state"]["names"] == {"m0": "a", "m1": "b ↓"}
    assert said["data"]["models"][1]["billion"] is None
