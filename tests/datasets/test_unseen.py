"""UnseenQA: the paper's templates, what lies ahead of a date, names without repetition."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.datasets import unseen_questions
from notebooks.kit import published

FILLED = {"place": "[country/region]", "event": "[medal event]", "person": "[person]"}


def test_the_papers_date_gives_the_papers_templates():
    printed = published.load_published_table("kb_table1")
    times = unseen_questions.coming_editions_and_years("2024-04-13")
    for template in unseen_questions.QUESTION_TEMPLATES:
        text = template.text.format(**times).replace("[X]", FILLED[template.slot])
        row = printed.loc[template.name]
        assert text.rstrip("?") == row["template"].rstrip(
            "?"
        )  # T19 is printed without its mark
        assert row["answer type"].rstrip("s").casefold() == template.type


def test_there_are_three_thousand_questions_all_different():
    table = unseen_questions.draw_unseen_questions()
    assert len(table) == 3000
    assert table["question"].is_unique
    assert table["item"].is_unique
    assert (table.groupby("group").size() == 150).all()
    assert table.groupby("type")["group"].nunique().to_dict() == dict.fromkeys(
        unseen_questions.ANSWER_TYPES, 4
    )
    assert not table["seen"].any()
    assert not table["question"].str.contains(r"[\[\]{}]").any()


def test_fewer_questions_are_among_the_more_and_the_seed_decides():
    many = set(unseen_questions.draw_unseen_questions(n=30)["question"])
    assert set(unseen_questions.draw_unseen_questions(n=5)["question"]) <= many
    assert unseen_questions.draw_unseen_questions(n=30).equals(
        unseen_questions.draw_unseen_questions(n=30)
    )
    other = set(unseen_questions.draw_unseen_questions(n=30, seed=1)["question"])
    assert len(other & many) < 0.5 * len(many)


@given(st.dates(datetime.date(2020, 1, 1), datetime.date(2060, 12, 31)))
def test_what_is_asked_about_lies_ahead(day):
    times = unseen_questions.coming_editions_and_years(day.isoformat())
    games = roman(times["next"])
    assert datetime.date(1896 + 4 * (games - 1), 7, 1) > day
    assert datetime.date(1896 + 4 * (games - 2), 7, 1) <= day
    assert roman(times["later"]) == games + 1
    assert datetime.date(2022 + 4 * (int(times["cup"][:-2]) - 22), 6, 1) > day
    assert int(times["far"]) > int(times["soon"]) > day.year > int(times["before"])


def roman(text):
    value = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
    digits = [value[letter] for letter in text]
    pairs = zip(digits, [*digits[1:], 0])
    return sum(-digit if digit < after else digit for digit, after in pairs)


def test_known_editions():
    assert (
        unseen_questions.coming_editions_and_years("2028-06-30")["next"] == "XXXIV"
    )  # Los Angeles 2028
    assert (
        unseen_questions.coming_editions_and_years("2028-07-01")["next"] == "XXXV"
    )  # Brisbane 2032
    assert unseen_questions.coming_editions_and_years("2026-05-31")["cup"] == "25th"
    assert unseen_questions.coming_editions_and_years("2022-05-31")["cup"] == "24th"


@pytest.mark.parametrize("kind", unseen_questions.ANSWER_TYPES)
def test_invented_answers_are_enough_for_twenty_distractors(kind):
    answers = unseen_questions.invented_answers(kind)
    assert len(set(answers)) == len(answers) == 40


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"as_of": "tomorrow"}, "give a date"),
        ({"as_of": "2026-13-01"}, "give a date"),
        ({"as_of": None}, "give a date"),
        ({"n": 0}, "1 to 150"),
        ({"n": 151}, "1 to 150"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(UserError, match=sentence):
        unseen_questions.draw_unseen_questions(**settings)
