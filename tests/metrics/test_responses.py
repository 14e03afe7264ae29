"""Kinds of responses: the rules on labelled responses, and what spells the same."""

from pathlib import Path
from random import Random

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, datasets
from helpers.metrics import responses
from helpers.metrics.canonical import canonical_answer, contains_answer, same_answer


@pytest.fixture(scope="module")
def labelled():
    path = Path(__file__).with_name("labelled_responses.csv")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    found = [
        responses.response_kind(text, q)
        for q, text in zip(table["question"], table["text"])
    ]
    return table.assign(
        found=["informative" if kind == "wrong" else kind for kind in found]
    )


def test_there_are_enough_labelled_responses(labelled):
    assert len(labelled) >= 60
    assert labelled["kind"].value_counts().min() >= 15
    assert set(labelled["kind"]) == {"repetition", "none", "unsure", "informative"}
    assert not labelled.duplicated(["question", "text"]).any()


@pytest.mark.parametrize("kind", responses.UNINFORMATIVE_KINDS)
def test_precision_and_recall_of_each_kind(labelled, kind):
    said, is_so = labelled["found"] == kind, labelled["kind"] == kind
    precision, recall = (
        (said & is_so).sum() / said.sum(),
        (said & is_so).sum() / is_so.sum(),
    )
    print(f"{kind}: precision {precision:.3f}, recall {recall:.3f}, n = {is_so.sum()}")
    assert precision >= 0.9
    assert recall >= 0.9


def test_an_answer_is_rarely_taken_for_none(labelled):
    answers = labelled[labelled["kind"] == "informative"]
    assert (answers["found"] != "informative").mean() <= 0.05


def test_agreement_with_labels_given_before_the_rules_were_run():
    """The labels rest on question and response alone; the rule before agreed in 86."""
    path = Path(__file__).with_name("smollm2_chat_responses.csv")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    kinds = [
        responses.response_kind(text, question)
        for question, text in zip(table["question"], table["response"], strict=True)
    ]
    informative = pd.Series(kinds).replace("wrong", "informative")
    assert len(table) == 100
    assert (informative == table["kind"]).sum() == 95
    # No answer is taken for silence: the five others say nothing, and count as wrong.
    assert (informative[table["kind"] == "informative"] == "informative").all()


BARE = ("It is [Y].", "[Y]", "The answer is [Y].")


@pytest.fixture(scope="module")
def wrong_sentences():
    """Return a wrong object of its relation in every template, as a response."""
    facts = datasets.load("atlas")
    frames = datasets.prompt_frames("atlas")
    random = Random(0)
    rows = []
    for relation, of_relation in facts.groupby("relation"):
        templates = frames[frames["relation"] == relation].groupby("kind")["template"]
        questions = list(templates.get_group("qa"))
        statements = [*templates.get_group("wp"), *templates.get_group("fc"), *BARE]
        right = of_relation.groupby("subject")["object"].agg(set)
        for subject in random.sample(sorted(right.index), 4):
            wrong = sorted(set(of_relation["object"]) - right[subject])
            for answer in random.sample(wrong, min(3, len(wrong))):
                for statement in statements:
                    question = random.choice(questions).replace("[X]", subject)
                    text = statement.replace("[X]", subject).replace("[Y]", answer)
                    rows.append((relation, question, answer, text))
    return pd.DataFrame(rows, columns=["relation", "question", "answer", "text"])


def test_a_wrong_answer_in_any_sentence_of_the_atlas_is_wrong(wrong_sentences):
    assert wrong_sentences["relation"].nunique() == 30
    assert len(wrong_sentences) > 5000
    pairs = zip(wrong_sentences["text"], wrong_sentences["question"], strict=True)
    kinds = [responses.response_kind(text, question) for text, question in pairs]
    others = wrong_sentences[pd.Series(kinds) != "wrong"]
    # Alone these codes are placeholders, and "is No. Answer:" holds "no answer".
    assert set(others["answer"].str.casefold().str.strip(".")) <= {"na", "nan", "no"}


