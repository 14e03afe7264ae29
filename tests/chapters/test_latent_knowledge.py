"""The chapter on latent knowledge, run on the bundled model as a reader would run it."""

import re

import numpy as np
import pandas as pd
import pytest

from book.tools import chapters, parameters
from helpers import models, runs
from helpers.metrics import latent_knowledge as lke
from helpers.prompts import lists
from notebooks.analysis import latent_records
from tests.chapters import finished_runs, forward_pass

CLOSE = [
    "n_close=3",
    "n_close_choices=10",
    "n_seeds=2",
    "n_bootstrap=20",
    "siblings=no",
]
SMALL = ["n_panel=0", "relations=P17,P36,P575", "n_facts=4", "n_examples=12", *CLOSE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run(
        "latent_knowledge", "atlas-s", SMALL, tmp_path_factory.mktemp("runs")
    )


def test_the_run_is_whole(folder, found):
    tables = {
        "by_hand",
        "by_relation",
        "separators",
        "separators_tried",
        "generation",
        "truth",
    }
    tables |= {"subsumption", "leader_board", "paper_table1", "paper_table10"}
    tables |= {"sequences", "sequence_tokens", "sequence_slots", "replaced", "needed"}
    tables |= {"sure", "relations_correlated", "best_and_worst"}
    finished_runs.check_finished_run(folder, SMALL, tables)
    assert found["above_commonest"].n == 12
    assert found["one_is_enough"].n == 9  # three of each relation


def test_the_text_names_the_sizes_of_the_close_ups():
    given = parameters.declared_parameters(
        chapters.TEMPLATES / "latent_knowledge.ipynb"
    )
    sizes = {
        name: given[name]
        for name in ("n_close", "n_facts", "n_close_choices", "n_choices")
    }
    text = (chapters.TEMPLATES / "latent_knowledge.ipynb").read_text(encoding="utf-8")
    said = "by default {n_close} facts instead of {n_facts}, {n_close_choices} names instead of"
    assert f"{said} {{n_choices}}".format(**sizes) in text
    assert f"`n_seeds`, by default {given['n_seeds']}" in text
    assert given["n_panel"] > 3 * 24 * given["n_facts"]  # "over three times as many"


def test_findings_say_what_the_answers_hold(folder, answers, found, compared):
    curve = lke.fact_scores(answers[answers["part"] == "examples"])
    means = curve.groupby("examples")["right"].mean()
    assert found["one_is_enough"].estimate == pytest.approx(means[1] - means[0])
    apart = lke.fact_scores(answers[answers["part"] == "separators"])
    rates = apart.groupby("separator")["right"].mean()
    chosen = runs.load_manifest(folder)["separator"]
    expected = rates[chosen] - rates["space"] if chosen != "space" else np.nan
    told = found["chosen_separator_finds_more"].estimate
    assert told == pytest.approx(expected, nan_ok=True)
    further = {"accuracy: list, less MMP", "accuracy: no example, less 12 with space"}
    assert further <= set(compared.index)


def test_what_replaced_pairs_do_is_what_the_kept_answers_hold(found, compared):
    """Each list's mean change at the true pairs after the first replaced one, by hand."""
    places = latent_records.load_records().places
    places = places.query("model == 'atlas-s' and arrangement == 'scattered'")
    keys = ["relation", "draw", "place"]
    wide = places.pivot_table("p", keys, "kind", observed=True)
    status = places[places["kind"] == "wrong"].set_index(keys)["status"]
    wide = wide[status.reindex(wide.index).isin(["next", "later"])]
    means = wide.groupby(["relation", "draw"]).mean()
    finding = found["odd_names_cost_more"]
    cost = (means["unread"] - means["invented"]).mean()
    assert finding.estimate == pytest.approx(cost, abs=1e-6)
    assert finding.n == len(means)
    wrong = 100 * (means["wrong"] - means["intact"]).mean()
    assert f"change it by {wrong:.1f}" in finding.sentence
    label = "atlas-s, scattered: wrong objects, less invented names"
    contrast = (means["wrong"] - means["invented"]).mean()
    assert compared.loc[label, "estimate"] == pytest.approx(contrast, abs=1e-6)


def test_metrics_can_be_computed_again_from_the_saved_answers(answers, metrics):
    listed = answers[answers["part"] == "lists"]
    sizes = listed.groupby(["relation", "item"]).size().groupby("relation").unique()
    assert {relation: found.tolist() for relation, found in sizes.items()} == {
        "P17": [100],
        "P36": [100],
        "P575": [47],
    }
    matrix = np.exp(lke.choice_log_probabilities(listed).to_numpy())
    saved = metrics.query("level == 'run'").set_index("measure")["estimate"]
    assert saved["right"] == (matrix[:, -1] > np.nanmax(matrix[:, :-1], axis=1)).mean()
    mass = matrix[:, -1] / np.nansum(matrix, axis=1)
    assert saved["mass"] == pytest.approx(mass.mean(), abs=1e-9)
    facts = metrics.query("level == 'fact' and measure == 'mass'").set_index("item")[
        "estimate"
    ]
    again = lke.fact_scores(listed).set_index("item")["mass"]
    pd.testing.assert_series_equal(facts, again, check_names=False)


def test_probabilities_are_those_of_one_forward_pass_a_choice(answers):
    lm = models.load("atlas-s")
    parts = ["lists", "examples", "prompts", "separators"]
    for row in (
        answers[answers["part"].isin(parts)].groupby("part").tail(2).itertuples()
    ):
        forward_pass.check_logprobs(lm, row)
        assert "".join(row.tokens).replace("Ġ", " ") == row.continuation


def test_no_example_tells_of_a_tested_subject(answers, folder):
    separator = runs.load_manifest(folder)["separator"]
    between = lists.pair_template_and_separator(separator)[1]
    for row in answers[answers["part"] == "lists"].drop_duplicates("item").itertuples():
        open_pair = f"{between}{lists.open_pair_and_space(row.subject, separator)[0]}"
        assert f"{between}{row.prompt}".count(open_pair) == 1


def test_the_separator_is_chosen_on_facts_that_are_not_tested(folder, answers):
    told = runs.load_manifest(folder)
    assert told["parameters"]["separator"] == ""
    table = pd.read_csv(folder / "tables" / "separators_tried.csv", index_col=0)
    assert table.index[0] == told["separator"]
    assert table["accuracy, %"].is_monotonic_decreasing
    assert set(answers.query("part == 'separators'")["separator"]) >= {
        told["separator"],
        "space",
    }


def test_nobel_laureates_run_through(shared, tmp_path):
    data = shared / "data" / "nobel" / "nobel.csv"
    words = [f"dataset={data}", "n_facts=3", "n_examples=8", *CLOSE]
    done = finished_runs.run("latent_knowledge", "atlas-s", words, tmp_path)
    found = runs.load_answers(done)
    assert set(found["part"]) >= {"lists", "examples", "separators"}
    assert found.query("part == 'lists'")["choice"].str.fullmatch(r"\d{4}").all()
    assert runs.load_manifest(done)["dataset"]["name"] == "nobel"


def test_what_was_written_is_saved_beside_what_was_ranked(folder, answers, found):
    texts = pd.read_parquet(folder / "written_answers.parquet")
    after_list = texts[texts["way"] == "IC-LKE"]
    in_text = [
        f" {row.object.casefold()} "
        in " ".join(["", *re.findall(r"\w+|[^\w\s]", row.text.casefold()), ""])
        for row in after_list.itertuples()
    ]
    longest = answers[(answers["part"] == "examples") & (answers["draw"] == 0)]
    longest = longest[longest["examples"] == longest["examples"].max()]
    ranked = lke.fact_scores(longest[longest["item"].isin(after_list["item"])])
    told = found["choices_help_IC-LKE"]
    assert told.n == ranked["item"].nunique() == after_list["item"].nunique()
    expected = ranked["right"].mean() - np.mean(in_text)
    assert told.estimate == pytest.approx(expected)
