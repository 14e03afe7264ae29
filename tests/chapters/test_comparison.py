"""The chapter that sets models beside each other, on small saved runs: one, and many."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from book.tools import chapters
from helpers import findings, runs
from tests import saved_runs
from tests.chapters import cells, notebooks

FAST = ["n_bootstrap=30"]
MANY = [*FAST, "reference=atlas-s"]
ABILITIES = {"atlas-xs": 0.3, "atlas-s": 0.5, "atlas-s-chat": 0.45, "org/large": 0.8}
SIZES = {"atlas-xs": 600_000, "atlas-s": 2_500_000, "atlas-s-chat": 2_500_000, "org/large": 10**9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the chapter's folder over four models, and one more of another seed."""
    top = tmp_path_factory.mktemp("runs")
    for name, ability in ABILITIES.items():
        saved_runs.write(top, name, ability, size=SIZES[name])
    saved_runs.write(top, "stranger", 0.9, seed=5)
    return chapters.run("comparison", "", MANY, top)


def test_the_run_is_whole(folder):
    boards = {f"board_{name}" for name in ("monitor", "knowledge_base", "multiplicity")}
    tables = {"differences", "pairs", "pairs_paper", "runs", "overlap", "compared", *boards}
    notebooks.check(folder, MANY, n_figures=3, tables=tables)
    places = pd.read_csv(folder / "tables" / "places.csv").set_index(["recipe", "run"])
    assert (places.loc[("atlas-s", "run 1")] == 1).all()  # as the model card says


def test_the_board_in_view_has_one_measure_of_each_chapter(folder):
    shown = pd.read_csv(folder / "tables" / "board.csv").set_index("model")
    assert [name.split()[0] for name in shown] == ["MONITOR", "NCR", "list", "choice"]
    right = (saved_runs.facts()["hard"] < ABILITIES["atlas-s"]).mean()
    written = shown.loc["atlas-s", "list accuracy ↑, %"].split()[0]
    assert float(written) == pytest.approx(100 * right, abs=0.05)


def test_its_three_facts_are_named_by_what_was_asked(folder):
    three = pd.read_csv(folder / "tables" / "three_facts.csv")
    assert list(three) == ["prompt", "large", "atlas-xs", "difference"]
    assert three["difference"].iloc[-1] == three["difference"].max()


def test_many_runs_are_compared_and_the_stranger_is_named(folder, metrics):
    text = notebooks.printed(folder)
    assert "20 runs of 4 models" in text
    assert "4 of 20 runs not mixed with the others:" in text
    assert "- stranger, monitor: seed 5, not 0" in text
    standing = metrics[metrics["level"] == "run"]
    assert set(standing["model"]) == {"atlas-xs", "atlas-s", "atlas-s-chat", "large"}
    right = standing[standing["measure"] == "right"].set_index("model")["estimate"]
    table = saved_runs.facts()
    expected = {name.split("/")[-1]: (table["hard"] < a).mean() for name, a in ABILITIES.items()}
    assert right.to_dict() == pytest.approx(expected)
    assert {"seeds-figure", "leaders-figure", "shares-figure"} <= notebooks.drawn(folder)


def test_it_finds_who_leads_and_that_the_largest_is_better(folder):
    found = {finding.claim: finding for finding in findings.load(folder)}
    assert found["leaders_are_decided"].n == 4
    assert found["larger_models_do_better"].decision == "holds"
    rows = pd.read_csv(folder / "tables" / "compared.csv").set_index("what")
    assert rows.loc["right: large minus atlas-xs", "low"] > 0


@pytest.mark.slow
def test_the_panel_decides_where_all_were_asked_it(tmp_path):
    for name in ("atlas-xs", "atlas-s"):
        saved_runs.write(tmp_path, name, ABILITIES[name], size=SIZES[name], panel=16)
    folder = chapters.run("comparison", "", FAST, tmp_path)
    found = {finding.claim: finding for finding in findings.load(folder)}
    rows = pd.read_csv(folder / "tables" / "compared.csv").set_index("what")["n"]
    assert rows["right: atlas-s minus atlas-xs"] == 48
    assert rows["NCR: atlas-s minus atlas-xs"] == 24  # half are seen
    assert found["models_differ_beyond_training_runs"].decision == "undefined"  # other facts
    table = runs.metrics(folder)
    right = table[table["measure"] == "right"].groupby("level")["n"].unique().map(list)
    assert right.to_dict() == {"run": [24], "difference": [24],
                               "panel": [48], "panel difference": [48]}  # fmt: skip


def test_differences_are_paired_and_counted(metrics):
    gaps = metrics[(metrics["level"] == "difference") & (metrics["measure"] == "right")]
    assert len(gaps) == 6
    assert (gaps["n"] == 24).all()
    one = gaps.set_index(["first", "second"]).loc[("large", "atlas-xs")]
    assert one["estimate"] == pytest.approx(0.5, abs=1 / 24)
    assert one["low"] > 0
    assert one["better"] == "large"


