"""The separator that IC-LKE chooses: by facts that nothing tests, the same however it is asked."""

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, exchange, models, probing, runs
from helpers.prompts import lists
from helpers.prompts.prompt_texts import SEPARATORS
from helpers.runs import measuring
from helpers.runs.panel import panel_answers
from helpers.studies import latent_knowledge as study
from tests import tiny_models

TWO = {"relations": ["P17", "P36"], "n_examples": 4}
ABOUT = ["relation", "subject"]


@pytest.fixture(scope="module")
def small():
    """Return the smallest bundled model."""
    return models.load("atlas-xs")


@pytest.fixture
def planted(monkeypatch):
    """Return a function that says which share of the facts each separator gets right."""
    asked = []

    def plant(rates):
        def score(model, probes, cache=None):
            asked.append(probes)
            number = probes.groupby("separator")["item"].transform(
                lambda items: items.factorize()[0]
            )
            count = probes.groupby("separator")["item"].transform("nunique")
            right = number < count * probes["separator"].map(rates)
            good = np.where(~probes["correct"], 0.01, np.where(right, 0.6, 0.001))
            return probes.assign(logprobs=[[np.log(p)] for p in good])

        monkeypatch.setattr(probing, "score", score)
        return asked

    return plant


def test_only_facts_that_nothing_tests_are_tried(small, planted):
    asked = planted(dict.fromkeys(SEPARATORS, 0.5))
    every = datasets.load("atlas", seed=0)
    given = every[
        every["fact"].isin(
            study.items_drawn_by_settings(
                {"relations": ["P17"], "seed": 0, "n_facts": 0}, ""
            )
        )
    ]
    pool = lists.divide_into_examples_and_tests(
        lists.divisible_facts_and_notes(every, 0)[0], seed=0
    ).query("role == 'example'")
    given = pd.concat([given, pool[pool["relation"] == "P36"].head(20)])
    table = study.try_separators(small, given)
    [probes] = asked
    assert set(probes["separator"]) == set(SEPARATORS) == set(table.index)
    assert set(probes["item"]) <= set(pool["fact"])
    tried = probes[[*ABOUT, "item"]].drop_duplicates("item")
    assert tried.groupby("relation").size().between(1, 3).all()
    assert len(tried) == table["n"].unique().item() > 60
    assert {"P17", "P36"} <= set(tried["relation"])
    for facts in (datasets.panel_facts(), given):
        both = facts.merge(tried, on=ABOUT)
        assert both.empty
    assert probes.groupby(["separator", "item"]).size().max() == 20
    for row in probes.drop_duplicates(["separator", "item"]).itertuples():
        listed = lists.open_pair_and_space(row.subject, row.separator)[0]
        assert row.prompt.endswith(listed)
        inner = (
            lists.pair_template_and_separator(row.separator)[0]
            .replace("[X]", row.subject)
            .replace("[Y]", row.object)
        )
        assert inner not in row.prompt


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({"bar and line": 0.9, "space": 0.8}, ["bar and line", "space"]),
        ({"space": 0.0, "bar and line": 0.2}, ["bar and line"]),
        (
            {"comma and line": 0.5, "colon and line": 0.5},
            ["colon and line", "comma and line"],
        ),
        (dict.fromkeys(SEPARATORS, 1.0), [*SEPARATORS]),
    ],
)
def test_the_most_accurate_is_chosen_and_of_equals_the_first(
    small, planted, rates, best
):
    planted(dict.fromkeys(SEPARATORS, 0.0) | rates)
    table = study.try_separators(small, **TWO)
    assert [*table.index[: len(best)]] == best
    assert table["right"].is_monotonic_decreasing


def test_of_equally_accurate_ones_the_surest_is_chosen(monkeypatch, small):
    def score(model, probes, cache=None):
        sure = probes["separator"].map({"dash and line": 0.9}).fillna(0.5)
        good = np.where(probes["correct"], sure, 0.01)
        return probes.assign(logprobs=[[np.log(p)] for p in good])

    monkeypatch.setattr(probing, "score", score)
    assert [*study.try_separators(small, **TWO).index[:2]] == ["dash and line", "space"]


def test_lists_that_cannot_be_read_choose_the_papers_separator():
    lm = tiny_models.tiny_language_model("llama")  # reads 128 tokens
    table = study.try_separators(lm, relations=["P36"], n_examples=50)
    assert (table.index[0], table["n"].sum()) == ("space", 0)


def test_the_choice_does_not_depend_on_order_or_on_what_else_is_asked(small):
    table = study.try_separators(small, **TWO)
    again = study.try_separators(small, **TWO | {"relations": ["P36", "P17"]})
    pd.testing.assert_frame_equal(again, table, atol=1e-5)
    facts = datasets.panel_facts(24).query("relation in ['P17', 'P36']")
    answers = study.ask(small, facts, **TWO, n_choices=5)
    chosen = study.settings_chosen_on_model(small, facts, **TWO)
    assert chosen == {"separator": table.index[0]}
    named = study.ask(small, facts, **TWO, n_choices=5, separator=table.index[0])
    assert study.settings_chosen_on_model(small, facts, **TWO, **chosen) == {}
    pd.testing.assert_frame_equal(answers, named, atol=1e-5)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the folder of a run that chose its separator."""
    given = TWO | {"n_facts": 2, "n_choices": 5, "n_panel": 8, "n_bootstrap": 20}
    top = tmp_path_factory.mktemp("measured")
    [made] = measuring.measure_model("atlas-xs", ["latent_knowledge"], given, top)
    return made.folder


def test_a_run_says_which_it_chose_and_asks_the_panel_with_it(measured, small):
    told = runs.load_manifest(measured)
    assert (
        told["parameters"]["separator"] == told["panel"]["settings"]["separator"] == ""
    )
    best = study.try_separators(small, **TWO).index[0]
    assert told["separator"] == told["panel"]["separator"] == best != "space"
    for answers in (runs.load_answers(measured), panel_answers.panel_answers(measured)):
        for row in answers.drop_duplicates("item").itertuples():
            assert row.prompt.endswith(
                SEPARATORS[best][1] + lists.open_pair_and_space(row.subject, best)[0]
            )


def test_its_archive_names_the_separator_and_is_verified(measured, tmp_path):
    path = exchange.pack_archive(exchange.describe_runs(measured), tmp_path)
    shared, checked = exchange.verify_archive(path)
    run = shared.record["runs"]["latent_knowledge"]
    assert run["parameters"]["separator"] == runs.load_manifest(measured)["separator"]
    assert [one.study for one in checked] == ["latent_knowledge"]