CODE = "What is the ISO 639-1 code of the Lao language?"
HOLDER = "Which river flows through Lima?"


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        (CODE, "The ISO 639-1 code of the Lao language is zza.", "wrong"),
        (CODE, "The ISO 639-1 code of the Lao language is", "none"),
        (CODE, "I think the ISO 639-1 code of the Lao language is the", "none"),
        # Codes that are spelt as words of grammar are.
        (CODE, "The ISO 639-1 code of the Lao language is be.", "wrong"),
        (CODE, "The ISO 639-1 code of the Lao language is IS", "wrong"),
        (CODE, "The ISO 639-1 code of the Lao language is .is", "wrong"),
        (CODE, "THE ISO 639-1 CODE OF THE LAO LANGUAGE IS", "none"),
        (CODE, "The ISO 639-1 code of the Lao language is not known.", "unsure"),
        (CODE, ".na", "wrong"),
        (CODE, "NA", "none"),
        (HOLDER, "The answer to this question depends on many things", "none"),
        (HOLDER, "It is a matter of opinion.", "none"),
        (HOLDER, "I think it is a place", "none"),
        (HOLDER, "It depends.", "none"),
        (HOLDER, "The answer is: which river flows through Lima", "none"),
        (HOLDER, "The answer is the Rímac", "wrong"),
        (HOLDER, "I think no river flows through Lima", "wrong"),
        (HOLDER, "The Way It Is", "wrong"),  # capitals of a title
        ("Is Peru or Chile larger?", "I think it is Peru", "wrong"),
        ("Is Peru or Chile larger?", "Peru is larger than Chile", "wrong"),
    ],
)
def test_a_word_that_is_new_answers_unless_it_is_a_filler(question, text, kind):
    assert responses.response_kind(text, question) == kind


CASES = yaml.safe_load(
    Path(__file__).with_name("spellings.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "answers"), CASES["one_answer"])
def test_spellings_of_one_answer(text, answers):
    assert same_answer(text, answers)
    assert contains_answer(f"It is {text}, surely", answers) or text[0] in "Aat"


@given(st.integers(0, 999), st.integers(0, 99), st.integers(1, 3))
def test_zeros_that_end_the_decimals_of_a_first_number_do_not_count(whole, part, n):
    zeros = "0" * n
    assert same_answer(f"{whole}.{part:02d}{zeros} m", [f"{whole}.{part:02d} m"])
    assert same_answer(f"{whole}.{zeros}", [str(whole)])


@pytest.mark.parametrize(("text", "answers"), CASES["another_answer"])
def test_answers_that_differ(text, answers):
    assert not same_answer(text, answers)


@given(st.integers(0, 10**9 - 1))
def test_every_number_in_words_is_that_number(number):
    assert canonical_answer(in_words(number)) == str(number)
    assert canonical_answer(f"{number:,}") == str(number)


def in_words(number):
    """Spell a number, independently of the reader under test."""
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
    ]
    small += [
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
    ]
    small += ["eighteen", "nineteen"]
    tens = [
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
    ]
    if number < 20:
        return small[number]
    if number < 100:
        rest = f"-{small[number % 10]}" if number % 10 else ""
        return tens[number // 10 - 2] + rest
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {in_words(number % size)}" if number % size else ""
            return f"{in_words(number // size)} {name}{rest}"
    raise AssertionError


@given(st.dates())
def test_every_way_to_write_a_date(day):
    ways = [
        f"{day:%d %B} {day.year:04d}",
        f"{day:%B} {day.day}, {day.year:04d}",
        day.isoformat(),
    ]
    ways += [
        f"{day.day} {day:%b}. {day.year:04d}",
        f"the {day:%d} of {day:%B} {day.year:04d}",
    ]
    assert {canonical_answer(way) for way in ways} == {day.isoformat()}


WORDS = (
    "nineteen twenty eighty four one half point million hundred thousand and a the of"
    " third quarters 2 1.5 3,000 1/2 ½ 2½ - minus percent may 14 1972 5m oh . , St. U.S."
    " nobody Knows ** \\\\text{ } $ [1]"
)
SPOKEN = st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)


@given(st.text(max_size=30) | SPOKEN)
def test_canonical_is_its_own_spelling_and_kinds_are_known(text):
    spelling = canonical_answer(text)
    assert canonical_answer(spelling) == spelling
    if spelling and "<" not in text:  # which may begin a mark
        assert same_answer(spelling, [text])
    assert responses.response_kind(text, "Who?", ["x"]) in responses.RESPONSE_KINDS


@given(st.lists(st.sampled_from(["lima", "the", "of"]), min_size=1, max_size=3))
def test_anything_four_times_in_a_row_is_a_repetition(words):
    assert responses.is_repetition(" ".join(words * 4))


@given(st.text("abcde", min_size=1, max_size=12))
def test_letters_echoed_inside_a_word_are_a_repetition(letters):
    times = 6 if len(letters) < 5 else 4
    assert responses.is_repetition(f"in {letters * times}s")


@pytest.mark.parametrize("said", ["parisparisparis", "banananana", "hotshotshotshots"])
def test_a_word_that_holds_its_letters_three_times_is_none(said):
    assert not responses.is_repetition(said)


def test_twenty_words_with_fewer_than_six_different_are_a_repetition():
    words = ["Paris", "Lima", "Rome", "Oslo", "Bern"]
    said = (words + words[::-1]) * 2
    assert responses.is_repetition(" ".join(said))
    assert not responses.is_repetition(" ".join(said[:-1]))
    assert not responses.is_repetition(" ".join([*said[:-1], "Bonn"]))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which river flows", "none"),  # three of the question's five words, the fewest
        ("Which river", "wrong"),
        ("Which river flows through Lima? It flows through Lima", "none"),
        ("Which river flows through Lima? Which river flows through Bern", "wrong"),
    ],
)
def test_a_question_again_says_nothing(text, kind):
    assert responses.response_kind(text, "Which river flows through Lima?") == kind


