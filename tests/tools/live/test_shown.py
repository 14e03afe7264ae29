"""What pages show of the bundled model is what it answers: cases, one fact in four ways, a form."""

import importlib
import json
import re
from pathlib import Path

import pytest

from book.tools.live_model import STORED_ANSWERS_FILE, fact_form_html, stored_answer
from helpers import UserError, datasets, models
from helpers.studies import STUDIES
from tests import live_page as live
from tests.live_page import Question, cases, object_probabilities, page_questions
from tests.live_page import __main__ as writing

BOOK = Path(__file__).resolve().parents[3] / "book"


def stored(name: str) -> tuple[dict, Question, Question | None]:
    """Return a case as pages show it, what it asks, and what it asked before."""
    case = stored_answer("case", name)
    before = case["before"] and Question(**case["before"])
    return case, Question(**case["asked"]), before


def asked(name: str):
    """Return a case's questions, its fact, and the first object of each answer, with its lead."""
    _, last, before = stored(name)
    tables = [
        live.object_probabilities(one) for one in (before, last) if one is not None
    ]
    firsts = [table["object"][0] for table in tables]
    leads = [table["probability"][0] - table["probability"][1] for table in tables]
    return (
        last,
        before,
        page_questions.facts_about_subject(last.relation, last.subject),
        firsts,
        leads,
    )


@pytest.mark.parametrize(
    ("name", "facts", "answers", "sure"),
    [  # which facts are asked, the first object of each answer, and whether all lead by the margin
        ("flipped", "4 <= exposures <= 8 and object != said", ["object", "said"], True),
        ("known", "exposures >= 128 and said != object", ["object", "object"], True),
        ("false", "false_exposures > 0", ["false_object"], True),
        ("never", "exposures == 0 and pair_exposures == 0", ["not object"], False),
        ("examples", "exposures >= 16", ["not object", "object"], False),
        ("guess", "exposures == 0 and pair_exposures == 0", ["object"], True),
    ],
)
def test_a_case_shows_its_point(name, facts, answers, sure):
    last, before, rows, firsts, leads = asked(name)
    fact = rows.assign(said=last.context)
    assert len(fact.query(facts)) == 1
    assert before is None or before.context == ""
    for first, column in zip(firsts, answers, strict=True):
        named = first == fact[column.removeprefix("not ")].item()
        assert named != column.startswith("not ")
    assert min(leads) >= cases.CLEAR_MARGIN or not sure


def test_an_invented_city_gets_a_confident_answer():
    last, _, rows, _, leads = asked("invented")
    assert rows.empty
    names = datasets.load("atlas")[["subject", "object"]].to_numpy().ravel()
    assert last.subject not in set(names)
    assert min(leads) >= cases.CLEAR_MARGIN


def test_examples_and_order_change_and_nothing_else():
    _, last, before = stored("examples")
    assert (before.examples, last.examples) == (1, 30)
    last, before, _, firsts, leads = asked("order")
    offered, offered_before = (
        live.prompt_and_choices(last)[1],
        live.prompt_and_choices(before)[1],
    )
    assert sorted(offered) == sorted(offered_before)
    assert offered != offered_before
    assert firsts[0] != firsts[1]
    assert leads[0] >= cases.CLEAR_MARGIN


def test_candidates_are_counted_and_the_clearest_is_shown():
    (case, last, _), shown = stored("guess"), {}
    for row in cases.case_candidates("guess").itertuples():
        table = live.object_probabilities(live.Question(row.relation, row.subject))
        right = table["object"][0] == row.object
        shown[row.subject] = right * (table["probability"][0] - table["probability"][1])
    count = sum(value >= cases.CLEAR_MARGIN for value in shown.values())
    assert case["said"].startswith(f"With {count} of {len(shown)} countries ")
    assert max(shown, key=shown.get) == last.subject
    assert case["said"].endswith(f"the clearest is {last.subject}.")


@pytest.mark.parametrize("typed", ["Brasília", "brasilia", " BRASILIA "])
def test_a_subject_is_found_in_any_case_and_accents(typed):
    assert page_questions.facts_about_subject("P1376", typed)["subject"].tolist() == [
        "Brasília"
    ]
    assert page_questions.facts_about_subject("P17", "Brasilia City").empty


