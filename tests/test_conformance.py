"""The conformance suite: its cases, its runner, and the tables of the page."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from bench.conformance import conformance_tables, make_cases, score_cases
from tests import tiny_models

CASES = score_cases.read_cases(make_cases.HERE / "cases.jsonl")
# Reading a vocabulary of thirty thousand tokens and more takes seconds.
FAST, REAL = ("words", "mistral"), ("gpt2", "llama", "neox")
EACH = [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in REAL)]


@pytest.fixture(scope="module", params=EACH)
def made(request, tmp_path_factory):
    """Return a model's name, its tokenizer and the folder with its folder."""
    name, folder = request.param, None
    if name in REAL:
        folder = request.getfixturevalue("shared") / "data" / "tokenizers"
    vocabulary = make_cases.model_tokenizer(
        make_cases.SITUATIONS["models"][name]["tokenizer"], folder
    )
    kept = tmp_path_factory.mktemp("models")
    make_cases.save_model(
        kept / name, make_cases.tiny_random_model(name, vocabulary), vocabulary
    )
    return name, vocabulary, kept


def of(name):
    return [case for case in CASES if case["model"] == name]


def test_there_are_cases_of_every_kind():
    assert len(CASES) == len({case["case"] for case in CASES}) == 754
    assert {case["group"] for case in CASES} == {*make_cases.SITUATIONS["groups"]}
    assert {case["model"] for case in CASES} == {*make_cases.SITUATIONS["models"]}


def test_our_scores_are_exact_or_refused_where_there_is_no_value(made):
    name, _, folder = made
    found = score_cases.tool_results("ours", folder, of(name), once=False)
    assert len(found) == len(of(name))
    for case, record in zip(of(name), sorted(found, key=lambda record: record["case"])):
        if case["expected"] is None or len(case["ids"]) > make_cases.CONTEXT_LIMIT:
            assert record["alone"] == record["batched"] == "", case
        else:
            assert record["alone"] == pytest.approx(case["expected"], abs=2e-4), case
            assert record["batched"] == pytest.approx(case["expected"], abs=2e-4), case


def test_expected_values_are_those_of_one_text_read_token_by_token(made):
    name, vocabulary, _ = made
    model = make_cases.tiny_random_model(name, vocabulary).double()
    lm = replace(tiny_models.tiny_language_model("llama", vocabulary), model=model)
    for case in of(name)[::7]:
        text, ids = case["prompt"] + case["continuation"], case["ids"]
        whole = vocabulary(text)["input_ids"]
        assert ids == whole[: len(whole) - (name == "words")]
        if case["expected"] is not None:
            one = [
                tiny_models.naive_logprobs(lm, ids[: at + 1], at)[0]
                for at in range(case["start"], len(ids))
            ]
            assert sum(one) == pytest.approx(case["expected"], abs=1e-6)


def test_the_file_holds_what_the_maker_makes(made):
    name, vocabulary, _ = made
    assert json.loads(
        json.dumps([*make_cases.conformance_cases(name, vocabulary)])
    ) == of(name)


@pytest.mark.parametrize("bad", [set(), {0}, {3, 4}, {*range(6)}])
def test_a_case_that_fails_takes_no_other_with_it(bad):
    def scorer(pairs, size):
        if bad & {int(said) for _, said in pairs}:
            raise ValueError("no")
        return [-float(said) for _, said in pairs]

    found = score_cases.scores_and_errors(scorer, [("", str(n)) for n in range(6)], 2)
    assert found == [(None, "ValueError") if n in bad else (-n, "") for n in range(6)]


def test_an_outcome_is_a_convention_that_the_tool_follows():
    told = make_cases.SITUATIONS["conventions"]
    also = {"apart": -1.0005, "sliced|first character": -2, "apart, cut to 128": -4}
    for tool, value, expected in [
        ("minicons", -1.0004, conformance_tables.EXACT_OUTCOME),
        ("minicons", -2, told["sliced"]),
        ("lm-pub-quiz", -2, told["first character"]),
        ("lighteval", -4, told["cut"]),
        ("lighteval", -3, conformance_tables.UNTRACED_OUTCOME),
        ("lighteval", float("nan"), conformance_tables.ERROR_OUTCOME),
    ]:
        assert conformance_tables.score_outcome(tool, value, -1, also) == expected


def test_every_convention_of_the_cases_has_a_wording():
    names = {
        name for case in CASES for names in case["also"] for name in names.split("|")
    }
    assert {name for name in names if ", cut to " not in name} <= {
        *make_cases.SITUATIONS["conventions"]
    }
    assert {
        name for names in make_cases.SITUATIONS["followed"].values() for name in names
    } <= names


@pytest.mark.parametrize("name", ["cases", "reasons", "accuracy"])
def test_the_tables_of_the_page_are_those_of_the_results(name, tmp_path, monkeypatch):
    monkeypatch.setattr(conformance_tables, "BOOK_FOLDER", tmp_path)
    conformance_tables.main()
    file = f"conformance_{name}.csv"
    kept = make_cases.HERE.parents[1] / "book" / file
    assert (tmp_path / file).read_text(encoding="utf-8") == kept.read_text(
        encoding="utf-8"
    )
    assert not pd.read_csv(kept).empty
