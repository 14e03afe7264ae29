"""The chapter on latent knowledge, run on the bundled model as a reader would run it."""

import numpy as np
import pandas as pd
import pytest

from book.tools import chapters
from helpers import findings, models, runs
from helpers.metrics import latent_knowledge as lke
from helpers.prompts import lists
from tests import outcomes, tiny
from tests.chapters import forward, notebooks

CLOSE = [
    "n_close=3",
    "n_close_choices=10",
    "n_seeds=2",
    "n_bootstrap=20",
    "siblings=no",
]
CLOSE += ["n_panel=0"]
SMALL = ["relations=P17,P36,P575", "n_facts=4", "n_examples=12", *CLOSE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a small run on the atlas."""
    return chapters.run("latent_knowledge", "atlas-s", SMALL, tmp_path_factory.mktemp("runs"))


def test_the_run_is_whole(folder):
    tables = {"by_hand", "by_relation", "separators", "separators_tried", "generation", "truth"}
    tables |= {"subsumption", "leader_board", "paper_table1", "paper_table10", "compared"}
    notebooks.check(folder, SMALL, n_figures=5, tables=tables)
    said = {finding.claim: finding for finding in findings.load(folder)}
    assert len(said) == 8
    assert said["above_commonest"].n == 12
    assert said["one_is_enough"].n == 9  # three of each relation
    assert not [one for one in said.values() if "nan" in one.sentence]


def test_findings_say_what_the_answers_hold(folder, answers):
    told = {finding.claim: finding.estimate for finding in findings.load(folder)}
    curve = lke.fact_scores(answers[answers["part"] == "examples"])
    means = curve.groupby(curve["variant"].str.split().str[0])["right"].mean()
    assert told["one_is_enough"] == pytest.approx(means["1"] - means["0"])
    apart = lke.fact_scores(answers[answers["part"] == "separators"])
    rates = apart.groupby("variant")["right"].mean()
    chosen = runs.manifest(folder)["separator"]
    expected = rates[chosen] - rates["space"] if chosen != "space" else np.nan
    assert told["chosen_separator_finds_more"] == pytest.approx(expected, nan_ok=True)


def test_everything_compared_is_listed(folder):
    told = pd.read_csv(folder / "tables" / "compared.csv").set_index("what")
    claims = {finding.claim.replace("_", " ") for finding in findings.load(folder)}
    further = {"accuracy: list, less MMP", "accuracy: no example, less 12 with space"}
    assert claims | further <= set(told.index)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["endless", "sequence_to_sequence"])
def test_a_model_that_knows_nothing_gets_its_chapter(name, tmp_path):
    model = outcomes.MAKERS[name](tmp_path / name)
    words = ["relations=P36", "n_facts=1", "n_examples=3", "n_choices=5", *CLOSE]
    words += ["n_seeds=1"]
    folder = chapters.run("latent_knowledge", str(model), words, tmp_path)
    notebooks.check(folder, words, n_figures=5, tables={"by_relation", "compared"})
    assert len(runs.answers(folder).query("part == 'lists'")) == 5


def test_metrics_can_be_computed_again_from_the_saved_answers(answers, metrics):
    listed = answers[answers["part"] == "lists"]
    sizes = listed.groupby(["relation", "item"]).size().groupby("relation").unique()
    assert {relation: found.tolist() for relation, found in sizes.items()} == {
        "P17": [100],
        "P36": [100],
        "P575": [47],
    }
    matrix = np.exp(lke.choice_matrix(listed).to_numpy())
    saved = metrics.query("level == 'run'").set_index("measure")["estimate"]
    assert saved["right"] == (matrix[:, -1] > np.nanmax(matrix[:, :-1], axis=1)).mean()
    mass = matrix[:, -1] / np.nansum(matrix, axis=1)
    assert saved["mass"] == pytest.approx(mass.mean(), abs=1e-9)
    facts = metrics.query("level == 'fact' and measure == 'mass'").set_index("item")["estimate"]
    again = lke.fact_scores(listed).set_index("item")["mass"]
    pd.testing.assert_series_equal(facts, again, check_names=False)


def test_probabilities_are_those_of_one_forward_pass_a_choice(answers):
    lm = models.load("atlas-s")
    parts = ["lists", "examples", "prompts", "separators"]
    for row in answers[answers["part"].isin(parts)].groupby("part").tail(2).itertuples():
        forward.check(lm, row)
        assert "".join(row.tokens).replace("Ġ", " ") == row.continuation


def test_no_example_tells_of_a_tested_subject(answers, folder):
    separator = runs.manifest(folder)["separator"]
    between = lists.style(separator)[1]
    for row in answers[answers["part"] == "lists"].drop_duplicates("item").itertuples():
        open_pair = f"{between}{lists.opened(row.subject, separator)[0]}"
        assert f"{between}{row.prompt}".count(open_pair) == 1


def test_the_separator_is_chosen_on_facts_that_are_not_tested(folder, answers):
    told = runs.manifest(folder)
    assert told["parameters"]["separator"] == ""
    table = pd.read_csv(folder / "tables" / "separators_tried.csv", index_col=0)
    assert table.index[0] == told["separator"]
    assert table["accuracy, %"].is_monotonic_decreasing
    assert set(answers.query("part == 'separators'")["variant"]) >= {told["separator"], "space"}


def test_nobel_laureates_run_through(shared, tmp_path):
    data = shared / "data" / "nobel" / "nobel.csv"
    words = [f"dataset={data}", "n_facts=3", "n_examples=8", *CLOSE]
    done = chapters.run("latent_knowledge", "atlas-s", words, tmp_path)
    found = runs.answers(done)
    assert set(found["part"]) >= {"lists", "examples", "separators"}
    assert found.query("part == 'lists'")["choice"].str.fullmatch(r"\d{4}").all()
    assert runs.manifest(done)["dataset"]["name"] == "nobel"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["separator=tab"], "no separator"),
        (["compared=P36", "relations=P17"], "no test of P36 to compare: choose from P17"),
    ],
)
def test_bad_values_end_in_a_sentence_that_names_them(words, sentence, tmp_path):
    assert sentence in notebooks.refused("latent_knowledge", "atlas-s", words, tmp_path)


def test_a_list_too_long_for_the_model_offers_the_number_that_fits(tmp_path):
    lm = tiny.language_model("llama")  # reads 128 tokens
    place = tmp_path / "short"
    lm.model.save_pretrained(place)
    lm.tokenizer.save_pretrained(place)
    words = ["relations=P36", "n_facts=2", *CLOSE]
    told = notebooks.refused("latent_knowledge", str(place), words, tmp_path / "runs")
    n = int(told.partition("reads at most 128: set n_examples=")[2].partition(",")[0])
    assert 0 < n < 50
