"""Tests of reading exercises from a chapter."""

import pytest

from book.tools.course import exercises
from helpers import UserError


def test_reads_all_parts_of_an_exercise(chapter):
    hand, first, _, why = exercises.read(chapter())
    assert (hand.kind, hand.title, hand.label) == ("on paper", "By hand", "ex-hand")
    assert (first.difficulty, first.minutes, first.kind) == (2, 10, "code")
    assert first.text == "Write `more(x)`. It adds one to a {term}`number`."
    assert first.test == "assert more(1) == 2\n"
    assert first.solution.startswith("import math")
    assert "# not so simple" in first.solution
    assert first.notes == "One more is added."
    assert (why.kind, why.test, why.solution, why.notes) == ("to be argued", "", "", "Because.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":label: ex-why\n", "", '"Why\\?" .* has no label'),
        ("{solution} ex-why", "{solution} ex-which", "has no solution"),
        ("*Difficulty 3 of 3, 15 minutes, to be argued.*", "", "has to begin with a line"),
        ("15 minutes, to be argued", "15 minutes, to be sung", "has to begin with a line"),
        ("```python\nassert more(1) == 2\n```\n", "", "has 0 and 1"),
        ("Because.", "```python\nx = 1\n```", "has 0 and 1"),
        (":label: ex-why", ":lable: ex-why", "has no label"),
    ],
)
def test_a_broken_exercise_ends_in_a_sentence(chapter, sound, old, new, message):
    assert old in sound
    with pytest.raises(UserError, match=message):
        exercises.read(chapter(sound.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a {term}`frame` and {term}`frames <frame>`", "a frame and frames"),
        ("`{term}` is a role, $x$ is not", "`{term}` is a role, $x$ is not"),
        ("see {doc}`the data <../data>`", "see the data"),
    ],
)
def test_roles_become_words(markdown, shown):
    assert exercises.plain(markdown, "x") == shown


@pytest.mark.parametrize(
    "role", ["{cite:t}`wang2024monitor`", "{ref}`atlas`", "{doc}`../data`", "{eq}`eq-pfd`"]
)
def test_a_role_without_words_is_refused(role):
    with pytest.raises(UserError, match="ex-here has the role"):
        exercises.plain(f"As in {role}.", "ex-here")
