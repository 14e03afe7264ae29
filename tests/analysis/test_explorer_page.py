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

from helpers.published import joined
from notebooks.analysis import explorer
from tests import hostile

RUN = {"measure": "IC-LKE: accuracy", "value": 0.5, "low": 0.4, "high": 0.6, "n": 100}
ACROSS = {**RUN, "measure": "knowledge bases: NCCR, zero-shot", "value": 0.1}
COLUMNS = [*RUN, "label", "same_questions", "dataset"]


def runs(*rows: dict) -> pd.DataFrame:
    """Return runs as those beside the papers are given."""
    common = {"label": "mine", "same_questions": True, "dataset": "trex_mc"}
    return pd.DataFrame([{**common, **row} for row in rows], columns=COLUMNS)


def page(**settings) -> str:
    """Return the explorer of the published models as HTML."""
    return explorer.show(joined.joined(), joined.measures(), **settings).data


def held(html: str) -> dict:
    """Return what the views are drawn from."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


@pytest.fixture(scope="module")
def html():
    return page(relations=joined.relations())


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
    said, table = held(html), joined.joined()
    keys = {name.removesuffix(" ↓"): key for key, name in said["state"]["names"].items()}
    assert list(keys) == list(joined.measures().index)
    assert [row["model"] for row in said["data"]["models"]] == list(table.index)
    for row in said["data"]["models"]:
        printed = table.loc[row["model"], list(keys)].dropna()
        assert {name: row[keys[name]] for name in printed.index} == pytest.approx(dict(printed))
        assert sum(key in row for key in keys.values()) == len(printed)


def test_lower_is_better_where_the_measure_says_so(html):
    state = held(html)["state"]
    lower = {name for key, name in state["names"].items() if state["better"][key] < 0}
    assert lower == {name for name in state["names"].values() if name.endswith(" ↓")}
    assert {"MONITOR: score ↓", "multiplicity: FEVER ambiguity ↓"} <= lower


def test_relations_are_of_models_or_beside_them(html):
    data = held(html)["data"]
    assert len(data["relations"]) == 20 * 12
    assert len(data["beside"]) == 7
    assert {row["model"] for row in data["beside"]} == {"IC-LKE accuracy"}
    cell = {"relation": "country", "model": "BLOOMZ 560M", "value": 0.782}
    assert cell in data["relations"]  # Wang et al. 2024, Table 10


def test_kinds_of_change_add_up_to_all_questions(html):
    parts = pd.DataFrame(held(html)["data"]["changes"])
    assert parts.groupby(["model", "benchmark"])[["low", "high"]].sum().diff(axis=1)[
        "high"
    ].to_numpy() == pytest.approx(1)
    one = parts[(parts["model"] == "Llama 2 7B") & (parts["benchmark"] == "TruthfulQA")]
    row = joined.joined().loc["Llama 2 7B"]
    any_change, mark = (
        row[f"multiplicity: TruthfulQA {name}"] for name in ("ambiguity", "binary ambiguity")
    )
    shares = (one["high"] - one["low"]).tolist()
    assert shares == pytest.approx([1 - any_change, any_change - mark, mark], abs=1e-5)


def test_without_scripts_there_are_figure_table_and_link(html):
    body = re.sub(r"<template>.*?</template>", "", html, flags=re.DOTALL)
    read = Reader(body)
    (image,) = read.named("img")
    assert image["alt"].startswith("Scatter of the 15 models that have both")
    assert image["src"].startswith("data:image/png;base64,")
    (table,) = read.named("table")
    assert "sortable" in table["class"]
    assert len(read.named("tr")) == 1 + 69
    (link,) = read.named("a")
    text = unquote(link["href"].partition(",")[2])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 69
    assert float(rows[10]["IC-LKE: accuracy"]) == joined.joined()["IC-LKE: accuracy"].iloc[10]


def test_no_heading_is_added(html):
    assert not [tag for tag, _ in Reader(html).tags if re.fullmatch(r"h\d", tag)]


def test_every_control_has_a_label(html):
    (template,) = re.findall(r"<template>(.*?)</template>", html, re.DOTALL)
    for control in re.finditer(r"<(select|input)\b", template):
        before = template[: control.start()]
        assert before.rfind("<label") > before.rfind("</label>")


@pytest.mark.parametrize("given", [None, runs()], ids=["none", "empty"])
def test_no_runs_leave_nothing_of_them(given):
    html = page(runs=given)
    assert held(html)["data"]["apart"] == []
    assert explorer.YOURS not in html.partition("<template>")[2]
    assert "your run" not in html.partition("<template>")[2]


def test_a_run_on_the_papers_questions_is_a_row_and_one_on_others_is_apart():
    other = {**RUN, "label": "other", "same_questions": False, "dataset": "atlas"}
    data = held(page(runs=runs(RUN, ACROSS, other)))["data"]
    (mine,) = [row for row in data["models"] if row.get("run")]
    values = {value for key, value in mine.items() if re.fullmatch(r"m\d+", key)}
    assert (mine["model"], values) == ("mine", {0.5, 0.1})
    (apart,) = data["apart"]
    assert (apart["label"], apart["value"], apart["low"]) == ("other", 0.5, 0.4)
    assert "atlas; other questions" in apart["about"]


def test_of_two_runs_the_one_with_more_facts_counts():
    data = held(page(runs=runs({**RUN, "n": 900, "value": 0.7}, RUN)))["data"]
    (mine,) = [row for row in data["models"] if row.get("run")]
    assert 0.7 in mine.values()
    assert 0.5 not in mine.values()


def test_a_run_named_like_a_model_is_not_that_model():
    data = held(page(runs=runs({**RUN, "label": "Llama 2 7B"})))["data"]
    names = [row["model"] for row in data["models"]]
    assert len(set(names)) == len(names)
    assert "Llama 2 7B (your run)" in names


def test_a_contributed_run_is_labelled_so():
    given = {**RUN, "label": "Llama 2 7B", "origin": "contributed run"}
    mine = {**RUN, "origin": float("nan")}  # where runs of both kinds are put together
    rows = pd.DataFrame([{**given, "same_questions": same} for same in (True, False)] + [mine])
    rows = rows.assign(dataset="trex_mc").fillna({"label": "mine", "same_questions": True})
    data = held(page(runs=rows))["data"]
    own = {row["model"]: row for row in data["models"] if row.get("run")}
    assert set(own) == {"Llama 2 7B (contributed run)", "mine"}
    assert own["Llama 2 7B (contributed run)"]["family"] == "contributed runs"
    assert own["mine"]["family"] == explorer.YOURS
    (apart,) = data["apart"]
    assert apart["about"].startswith("contributed run, n = 100")


def test_no_name_is_taken_for_markup():
    rows = [{**RUN, "label": text, "dataset": text} for text in hostile.STRINGS]
    rows += [{**row, "same_questions": False} for row in rows]
    table = joined.joined()
    table = table.rename(
        index=dict(zip(table.index, ["</script>", "</template>", *hostile.STRINGS]))
    )
    html = explorer.show(table, joined.measures(), joined.relations(), runs=runs(*rows)).data
    plain = Reader(
        page(relations=joined.relations(), runs=runs(RUN, {**RUN, "same_questions": False}))
    )
    said = Reader(html)
    for tag in ("script", "img", "svg", "template", "a", "select", "input"):
        assert len(said.named(tag)) == len(plain.named(tag)), tag
    assert not [a for _, a in said.tags if any(name.startswith("on") for name in a)]
    assert {row["model"] for row in held(html)["data"]["models"]} >= {
        "</script>",
        hostile.STRINGS[0],
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
    table = pd.DataFrame({**about, "a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["one", "two"])
    measures = pd.DataFrame({"paper": ["A", "B"], "better": [1, -1]}, index=["a", "b"])
    said = held(explorer.show(table, measures).data)
    assert list(said["views"]) == ["scatter", "ranking"]
    assert said["state"]["names"] == {"m0": "a", "m1": "b ↓"}
    assert said["data"]["models"][1]["billion"] is None