def test_the_manifest_names_the_runs_that_were_read(folder):
    read = pd.DataFrame(runs.manifest(folder)["read"])
    assert len(read) == 20
    assert read["sha256"].str.fullmatch("[0-9a-f]{64}").all()
    assert set(read["model"]) == {*ABILITIES, "stranger"}


@pytest.mark.slow
def test_one_run_says_what_a_second_would_add(tmp_path):
    saved_runs.write(tmp_path, "alone", 0.5, ("latent_knowledge",))
    folder = chapters.run("comparison", "", FAST, tmp_path)
    text = notebooks.printed(folder)
    assert "Only alone has finished runs here." in text
    assert "make book MODELS=" in text
    assert "make noise MODEL=" in text
    assert "seeds-figure" in notebooks.drawn(folder)
    metrics = runs.metrics(folder)
    assert set(metrics["level"]) == {"run"}
    assert np.isclose(metrics.set_index("measure").loc["right", "estimate"], 0.5)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["models=nobody"], "No run is of nobody: there are alone"),
        (["reference=nobody"], "The reference nobody is not compared here: name one of alone"),
    ],
)
def test_mistakes_end_in_a_sentence(tmp_path, words, sentence):
    saved_runs.write(tmp_path, "alone", 0.5, ("latent_knowledge",))
    assert sentence in notebooks.refused("comparison", "", words, tmp_path)


FOUR = ("monitor", "knowledge_base", "latent_knowledge", "multiplicity")


def _nothing(folder):
    """Write no run at all."""


def _last_lacks_the_first(folder):
    saved_runs.write(folder, "small", 0.3)
    saved_runs.write(folder, "large", 0.6, ("multiplicity",), size=4_000_000)


def _a_chapter_each(folder):
    for name, chapter in zip("abcd", FOUR):
        saved_runs.write(folder, name, 0.5, (chapter,))


def _other_facts(folder):
    saved_runs.write(folder, "a", 0.3)
    saved_runs.write(folder, "b", 0.6, first=100)


def _other_data(folder):
    for name, data in (("a", "own"), ("b", "fktc"), ("c", "atlas")):
        saved_runs.write(folder, name, 0.5, dataset=data)


def _alike(folder):
    for name in "abc":
        saved_runs.write(folder, name, 0.5)


def _one_fact_a_relation(folder):
    for name, ability in zip("abc", (0.1, 0.5, 0.9)):
        saved_runs.write(folder, name, ability, n=1)


def _undefined(folder):
    for name in "abc":
        saved_runs.write(folder, name, 0.0, heeds=False)


def _formats(folder):
    saved_runs.write(folder, "a", 0.3)
    saved_runs.write(folder, "b", 0.7, prompt_format="qa")


COLLECTIONS = [  # what was run; models of a chapter, differences, and what is said of it
    (_nothing, 0, 0, "There are no finished runs of the four chapters here yet."),
    (_last_lacks_the_first, 2, 5, "5 runs of 2 models."),
    (_a_chapter_each, 1, 0, "No two models here have finished the same chapter"),
    (_other_facts, 2, 0, "All 8 runs were made alike"),
    (_other_data, 1, 0, "8 of 12 runs not mixed with the others:"),
    (_alike, 3, 51, "12 runs of 3 models."),
    (_one_fact_a_relation, 3, 51, "12 runs of 3 models."),
    (_undefined, 3, 48, "12 runs of 3 models."),
    (_formats, 2, 17, "Formats of prompts side by side: bare (a); qa (b (qa))."),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning", "error::UserWarning", "error::FutureWarning")
@pytest.mark.parametrize(("make", "n_models", "n_gaps", "sentence"), COLLECTIONS)
def test_the_chapter_runs_to_its_end_whatever_was_run(make, n_models, n_gaps, sentence, tmp_path):
    make(tmp_path)
    where = {"runs_dir": str(tmp_path), "run_dir": str(tmp_path / "synthesis" / "comparison")}
    done = cells.execute("comparison", FAST, **where)
    assert sentence in "".join(done.printed.values())
    assert all(done.drawn[name] for name in notebooks.figures(notebooks.template("comparison")))
    metrics = runs.metrics(where["run_dir"])
    gaps = metrics[(metrics["level"] == "difference") & (metrics["n"] > 0)]
    standing = metrics[metrics["level"] == "run"]
    together = standing.groupby("chapter")["model"].nunique()
    assert together.max() == n_models if n_models else together.empty
    assert len(gaps) == n_gaps
    exported = {path.stem for path in Path(where["run_dir"], "tables").iterdir()}
    boards = {f"board_{chapter}" for chapter in standing["chapter"]}
    assert {"three_facts", "runs", "overlap", *boards} <= exported
    told = findings.load(where["run_dir"])
    assert len(told) == 6
    assert all(finding.sentence.endswith(".") for finding in told)
    decided = {finding.claim for finding in told if finding.decision in ("holds", "opposite")}
    decided -= {"training_runs_differ_right", "verdicts_follow_the_fact"}  # of bundled answers
    assert not decided or make not in (_alike, _nothing, _a_chapter_each)