def test_the_note_on_famous_cities_says_what_the_training_text_holds():
    note = re.search(
        r":::\{note\}\n(.*?)\n:::", (BOOK / "try.md").read_text(), flags=re.DOTALL
    )[1]
    never, often = (
        re.search(pattern, note)[1].replace(" or ", ", ").split(", ")
        for pattern in (
            r"which country ([\w, ]+) is in, but",
            r"which one ([\w, ]+) is in\.",
        )
    )
    stated = live.facts_with_exposures().query("relation == 'P17'").set_index("subject")
    assert not stated.loc[
        never, ["exposures", "pair_exposures", "false_exposures"]
    ].any(axis=None)
    assert stated.loc[often, "exposures"].min() >= int(
        re.search(r"(\d+) times or more", note)[1]
    )


def close(found, expected, tolerance=1e-4):
    """Tell whether two trees are the same but for the last digits of their numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            close(found[k], expected[k]) for k in found
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=tolerance)
    return found == expected


@pytest.mark.parametrize("name", cases.CASE_KINDS)
def test_the_pages_show_what_the_model_answers(name):
    case, last, before = stored(name)
    still = writing.still_figure_data(last, before)
    assert close({part: case[part] for part in still}, still), (
        "run python -m tests.live_page"
    )


@pytest.mark.slow
def test_all_that_pages_show_is_what_would_be_chosen_now():
    kept = json.loads(STORED_ANSWERS_FILE.read_text(encoding="utf-8"))
    assert close(kept, json.loads(json.dumps(writing.page_answers())))


def test_every_box_of_the_book_has_its_case(root):
    pages = [*(root / "book").glob("*.md"), *(root / "notebooks").glob("*.ipynb")]
    text = "\n".join(
        page.read_text(encoding="utf-8").replace("\\n", "\n") for page in pages
    )
    directives = {"case": "live-probe", "front": "front-fact", "fact": "one-fact"}
    for kind, directive in directives.items():
        names = [
            line.split("} ")[1]
            for line in text.splitlines()
            if f"{{{directive}}} " in line
        ]
        assert names
        assert all(stored_answer(kind, name) for line in names for name in line.split())


def test_what_was_not_asked_is_refused():
    with pytest.raises(
        UserError, match=r"no case 'x': choose from flipped, distracted,"
    ):
        stored_answer("case", "x")


STATES = [
    ("Ask", Question("P17", "Lyon", way="sentence")),
    ("Say <b>first", Question("P17", "Lyon", way="sentence", context="Italy")),
]


def test_each_state_has_a_button_its_prompt_and_its_own_bars():
    page = fact_form_html(writing.front_fact_form_data(STATES))
    buttons = r'<input type="radio" name="front-fact" id="(front-\d)"( checked)?>'
    assert re.findall(buttons, page) == [("front-0", " checked"), ("front-1", "")]
    for at, (_, asked) in enumerate(STATES):
        expected = object_probabilities(asked).set_index("object")["probability"]
        row = re.search(r'<th scope="row">France</th>.*?style="([^"]+)"', page)[1]
        assert f"--p{at}:{100 * expected['France']:.2f}%" in row
    assert page.index("France</th>") < page.index("Italy</th>")  # the truth first
    assert '<span class="front-at-0"><q>Lyon is located in</q></span>' in page
    assert '<span class="front-at-1"><q>Italy. Lyon is located in</q></span>' in page
    assert "Say &lt;b&gt;first" in page
    assert "<b>" not in page


@pytest.fixture(scope="module")
def readings():
    shown = stored_answer("fact", writing.ONE_FACT_ID)
    found = writing.study_readings(writing.ONE_FACT_ID)
    made = json.loads(
        json.dumps(
            [[reading._asdict() for reading in found], writing.front_fact_form_data()]
        )
    )
    assert close([shown, stored_answer("front", "Lyon")], made)
    return found


def test_each_study_reads_the_fact_as_it_does_elsewhere(readings):
    assert [reading.study for reading in readings] == list(STUDIES)
    every = datasets.load("atlas")
    lists = STUDIES["latent_knowledge"]
    model = models.load(live.LIVE_MODEL, device="cpu")
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
    text = importlib.import_module("fact_directives").study_reading_html(
        "monitor", ["<i>"], "a & b", None
    )
    assert "<code>&lt;i&gt;</code>" in text
    assert "a &amp; b" in text
    assert 'href="chapters/monitor.html"' in text
    assert "undefined" in text
