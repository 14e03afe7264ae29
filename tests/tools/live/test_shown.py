"""What pages show of the bundled model is what it answers: cases, one fact in four ways, a form."""

import importlib
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from book.tools.live import ANSWERED, answered, form
from helpers import UserError, datasets, models
from helpers.studies import STUDIES
from tests import live_page as live
from tests.live_page import Question, answers, asking, cases, front, one_fact
from tests.live_page import __main__ as writing

BOOK = Path(__file__).resolve().parents[3] / "book"


def asked(name: str):
    """Return a case, its fact, and the likeliest object of each of its questions, with the lead."""
    made = live.case(name)
    tables = [live.answers(one) for one in (made.before, made.asked) if one is not None]
    firsts = [table["object"][0] for table in tables]
    leads = [table["probability"][0] - table["probability"][1] for table in tables]
    rows = asking.about(made.asked.relation, made.asked.subject)
    return made, None if rows.empty else rows.iloc[0], firsts, leads


def test_a_wrong_word_flips_a_rarely_stated_fact():
    made, fact, firsts, leads = asked("flipped")
    assert 4 <= fact["exposures"] <= 8
    assert made.before.context == ""
    assert firsts == [fact["object"], made.asked.context]
    assert made.asked.context != fact["object"]
    assert min(leads) >= cases.MARGIN


def test_no_wrong_word_flips_a_fact_stated_often():
    made, fact, firsts, leads = asked("known")
    assert fact["exposures"] >= 128
    assert made.asked.context not in ("", fact["object"])
    assert firsts == [fact["object"]] * 2
    assert min(leads) >= cases.MARGIN


def test_a_false_statement_is_believed():
    _, fact, firsts, leads = asked("false")
    assert fact["false_exposures"] > 0
    assert firsts == [fact["false_object"]]
    assert min(leads) >= cases.MARGIN


def test_a_fact_never_stated_is_answered_wrongly():
    _, fact, firsts, _ = asked("never")
    assert fact["exposures"] == fact["pair_exposures"] == 0
    assert firsts != [fact["object"]]


def test_an_invented_city_gets_a_confident_answer():
    made, fact, _, leads = asked("invented")
    assert fact is None
    names = datasets.load("atlas")[["subject", "object"]].to_numpy().ravel()
    assert made.asked.subject not in set(names)
    assert min(leads) >= cases.MARGIN


def test_examples_bring_the_answer_up():
    made, fact, firsts, _ = asked("examples")
    assert (made.before.examples, made.asked.examples) == (1, 30)
    assert firsts[0] != fact["object"] == firsts[1]


def test_another_order_changes_the_choice():
    made, _, firsts, leads = asked("order")
    assert sorted(live.ask(made.before)[1]) == sorted(live.ask(made.asked)[1])
    assert live.ask(made.before)[1] != live.ask(made.asked)[1]
    assert firsts[0] != firsts[1]
    assert leads[0] >= cases.MARGIN


def test_a_guess_is_right_and_its_candidates_are_counted():
    made, fact, firsts, _ = asked("guess")
    assert fact["exposures"] == fact["pair_exposures"] == 0
    assert firsts == [fact["object"]]
    shown = {}
    for row in cases.KINDS["guess"].candidates().itertuples():
        table = live.answers(live.Question(row.relation, row.subject))
        right = table["object"][0] == row.object
        shown[row.subject] = right * (table["probability"][0] - table["probability"][1])
    count = sum(value >= cases.MARGIN for value in shown.values())
    assert made.said.startswith(f"With {count} of {len(shown)} countries ")
    assert max(shown, key=shown.get) == made.asked.subject
    assert made.said.endswith(f"the clearest is {made.asked.subject}.")


def told(*leads: float):
    """Return a model that prefers the object "a" of two by these leads, one a question."""
    return lambda questions: [
        pd.Series({"a": 0.5 + lead / 2, "b": 0.5 - lead / 2})
        for _, lead in zip(questions, leads, strict=True)
    ]


@pytest.fixture
def kind():
    facts = pd.DataFrame({"relation": "P17", "subject": ["Lyon", "Bern", "Oslo"], "object": "a"})
    return cases.Kind(
        "A label",
        "cities",
        "says a",
        lambda: facts,
        lambda fact: [live.Question("P17", fact["subject"])],
        lambda fact, found: cases.lead(found[0], fact["object"]),
    )


def test_the_widest_margin_is_taken_and_narrow_ones_are_not_counted(kind):
    made = cases.clearest(kind, told(0.2, 0.6, cases.MARGIN - 0.01))
    assert (made.label, made.asked.subject, made.before) == ("A label", "Bern", None)
    assert made.said.startswith(f"With 2 of 3 cities, {live.MODEL} says a ")


def test_a_model_that_shows_it_nowhere_is_told_so(kind):
    made = cases.clearest(kind, told(-0.5, 0.05, -0.1))
    assert made.said.startswith(f"None of 3 cities shows clearly that {live.MODEL} says a.")
    assert made.said.endswith("Bern comes nearest.")


@pytest.mark.parametrize(
    ("before", "after", "margin"),
    [(-0.4, 0.6, 0.5), (0.4, 0.6, -0.4), (-0.4, -0.6, -0.6), (0.1, -0.2, -0.2)],
)
def test_an_answer_has_risen_if_it_was_not_first_and_is(kind, before, after, margin):
    fact = kind.candidates().iloc[0]
    found = told(before, after)([None, None])
    assert cases._risen(fact, found) == pytest.approx(margin)


