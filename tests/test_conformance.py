"""The conformance suite: its cases, its runner, and the tables of the page."""

import json

import pandas as pd
import pytest

from bench.conformance import make, run, tables
from tests import tiny

CASES = run.read(make.HERE / "cases.jsonl")
# Reading a vocabulary of thirty thousand tokens and more takes seconds.
FAST, REAL = ("words", "mistral"), ("gpt2", "llama", "neox")
EACH = [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in REAL)]


@pytest.fixture(scope="module", params=EACH)
def made(request, tmp_path_factory):
    """Return a model's name, its tokenizer and the folder with its folder."""
    name, folder = request.param, None
    if name in REAL:
        folder = request.getfixturevalue("shared") / "data" / "tokenizers"
    vocabulary = make.tokenizer(make.MADE_OF["models"][name]["tokenizer"], folder)
    kept = tmp_path_factory.mktemp("models")
    make.save(kept / name, make.network(name, vocabulary), vocabulary)
    return name, vocabulary, kept


def of(name):
    return [case for case in CASES if case["model"] == name]


def test_there_are_cases_of_every_kind():
    assert len(CASES) == len({case["case"] for case in CASES}) == 754
    assert {case["group"] for case in CASES} == {*make.MADE_OF["groups"]}
    assert {case["model"] for case in CASES} == {*make.MADE_OF["models"]}


def test_our_scores_are_exact_or_refused_where_there_is_no_value(made):
    name, _, folder = made
    found = run.measured("ours", folder, of(name), once=False)
    assert len(found) == len(of(name))
    for case, record in zip(of(name), sorted(found, key=lambda record: record["case"])):
        if case["expected"] is None or len(case["ids"]) > make.LIMIT:
            assert record["alone"] == record["batched"] == "", case
        else:
            assert record["alone"] == pytest.approx(case["expected"], abs=2e-4), case
            assert record["batched"] == pytest.approx(case["expected"], abs=2e-4), case


def test_expected_values_are_those_of_one_text_read_token_by_token(made):
    name, vocabulary, _ = made
    lm = tiny.language_model("llama", vocabulary)
    lm.model = make.network(name, vocabulary).double()
    for case in of(name)[::7]:
        text, ids = case["prompt"] + case["continuation"], case["ids"]
        whole = vocabulary(text)["input_ids"]
        assert ids == whole[: len(whole) - (name == "words")]
        if case["expected"] is not None:
            one = [
                tiny.naive_logprobs(lm, ids[: at + 1], at)[0]
                for at in range(case["start"], len(ids))
            ]
            assert sum(one) == pytest.approx(case["expected"], abs=1e-6)


def test_the_file_holds_what_the_maker_makes(made):
    name, vocabulary, _ = made
    assert json.loads(json.dumps([*make.cases(name, vocabulary)])) == of(name)


@pytest.mark.parametrize("bad", [set(), {0}, {3, 4}, {*range(6)}])
def test_a_case_that_fails_takes_no_other_with_it(bad):
    def scorer(pairs, size):
        if bad & {int(said) for _, said in pairs}:
            raise ValueError("no")
        return [-float(said) for _, said in pairs]

    found = run.scores(scorer, [("", str(n)) for n in range(6)], 2)
    assert found == [(None, "ValueError") if n in bad else (-n, "") for n in range(6)]


def test_an_outcome_is_the_first_value_that_is_equal():
    told = make.MADE_OF["conventions"]
    assert tables._outcome(-1.0004, -1, {"apart": -1.0005}) == tables.EXACT
    assert tables._outcome(-2, -1, {"apart": -3, "sliced": -2}) == told["sliced"]
    assert tables._outcome(-2, -1, {"apart, cut": -2}) == told["cut"]
    assert tables._outcome(-2, -1, {}) == tables.OTHER
    assert tables._outcome(float("nan"), -1, {}) == tables.RAISED


def test_every_convention_of_the_cases_has_a_wording():
    names = {name for case in CASES for name in case["also"] if not name.endswith(", cut")}
    assert names <= {*make.MADE_OF["conventions"]}


@pytest.mark.parametrize("name", ["cases", "reasons", "accuracy"])
def test_the_tables_of_the_page_are_those_of_the_results(name, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BOOK", tmp_path)
    tables.main()
    file = f"conformance_{name}.csv"
    kept = make.HERE.parents[1] / "book" / file
    assert (tmp_path / file).read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    assert not pd.read_csv(kept).empty
