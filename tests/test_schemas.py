"""The columns of each stage are told once, and what studies return has them."""

import csv
import re

import pandas as pd
import pytest

from helpers import UserError, exchange, schemas
from helpers.exchange import record
from helpers.prompts import consistency_questions, frames, lists
from helpers.studies import STUDIES


@pytest.fixture(scope="module")
def shared(root):
    return exchange.read_archive(root / "results" / "atlas-xs.zip")


@pytest.mark.parametrize("study", STUDIES)
def test_tables_of_an_archive_fit(shared, study):
    run, answers = shared.record["runs"][study], shared.answers(study)
    schemas.table_with_checked_columns(answers, "answers", study)
    facts = record.facts_from_answers(study, run["parameters"], answers)
    told = {each.column for each in schemas.columns_of("facts", study)}
    open_columns = {name for name in facts if re.fullmatch(r"asked_frame\d+", name)}
    assert set(facts) - open_columns <= told
    summary = STUDIES[study].summary(facts, n_resamples=5)
    columns = [each.column for each in schemas.columns_of("summary")]
    reads_texts = study in ("monitor", "knowledge_base")
    assert list(summary) == columns[: None if reads_texts else -1]


def test_each_column_is_told_once_and_in_words():
    for stage in ("answers", "facts", "summary"):
        for study in STUDIES:
            names = [each.column for each in schemas.columns_of(stage, study)]
            assert len(names) == len(set(names))
    for each in schemas.COLUMNS:
        assert each.type in schemas.FITS
        assert each.study in ("", *STUDIES)
        assert each.needed in ("", "yes")
        assert len(each.meaning) > 5 or each.meaning == "of the object"


def test_the_columns_of_probes_are_those_of_the_prompts():
    told = {each.column for each in schemas.columns_of("probes", "monitor")}
    assert told <= set(frames.QUESTION_COLUMNS)
    told = {each.column for each in schemas.columns_of("probes", "latent_knowledge")}
    assert told <= set(lists.LIST_COLUMNS)
    assert (
        "variant"
        in consistency_questions.consistency_probes(
            pd.DataFrame(columns=["item"])
        ).columns
    )


SUMMARY = {"relation": ["all"], "measure": ["m"], "estimate": [0.5], "n": [3]}
SUMMARY |= {"low": [0.4], "high": [0.6]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"estimate": ["high"]}, "column estimate of the summary holds .*give number"),
        ({"n": [2.5]}, "column n of the summary holds float64: give integer"),
        ({"measure": [1]}, "column measure of the summary holds int64: give text"),
    ],
)
def test_other_types_are_refused(change, sentence):
    table = pd.DataFrame(SUMMARY)
    assert schemas.table_with_checked_columns(table, "summary") is table
    with pytest.raises(UserError, match=sentence):
        schemas.table_with_checked_columns(table.assign(**change), "summary")
    with pytest.raises(UserError, match="table of summary lacks the column n"):
        schemas.table_with_checked_columns(table.drop(columns="n"), "summary")


def test_a_column_without_values_fits():
    table = pd.DataFrame(SUMMARY).assign(low=[None], high=[None])
    assert schemas.table_with_checked_columns(table.head(0), "summary").empty
    assert schemas.table_with_checked_columns(table, "summary") is table


def test_the_page_shows_the_table(root):
    text = (root / "book" / "architecture.md").read_text(encoding="utf-8")
    place = re.search(r":file: (\S+schemas\.csv)", text)[1]
    with (root / "book" / place).open(encoding="utf-8") as file:
        heads = next(csv.reader(file))
    assert tuple(heads) == schemas.Column._fields