def test_correct_comes_before_all_other_rules():
    assert responses.response_kind("Unsure", "What is doubt?", ["unsure"]) == "correct"
    assert responses.response_kind("Paris, France", "", ["Paris"]) == "wrong"
    assert (
        responses.response_kind("Paris, France", "", ["Paris"], match="contains")
        == "correct"
    )


def test_the_key_decides_and_the_paper_calls_nothing_unseen_correct():
    texts = pd.DataFrame(
        {
            "text": ["Lima", "Lima", "unsure"],
            "question": ["Capital of Peru?"] * 3,
            "answers": [["Lima"], ["Lima"], ["Lima"]],
            "seen": [True, False, True],
        },
        index=[5, 6, 7],
    )
    marked = responses.mark_responses(texts)
    assert marked["label"].tolist() == ["correct", "correct", "uninformative"]
    defined = responses.unseen_guesses_as_wrong(marked)
    assert defined["label"].tolist() == ["correct", "wrong", "uninformative"]
    assert defined.index.tolist() == [5, 6, 7]


def test_a_judge_changes_only_wrong_answers_about_seen_knowledge():
    kinds = ["wrong", "wrong", "unsure", "correct"]
    marked = pd.DataFrame({"seen": [True, False, True, True], "kind": kinds})
    judged = responses.apply_judge_verdicts(marked, pd.Series(True, index=[0, 1, 2]))
    assert judged["kind"].tolist() == ["correct", "wrong", "unsure", "correct"]
    assert judged["label"].tolist() == ["correct", "wrong", "uninformative", "correct"]


def test_a_table_without_texts_is_refused():
    with pytest.raises(UserError, match="lacks the column text"):
        responses.mark_responses(
            pd.DataFrame({"question": ["Who?"], "answers": [["b"]]})
        )


def test_no_response_has_no_kind():
    columns = ["text", "question", "answers", "seen"]
    marked = responses.mark_responses(pd.DataFrame(columns=columns))
    assert list(marked) == [*columns, "kind", "label"]
    assert list(responses.response_kind_shares(marked, marked["seen"])) == [
        *responses.RESPONSE_KINDS,
        "n",
    ]


def test_unknown_rules_are_refused():
    with pytest.raises(UserError, match='not by "fuzzy"'):
        responses.response_kind("a", match="fuzzy")


@pytest.mark.parametrize(("text", "kind"), CASES["kinds"])
def test_thoughts_and_refusals_of_today_and_of_other_languages(text, kind):
    assert responses.response_kind(text, "Which city is it?", ["Paris"]) == kind