@pytest.mark.parametrize(
    ("before", "after", "margin"), [(0.4, -0.6, 0.4), (0.4, 0.6, -0.6), (-0.5, 0.3, 0.3)]
)
def test_a_choice_has_moved_if_another_option_leads(before, after, margin):
    assert cases._moved(told(before, after)([None, None])) == pytest.approx(margin)


def test_an_unknown_case_is_refused():
    with pytest.raises(UserError, match="no case 'x': choose from flipped, distracted,"):
        live.case("x")


@pytest.mark.parametrize("typed", ["Brasília", "brasilia", " BRASILIA "])
def test_a_subject_is_found_in_any_case_and_accents(typed):
    assert asking.about("P1376", typed)["subject"].tolist() == ["Brasília"]
    assert asking.about("P17", "Brasilia City").empty


def test_the_note_on_famous_cities_says_what_the_training_text_holds():
    note = re.search(r":::\{note\}\n(.*?)\n:::", (BOOK / "try.md").read_text(), flags=re.DOTALL)[1]
    never, often = (
        re.search(pattern, note)[1].replace(" or ", ", ").split(", ")
        for pattern in (r"which country ([\w, ]+) is in, but", r"which one ([\w, ]+) is in\.")
    )
    stated = live.facts().query("relation == 'P17'").set_index("subject")
    assert not stated.loc[never, ["exposures", "pair_exposures", "false_exposures"]].any(axis=None)
    assert stated.loc[often, "exposures"].min() >= int(re.search(r"(\d+) times or more", note)[1])


def close(found, expected, tolerance=1e-4):
    """Tell whether two trees are the same but for the last digits of their numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=tolerance)
    return found == expected


@pytest.fixture(scope="module")
def shown():
    """Return all that pages show, as the model answers now."""
    return json.loads(json.dumps(writing.answered()))


def test_the_pages_show_what_the_model_answers(shown):
    stored = json.loads(ANSWERED.read_text(encoding="utf-8"))
    assert close(stored, shown), "run python -m tests.live_page"


def test_every_box_of_the_book_has_its_case(root):
    pages = [*(root / "book").glob("*.md"), *(root / "notebooks").glob("*.ipynb")]
    text = "\n".join(page.read_text(encoding="utf-8").replace("\\n", "\n") for page in pages)
    directives = {"case": "live-probe", "front": "front-fact", "fact": "one-fact"}
    for kind, directive in directives.items():
        names = [line.split("} ")[1] for line in text.splitlines() if f"{{{directive}}} " in line]
        assert names
        assert all(answered(kind, name) for line in names for name in line.split())


def test_what_was_not_asked_is_refused():
    with pytest.raises(UserError, match=r"no case 'x': choose from flipped, distracted,"):
        answered("case", "x")


STATES = [
    ("Ask", Question("P17", "Lyon", way="sentence")),
    ("Say <b>first", Question("P17", "Lyon", way="sentence", context="Italy")),
]


@pytest.fixture(scope="module")
def page():
    return form(front.fact(STATES))


def test_each_state_has_a_button_and_its_own_bars(page):
    assert re.findall(
        r'<input type="radio" name="front-fact" id="(front-\d)"( checked)?>', page
    ) == [("front-0", " checked"), ("front-1", "")]
    for at, (_, asked) in enumerate(STATES):
        expected = answers(asked).set_index("object")["probability"]
        row = re.search(r'<th scope="row">France</th>.*?style="([^"]+)"', page)[1]
        assert f"--p{at}:{100 * expected['France']:.2f}%" in row
    assert page.index("France</th>") < page.index("Italy</th>")  # the truth first


def test_words_are_escaped(page):
    assert "Say &lt;b&gt;first" in page
    assert "<b>" not in page


def test_the_prompt_of_each_state_is_shown(page):
    assert '<span class="front-at-0"><q>Lyon is located in</q></span>' in page
    assert '<span class="front-at-1"><q>Italy. Lyon is located in</q></span>' in page


@pytest.fixture(scope="module")
def readings(shown):
    return [one_fact.Reading(**reading) for reading in shown["fact"][writing.FACT]]


def test_each_study_reads_the_fact_as_it_does_elsewhere(readings):
    assert [reading.study for reading in readings] == list(STUDIES)
    every = datasets.load("atlas")
    lists = STUDIES["latent_knowledge"]
    model = models.load(one_fact.MODEL, device="cpu")
    separator = Question().separator  # the live page writes lists as IC-LKE does
    answers = lists.ask(model, every[every["fact"] == "P17-0243"], separator=separator)
    totals = answers["logprobs"].map(sum)
    rank = 1 + (totals > totals[answers["correct"]].iloc[0]).sum()
    reading = readings[list(STUDIES).index("latent_knowledge")]
    assert reading.known == (rank == 1)
    assert rank == 1 or f"France is number {rank} " in reading.result


def test_prompts_are_those_that_the_model_reads(readings):
    shown = {reading.study: reading.prompts for reading in readings}
    assert shown["monitor"][0] == "Which country is Lyon in?"
    assert shown["monitor"][2].endswith(". Which country is Lyon in?")
    assert shown["latent_knowledge"][0].endswith(" ⏎ Lyon:")


def test_readings_are_escaped_and_linked(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "book" / "_ext"))
    text = importlib.import_module("facts_shown").reading("monitor", ["<i>"], "a & b", None)
    assert "<code>&lt;i&gt;</code>" in text
    assert "a &amp; b" in text
    assert 'href="chapters/monitor.html"' in text
    assert "undefined" in text


def test_an_unknown_fact_is_refused():
    with pytest.raises(UserError, match="has no fact"):
        one_fact.through("P17-9999")
