"""Logs of other tools: joined by document, refused where they differ, and what is said."""

import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import UserError
from helpers.exchange import logs
from helpers.exchange.logs import logged_documents
from helpers.io import files
from tests.tool_logs import (
    CITY_OPTIONS,
    LOG_FILE_STAMP,
    OPTION_LOGPROBS,
    inspect_sample,
    lm_eval_choice_line,
    lm_eval_text_line,
    pack_by_zstandard,
    write_inspect_archive,
    write_lighteval_details,
    write_lm_eval_log,
    write_three_runs,
)


def options(table):
    """Return the chosen options by document, one a log."""
    return table.groupby("item", sort=False)["option"].agg(list).to_dict()


def test_choices_of_the_harness_are_joined_by_hash(tmp_path):
    paths = write_three_runs(tmp_path)
    lines = paths[1].read_text().splitlines(keepends=True)
    paths[1].write_text("".join(reversed(lines)))
    log = logs.read_logs(paths)
    table = log.table
    assert list(table.columns) == logs.LOG_COLUMNS
    assert options(table) == {"a": [0, 0, 1], "b": [1, 2, 1], "c": [2, 2, 2]}
    assert table["right"].tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert table["text"].tolist()[:3] == ["Rome", "Rome", "New York"]
    assert set(table["relation"]) == {"capitals"}
    assert (log.notes, log.model, log.kind) == ([], "m", "choices")


def test_options_are_chosen_as_acc_and_acc_norm_do(tmp_path):
    # Sums: Rome. By character: Rome -4 / 4 = -1, New York -6 / 8 = -0.75. A tie is no
    # answer, and agrees with no other.
    runs = [
        write_lm_eval_log(
            tmp_path / p,
            [
                lm_eval_choice_line("a", (-4, -6, -9), p),
                lm_eval_choice_line("b", (-4, -9, -4), p),
            ],
        )
        for p in "xy"
    ]
    assert options(logs.read_logs(runs).table) == {"a": [0, 0], "b": [4, 5]}
    assert options(logs.read_logs(runs, "per_character").table) == {
        "a": [1, 1],
        "b": [4, 5],
    }
    with pytest.raises(
        UserError,
        match="not tokens: rule is sum or per_character or per_byte, not 'mean'",
    ):
        logs.read_logs(runs, "mean")


def test_older_lines_texts_as_targets_and_baselines_of_prompts_are_read(tmp_path):
    old = lm_eval_choice_line("a", 1, "x", "Rome")
    old["arguments"] = [["x a?", f" {text}"] for text in CITY_OPTIONS]
    old["filtered_resps"] = [[score, False] for score in OPTION_LOGPROBS[1]]
    mutual = lm_eval_choice_line("a", 0, "y", "0")
    for i, said in enumerate(CITY_OPTIONS):
        mutual["arguments"][f"gen_args_{i + 3}"] = {"arg_0": "", "arg_1": f" {said}"}
    mutual["filtered_resps"] += [["-0.1", "False"]] * 3
    log = logs.read_logs(
        [
            write_lm_eval_log(tmp_path / "o", [old]),
            write_lm_eval_log(tmp_path / "m", [mutual]),
        ]
    )
    table = log.table
    assert options(table) == {"a": [1, 0]}
    assert table["right"].tolist() == [False, True]


def test_options_in_another_order_are_found_by_their_text(tmp_path):
    first = write_lm_eval_log(tmp_path / "x", [lm_eval_choice_line("a", 0, "x", "0")])
    turned = write_lm_eval_log(
        tmp_path / "y",
        [lm_eval_choice_line("a", 0, "y", "2", ("Oslo", "New York", "Rome"))],
    )
    assert options(logs.read_logs([first, turned]).table) == {"a": [0, 2]}
    letters = write_lm_eval_log(
        tmp_path / "z", [lm_eval_choice_line("a", 1, "z", "0", "ABC")]
    )
    assert options(logs.read_logs([first, letters]).table) == {"a": [0, 1]}
    moved = write_lm_eval_log(
        tmp_path / "w", [lm_eval_choice_line("a", 1, "w", "2", "ABC")]
    )
    with pytest.raises(
        UserError, match="another correct answer to a document than the first log"
    ):
        logs.read_logs([first, moved])


def test_documents_that_a_run_lacks_are_counted(tmp_path):
    first = write_lm_eval_log(
        tmp_path / "x", [lm_eval_choice_line(doc, 0, "x") for doc in "abca"]
    )
    other = write_lm_eval_log(
        tmp_path / "y",
        [lm_eval_choice_line(doc, 0, "y") for doc in "bcd"],
        task="capitals_v2",
    )
    log = logs.read_logs([first, other])
    table = log.table
    assert options(table) == {"b": [0, 0], "c": [0, 0]}
    assert log.notes == [
        f"{first.name} has 1 documents once more: the first counts.",
        "The tasks have different names (capitals, capitals_v2) and the same documents.",
        "2 of 4 documents are left out, because some log lacks them.",
    ]


def test_generated_answers_are_right_by_the_logs_own_mark(tmp_path):
    first = write_lm_eval_log(
        tmp_path / "x",
        [
            lm_eval_text_line("a", " Rome.", 1.0, "x"),
            lm_eval_text_line("b", "Bonn", 0.0, "x"),
        ],
    )
    lines = [
        lm_eval_text_line("a", "Paris", 0.0, "y", filter=f)
        for f in ("strict", "flexible")
    ]
    other = write_lm_eval_log(
        tmp_path / "y",
        [*lines, lm_eval_text_line("b", "Rome", True, "y", filter="strict")],
        model="",
    )
    log = logs.read_logs([first, other])
    table = log.table
    assert table["text"].tolist() == [" Rome.", "Paris", "Bonn", "Rome"]
    assert table["right"].tolist() == [True, False, False, True]
    assert log.kind == "texts"
    notes = "\n".join(log.notes)
    assert (
        f"{other.name} has answers by the filters strict, flexible: the first." in notes
    )
    assert "1 of 2 logs do not name their model" in notes


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "n"}, r"of different models \(m, n\)"),
        ({"sha": "abc"}, r"of different models \(m, m@abc\)"),
        (
            {"lines": [lm_eval_choice_line("a", 0, "y", options=CITY_OPTIONS[:2])]},
            "has 2 options .* log has 3",
        ),
        ({"lines": [lm_eval_choice_line("z", 0, "y")]}, "share no document"),
        (
            {"lines": [lm_eval_choice_line("a", 1, "x")]},
            "have the same prompts, so they are one run",
        ),
        (
            {"lines": [lm_eval_text_line("a", "Rome", 1, "y")]},
            r"different kinds of answers \(choices, texts\)",
        ),
        (
            {"lines": [lm_eval_text_line("a", "Rome", 0.4, "y", metric="bleu")]},
            "0.4 for bleu, neither right",
        ),
        (
            {"lines": [lm_eval_choice_line("a", 0, "y", "[0, 1]")]},
            r"target '\[0, 1\]', which is not one of",
        ),
        (
            {
                "lines": [
                    lm_eval_choice_line("a", 0, "y")
                    | {"filtered_resps": [["-1", "True"]]}
                ]
            },
            "neither opt",
        ),
        ({"lines": []}, "is empty"),
        (
            {"lines": [{"doc_hash": "a"}]},
            "line 1 lacks target, arguments, resps, filtered_resps",
        ),
    ],
)
def test_logs_that_do_not_belong_together_are_refused(change, sentence, tmp_path):
    first = write_lm_eval_log(tmp_path / "x", [lm_eval_choice_line("a", 0, "x")])
    given = {"lines": [lm_eval_choice_line("a", 0, "y")]} | change
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([first, write_lm_eval_log(tmp_path / "y", **given)])


def test_the_logs_own_mark_may_differ_where_it_says_something_else(tmp_path):
    kept = [
        lm_eval_choice_line(
            "a", (-2, -2, -3), "z", "1", acc=1.0
        ),  # a tie, which either may win
        lm_eval_choice_line("c", 1, "z", "1", acc_norm=0.0),  # acc counts
    ]
    log = logs.read_logs([write_lm_eval_log(tmp_path / "z", kept)])
    table = log.table
    assert table["right"].tolist() == [False, True]


def several_true(labels, target="0", choices=CITY_OPTIONS, **more):
    """Return a line of a task such as truthfulqa_mc2: labels, and a target for all."""
    line = lm_eval_choice_line("a", 1, "x", target, **more)
    line["doc"]["mc2_targets"] = {"choices": list(choices), "labels": labels}
    return line


def without_acc(line, **metrics):
    """Return a line with other metrics."""
    del line["acc"]
    return line | {"metrics": list(metrics)} | metrics


STAND_INS = [
    (lm_eval_choice_line("b", 1, "z", "0", acc=0.88), "has 0.88 for acc, neither"),
    (lm_eval_choice_line("b", 1, "z", "0", acc="0.25"), "0.25 for acc"),
    (lm_eval_choice_line("b", 1, "z", "1", acc_norm=0.5), "0.5 for acc_norm"),
    (without_acc(several_true([1, 1, 0]), mc2=0.7), "calls 2 of its options correct"),
    (without_acc(lm_eval_choice_line("b", 1, "z"), mc2=0.7), "0.7 for mc2"),
    (several_true([1, 1, 0], acc=0.0), "its target only stands in for them"),
    (several_true([0, 1, 0], acc=0.0), "calls 1 of its options correct"),
    (several_true(["1", "0", "1"], acc=0.0), "its target only stands in for them"),
    (
        several_true([1, 1, 0], choices=CITY_OPTIONS[::-1], acc=0.0),
        "its target only stands in for them",
    ),
]


@pytest.mark.parametrize(("line", "sentence"), STAND_INS)
def test_a_target_that_stands_in_for_several_is_refused(line, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([write_lm_eval_log(tmp_path / "x", [line])])


def documented(**fields):
    """Return a line whose document has further fields; its target is 0."""
    line = lm_eval_choice_line("a", 1, "x")
    line["doc"] |= {"choices": list(CITY_OPTIONS)} | fields
    return line


SEVERAL = "calls 2 of its options correct"
HIDDEN = "a test set whose answers are hidden"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (documented(gold_indices=[0, 2]), SEVERAL),
        (documented(more={"gold_index": ["0", "2"]}), SEVERAL),
        (documented(answers=["Rome", "Oslo"]), SEVERAL),
        (documented(is_correct=[True, False, True]), SEVERAL),
        (documented(label=""), HIDDEN),
        (documented(answerKey=None), HIDDEN),
        (documented(label=-1, answer=""), HIDDEN),
        (documented() | {"target": "-1"}, "whose answers are hidden"),
        (documented() | {"target": "None"}, "whose answers are hidden"),
    ],
)
def test_documents_of_several_or_hidden_keys_are_refused(line, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([write_lm_eval_log(tmp_path / "x", [line])])


def test_documents_of_one_key_are_read(tmp_path):
    lines = [
        documented(gold_indices=[0], label="0"),
        documented(answers=list(CITY_OPTIONS), label="A"),  # all that there are
        documented(label="", answer=0),
        documented(label=["1", "2", "3"]),  # names of the options, as in ARC
    ]
    for number, line in enumerate(lines):
        line["doc_hash"] = str(number)
    log = logs.read_logs([write_lm_eval_log(tmp_path / "x", lines)])
    assert (log.table["answer"].tolist(), log.notes) == ([0] * 4, [])


def test_a_target_of_two_readings_goes_by_the_mark_or_is_said(tmp_path):
    """The text of option 0 is the number of option 1."""
    lines = [
        lm_eval_choice_line("a", 0, "x", "1", NUMBERS, acc=1.0),
        lm_eval_choice_line("b", 1, "x", "1", NUMBERS, acc=1.0),
        lm_eval_choice_line("c", 0, "x", 1, NUMBERS, acc=0.0),
        lm_eval_choice_line("d", 2, "x", "1", NUMBERS, acc=0.0),
    ]
    path = write_lm_eval_log(tmp_path / "x", lines)
    log = logs.read_logs([path])
    assert log.table["answer"].tolist() == [0, 1, 1, 1]
    assert log.table["right"].tolist() == [True, True, False, False]
    assert log.notes == [
        f"{path.name} has 1 documents whose target is the number of one option and the "
        "text of another: the number counts."
    ]


def test_labels_that_agree_with_the_target_are_read(tmp_path):
    lines = [
        several_true([0, 1, 0], "1"),
        # Labels of other texts than the options are another task's.
        several_true([1, 1], "1", ("Rome", "Roma")) | {"doc_hash": "b"},
        without_acc(lm_eval_choice_line("c", 1, "x", "1")),
    ]
    path = write_lm_eval_log(tmp_path / "x", lines)
    log = logs.read_logs([path])
    assert log.table["right"].tolist() == [True, True, True]
    assert log.notes == [
        f"{path.name} has 1 documents without an acc that confirms their target."
    ]


def test_options_that_tie_are_no_answer_and_agree_with_no_other(tmp_path):
    """Of a, no run has an answer; of b, one; c is a tie of two, an answer of no run."""
    paths = []
    for k in range(3):
        lines = [
            lm_eval_choice_line("a", (-2, -2, -2), f"p{k}"),
            lm_eval_choice_line("b", (-2, -2, -2) if k else 0, f"p{k}"),
            lm_eval_choice_line("c", (-1, -1, -2), f"p{k}"),
        ]
        paths.append(write_lm_eval_log(tmp_path / str(k), lines))
    log = logs.read_logs(paths)
    assert options(log.table) == {"a": [4, 5, 6], "b": [0, 5, 6], "c": [4, 5, 6]}
    assert (
        log.table["right"].tolist() == [False] * 3 + [True, False, False] + [False] * 3
    )
    texts = log.table["text"].tolist()
    assert texts[:4] == [*[logs.inspect_ai.NO_OPTION] * 3, "Rome"]
    said = "documents with equal scores at the top: this is no answer"
    for path, n_tied in zip(paths, (2, 3, 3), strict=True):
        assert any(f"{path.name} has {n_tied} {said}" in note for note in log.notes)


def test_older_logs_are_read_by_their_metrics(tmp_path):
    """No key `metrics`, and in the first versions no hash of the document either."""
    first = lm_eval_text_line("a", "Rome", 1.0, "x")
    second = lm_eval_text_line("b", "Rome", 0, "x", metric="em", prompt_hash="p")
    for line in (first, second):
        del line["metrics"], line["filter"]
    log = logs.read_logs([write_lm_eval_log(tmp_path / "x", [first, second])])
    assert log.table["right"].tolist() == [True, False]
    choice = lm_eval_choice_line("a", 0, "x")
    new = write_lm_eval_log(tmp_path / "new", [choice | {"doc_hash": HASH_OF_Q_A}])
    del choice["metrics"], choice["doc_hash"]
    old = write_lm_eval_log(tmp_path / "old", [choice])
    other = lm_eval_choice_line("a", 0, "y")
    del other["doc_hash"]
    other = write_lm_eval_log(tmp_path / "other", [other])
    assert logs.read_logs([old]).table["right"].tolist() == [True]
    assert options(logs.read_logs([new, other]).table) == {HASH_OF_Q_A: [0, 0]}
    nameless = choice | {"doc": {}}
    with pytest.raises(UserError, match="lacks doc_hash and doc"):
        logs.read_logs([write_lm_eval_log(tmp_path / "no", [nameless])])


# Of {"q": "a"} as lm-evaluation-harness hashes it: JSON indented by two.
HASH_OF_Q_A = "cf82500da083ef81a919adc6551ce1fc93a0df7de6b886e033c42ab05d05a908"


def several_metrics(doc, prompt="x"):
    """Return a line of a task such as truthfulqa_gen."""
    more = {"metrics": ["bleu_max", "bleu_acc", "rouge1_acc"]}
    return (
        lm_eval_text_line(
            doc, "Rome", 15.6, prompt, metric="bleu_max", bleu_acc=1, rouge1_acc="0.0"
        )
        | more
    )


def test_a_metric_can_be_named(tmp_path):
    path = write_lm_eval_log(tmp_path / "x", [several_metrics("a")])
    with pytest.raises(
        UserError, match=r"15\.6 for bleu_max.*: bleu_acc, rouge1_acc\."
    ):
        logs.read_logs([path])
    with pytest.raises(UserError, match=r"no metric 'em': .*: bleu_acc, rouge1_acc"):
        logs.read_logs([path], metric="em")
    with pytest.raises(UserError, match=r"15\.6 for bleu_max, neither"):
        logs.read_logs([path], metric="bleu_max")
    for metric, right in (("bleu_acc", True), ("rouge1_acc", False)):
        log = logs.read_logs([path], metric=metric)
        assert log.table["right"].tolist() == [right]
        assert log.notes == []
    choices = write_lm_eval_log(
        tmp_path / "c", [lm_eval_choice_line("a", (-4, -6, -9), "x")]
    )
    assert options(logs.read_logs([choices], metric="acc").table) == {"a": [0]}
    assert options(logs.read_logs([choices], metric="acc_norm").table) == {"a": [1]}
    with pytest.raises(UserError, match="name one of acc, acc_norm, acc_bytes"):
        logs.read_logs([choices], metric="f1")
    with pytest.raises(UserError, match="choose options differently: give one"):
        logs.read_logs([choices], "per_byte", "acc_norm")


def test_which_of_several_metrics_counts_is_said(tmp_path):
    line = lm_eval_text_line("a", "Rome", 1.0, "x", metric="em", contains=0.0)
    path = write_lm_eval_log(
        tmp_path / "x", [line | {"metrics": ["em", "contains", "bleu"], "bleu": 0.5}]
    )
    assert logs.read_logs([path]).notes == [
        f"{path.name} is marked by em, contains: em counts; --metric names another."
    ]


def test_a_scorer_of_inspect_can_be_named(tmp_path):
    scores = {
        "f1": {"value": 0.4, "answer": "Roma"},
        "match": {"value": "C", "answer": "Rome"},
        "judge": {"value": {"kind": 0.5, "true": 0}, "answer": "Rom"},
    }
    sample = inspect_sample("q", "", "C", choices=None, target="Rome", scores=scores)
    path = write_inspect_archive(tmp_path / "1.eval", [sample])
    with pytest.raises(UserError, match=r"0\.4 for f1, .*: match, judge/true"):
        logs.read_logs([path])
    for metric, right, text in (("match", True, "Rome"), ("judge/true", False, "Rom")):
        table = logs.read_logs([path], metric=metric).table
        assert table[["right", "text"]].values.tolist() == [[right, text]]


def sentences(
    place, target=0, chosen=0, frames="{} is the capital.", prompt="", **more
):
    """Return a line of a task such as BEAR: no prompt, and sentences as options."""
    texts = [frames.format(option) for option in CITY_OPTIONS]
    line = lm_eval_choice_line(place, chosen, "", str(target), texts, **more)
    for asked in line["arguments"].values():
        asked["arg_0"] = prompt
    return line


def test_empty_prompts_are_read(tmp_path):
    lines = [sentences("a", prompt=" "), sentences("b", 1)]
    first = write_lm_eval_log(tmp_path / "x", lines)
    other = [sentences("a", 0, 2, "It is {}."), sentences("b", 1, 1, "It is {}.")]
    second = write_lm_eval_log(tmp_path / "y", other)
    log = logs.read_logs([first, second])
    assert options(log.table) == {"a": [0, 2], "b": [0, 1]}
    assert log.table["right"].tolist() == [True, False, False, True]
    assert log.table["text"].tolist()[:2] == ["Rome is the capital.", "It is Oslo."]
    with pytest.raises(UserError, match="have the same prompts"):
        logs.read_logs([first, write_lm_eval_log(tmp_path / "z", [sentences("a")])])


def test_empty_prompts_with_their_own_baseline_are_read_once(tmp_path):
    line = sentences("a", 0, 1)
    asked = list(line["arguments"].values())
    line["arguments"] = {f"gen_args_{k}": each for k, each in enumerate(asked * 2)}
    line["filtered_resps"] *= 2
    path = write_lm_eval_log(tmp_path / "x", [line | {"acc_mutual_info": 0.0}])
    assert options(logs.read_logs([path]).table) == {"a": [1]}


def test_empty_prompts_of_lighteval_are_read(tmp_path):
    frames = {"x": "{} is it.", "y": "It is {}."}
    paths = []
    for place, frame in frames.items():
        choices = [frame.format(option) for option in CITY_OPTIONS]
        row = ("1", "", choices, 1, (-2, -1, -3))
        paths.append(write_lighteval_details(tmp_path / place, [row]))
    table = logs.read_logs(paths).table
    assert table["right"].tolist() == [True, True]
    assert table["text"].tolist() == ["New York is it.", "It is New York."]


def exchange_line(item, raw, right, prompt="x", reference="Rome", **more):
    """Return a line as Every Eval Ever 0.2 writes it: texts, not lists."""
    return {
        "schema_version": "0.2.0",
        "evaluation_id": "lab/m/1",
        "model_id": "lab/m",
        "evaluation_name": "capitals",
        "sample_id": item,
        "input": {"raw": f"{prompt} {item}", "reference": reference} | more,
        "output": {"raw": raw},
        "answer_attribution": [],
        "evaluation": {"score": float(right), "is_correct": right},
    }


def write_exchange_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_texts_for_lists_are_read(tmp_path):
    free = [exchange_line("a", "Rome", True), exchange_line("b", "Oslo", False)]
    table = logs.read_logs([write_exchange_lines(tmp_path / "f.jsonl", free)]).table
    assert table["text"].tolist() == ["Rome", "Oslo"]
    assert table["right"].tolist() == [True, False]
    choices = {"choices": list(CITY_OPTIONS)}
    chosen = [
        exchange_line("a", "Oslo", False, **choices),
        exchange_line("b", "The answer: B", True, reference="New York", **choices),
        exchange_line("c", "1", True, reference="1", **choices),
        exchange_line("d", "Who knows", False, **choices),
    ]
    log = logs.read_logs([write_exchange_lines(tmp_path / "c.jsonl", chosen)])
    assert log.table["option"].tolist() == [2, 1, 1, 4]
    assert log.table["right"].tolist() == [False, True, True, False]
    assert log.notes == [
        "c.jsonl has 1 answers that name no option: they count as wrong and agree with "
        "no other."
    ]
    partly = exchange_line("a", "Oslo", False, **choices)
    partly["evaluation"]["score"] = 0.88
    with pytest.raises(
        UserError, match=r"has the score 0\.88, neither right nor wrong"
    ):
        logs.read_logs([write_exchange_lines(tmp_path / "p.jsonl", [partly])])


@pytest.mark.parametrize(
    ("mark", "right"), [("false", False), ("True", True), (0, False), ("1.0", True)]
)
def test_marks_of_every_eval_ever_may_be_texts(tmp_path, mark, right):
    line = exchange_line("a", "Oslo", True)
    line["evaluation"] = {"score": 1.0, "is_correct": mark}
    path = write_exchange_lines(tmp_path / "x.jsonl", [line])
    assert logs.read_logs(path).table["right"].tolist() == [right]


@pytest.mark.parametrize("mark", ["no", 0.3, "perhaps"])
def test_marks_that_are_neither_right_nor_wrong_are_refused(tmp_path, mark):
    line = exchange_line("a", "Oslo", True)
    line["evaluation"]["is_correct"] = mark
    with pytest.raises(UserError, match="for is_correct, neither right nor wrong"):
        logs.read_logs([write_exchange_lines(tmp_path / "x.jsonl", [line])])


def test_one_request_and_one_metric_need_no_list(tmp_path):
    line = lm_eval_text_line("a", "Rome", "true", "x")
    line |= {"arguments": ["Capital of Italy?", {"until": []}]}
    path = write_lm_eval_log(tmp_path / "x", [line | {"metrics": "exact_match"}])
    log = logs.load_logs(path, "sum", "")[0]
    assert log.rows["a"]["prompt"] == "Capital of Italy?"
    assert log.rows["a"]["right"] is True


def test_a_text_for_the_harness_list_of_answers_is_read(tmp_path):
    line = lm_eval_text_line("a", "Rome", 1.0, "x")
    line |= {"filtered_resps": "Rome", "resps": "Rome"}
    table = logs.read_logs([write_lm_eval_log(tmp_path / "x", [line])]).table
    assert table["text"].tolist() == ["Rome"]


def test_a_metric_of_every_eval_ever_goes_by_its_id(tmp_path):
    lines = []
    for name, right in (("loose", True), ("strict", False)):
        line = exchange_line("a", "Rome", right)
        lines.append(line | {"evaluation_result_id": name})
    path = write_exchange_lines(tmp_path / "x.jsonl", lines)
    log = logs.read_logs([path])
    assert log.table["right"].tolist() == [True]
    assert log.notes == [
        "x.jsonl is marked by loose, strict: loose counts; --metric names another."
    ]
    assert logs.read_logs([path], metric="strict").table["right"].tolist() == [False]
    with pytest.raises(UserError, match="no metric 'em': it has loose, strict"):
        logs.read_logs([path], metric="em")


def test_repeated_answers_are_kept_with_their_marks(tmp_path):
    said = [[" Rome.", "Rome", "Oslo"]], ["Rome"]
    several = lm_eval_text_line("a", "Rome", 1.0, "x") | dict(
        zip(("resps", "filtered_resps"), said)
    )
    changed = lm_eval_text_line("b", "oslo", 0.0, "x") | {
        "resps": [["It is Oslo", "Rome"]]
    }
    path = write_lm_eval_log(tmp_path / "x", [several, changed])
    assert logs.read_logs([path]).notes == [
        f"{path.name} has several answers to a prompt: the one it marks counts."
    ]
    log = logs.read_repeated_answers([path])
    table = log.table
    assert table["text"].tolist() == ["Rome", "oslo"]
    assert table["repeats"].tolist() == [[("Rome.", None), ("Oslo", None)], []]
    assert log.notes == []
    again = write_lm_eval_log(
        tmp_path / "again",
        [
            lm_eval_text_line("a", "Bonn", 0.0, "x"),
            lm_eval_text_line("b", "Rome", 0.0, "x"),
        ],
    )
    more = logs.read_repeated_answers([path, again]).table["repeats"].tolist()
    assert more == [
        [("Rome.", None), ("Oslo", None), ("Bonn", False)],
        [("Rome", False)],
    ]
    same = write_lm_eval_log(
        tmp_path / "same",
        [
            lm_eval_text_line("a", "Bonn", 0.0, "x"),
            lm_eval_text_line("b", "Rome", 0.0, "x"),
        ],
    )
    with pytest.raises(
        UserError, match="hold the same answers to all prompts, so they are one run"
    ):
        logs.read_repeated_answers([path, again, same])
    other = write_lm_eval_log(
        tmp_path / "other",
        [
            lm_eval_text_line("a", "Bonn", 0.0, "y"),
            lm_eval_text_line("b", "Rome", 0.0, "y"),
        ],
    )
    with pytest.raises(UserError, match="have different prompts"):
        logs.read_repeated_answers([path, other])
    with pytest.raises(UserError, match="no repeated answers that can be compared"):
        logs.read_repeated_answers([other])


def test_epochs_of_inspect_are_repeated_answers(tmp_path):
    asked = [
        inspect_sample("q1", "A", "C"),
        inspect_sample("q1", "B", "I", epoch=2),
        inspect_sample("q1", "A", "C", epoch=3),
        inspect_sample("q1", "C", "I", epoch=4, scores={}),
        inspect_sample("q2", "B", "I"),
    ]
    log = logs.read_repeated_answers(
        [write_inspect_archive(tmp_path / "1.eval", asked)]
    )
    table = log.table
    assert table["text"].tolist() == ["Rome", "New York"]
    assert table["repeats"].tolist() == [[("New York", False), ("Rome", True)], []]
    assert (log.notes, log.model, log.kind) == ([], "hf/m", "choices")


def within_prompts():
    line = lm_eval_choice_line("a", 0, "x")
    for i, asked in enumerate(line["arguments"].values()):
        asked |= {"arg_0": f"He said {i}", "arg_1": " yes"}
    return line


def scored(*scores):
    return lm_eval_choice_line("a", 0, "p") | {
        "filtered_resps": [[str(s), "True"] for s in scores]
    }


NUMBERS = ("1", "2", "3")  # as options: the target "1" is the second, or the first
BAD = {"no-log": r"give samples_\*.jsonl", "x.eval": r"x\.eval is not in its form"}
BAD |= {"x.parquet": "cannot be read"}
REFUSED = [  # a line of the harness, a sample of Inspect, or a file's name; and the sentence
    (within_prompts(), "puts its options into the prompt"),
    (scored("nan", -1, -2), "no log-probabilities"),
    (scored("inf", -1, -2), "no log-probabilities"),
    (scored(0.5, -1, -2), "no log-probabilities"),
    (scored(*["-inf"] * 3), "no log-probabilities"),
    (
        lm_eval_choice_line("a", 2, "x", "1", NUMBERS, acc=1.0),
        "has acc 1, against its scores and its target '1'",
    ),
    # By character New York is best, -6 / 8, not Rome, -4 / 4.
    (
        lm_eval_choice_line("a", (-4, -6, -9), "x", "1")
        | {"acc": None, "acc_norm": 0.0},
        "acc_norm 0, against",
    ),
    (
        inspect_sample("q1", "A", "I"),
        "sample q1 is marked I, against its answer and its target",
    ),
    (
        inspect_sample("q1", "A", "I", target=["A", "B"]),
        "it needs one letter of its choices",
    ),
    (inspect_sample("q1", "A", 0.5), r"0\.5 for choice, neither right nor wrong"),
    *BAD.items(),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED)
def test_what_is_no_log_that_fits_itself_is_refused(given, sentence, tmp_path):
    if isinstance(given, str):
        path = tmp_path / given
        path.write_bytes(b"PK")
    elif "doc" in given:
        path = write_lm_eval_log(tmp_path / "x", [given])
    else:
        path = write_inspect_archive(tmp_path / "1.eval", [given])
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([path])


def test_files_that_are_not_there_or_named_twice_are_refused(tmp_path):
    for paths, sentence in (
        (write_three_runs(tmp_path)[:1] * 2, "named twice"),
        ([], "No log is named"),
        ([tmp_path / "x.eval"], "cannot be read: No such file"),
    ):
        with pytest.raises(UserError, match=sentence):
            logs.read_logs(paths)


def test_choices_of_inspect_are_joined_by_id_whatever_their_order(tmp_path):
    turned = ("Oslo", "Rome", "New York")
    first = [
        inspect_sample("q1", "A", "C"),
        inspect_sample("q2", "B", "I"),
        inspect_sample("q3", "C", "I"),
    ]
    second = [
        inspect_sample("q1", "B", "C", turned, "B", "other"),
        inspect_sample("q2", "", "N", turned, "B", "other"),
        inspect_sample("q2", "A", "I", turned, "B", "other", epoch=2),
        inspect_sample("q3", "A", "I", turned, "B", "other", scores={}),
    ]
    log = logs.read_logs([
        write_inspect_archive(tmp_path / "1.eval", first),
        write_inspect_archive(tmp_path / "2.eval", second, head="_journal/start.json"),
    ])  # fmt: skip
    table = log.table
    assert list(options(table).values()) == [[0, 0], [1, 5]]
    assert table["right"].tolist() == [True, True, False, False]
    assert table["text"].tolist() == [
        "Rome",
        "Rome",
        "New York",
        logs.inspect_ai.NO_OPTION,
    ]
    assert log.notes == [
        "2.eval has 1 answers of later epochs: the first epoch counts.",
        "2.eval has 1 samples without a score.",
        "2.eval has 1 answers that name no option: they count as wrong and agree with "
        "no other.",
        "2.eval is of a run that did not come to its end (its status is started): 2 "
        "documents with a score count, of a data set of unknown.",
        "1 of 3 documents are left out, because some log lacks them.",
    ]


def test_generated_answers_of_inspect_are_read_from_json_too(tmp_path):
    free = {"choices": None, "scores": {"match": {"value": "C", "answer": "Rome"}}}
    said = {"choices": None, "output": {"completion": " Bonn"}}
    said["scores"] = {"match": {"value": "I", "answer": None}}
    first = write_inspect_archive(
        tmp_path / "1.eval", [inspect_sample("q1", "", "C", target="Rome", **free)]
    )
    about = {"task": "capitals", "model": "hf/m"}
    other = tmp_path / "2.json"
    row = inspect_sample("q1", "", "C", target="Rome", prompt="other", **said)
    other.write_text(json.dumps({"eval": about, "samples": [row]}))
    log = logs.read_logs([first, other])
    table = log.table
    assert table["text"].tolist() == ["Rome", " Bonn"]
    assert table["right"].tolist() == [True, False]
    with pytest.raises(UserError, match=r"of different models \(hf/m, hf/n\)"):
        logs.read_logs(
            [other, write_inspect_archive(tmp_path / "3.eval", [row], model="hf/n")]
        )


def inspect_quiz(path, questions, targets="AB", **more):
    """Write a log whose samples are numbered from 1, each with the options of all."""
    samples = []
    for number, (question, target) in enumerate(zip(questions, targets, strict=True)):
        said = {
            "input": question,
            "target": target,
            "prompt": f"{path.name} {question}",
        }
        samples.append(inspect_sample(number, "A", "CI"["AB".index(target)], **said))
    return write_inspect_archive(path, samples, **more)


ASKED = ["Which country is Lyon in?", "Which country is Lima in?"]


def test_an_id_alone_names_no_document(tmp_path):
    """Rows 0 and 1 of another quiz have the same options and answers."""
    first = inspect_quiz(tmp_path / "1.eval", ASKED)
    other = inspect_quiz(tmp_path / "2.eval", ["Is iron heavy?", "Is water wet?"])
    sentence = r"share ids and no question: one asks .*Lyon.* and .*iron"
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([first, other])
    partly = inspect_quiz(tmp_path / "3.eval", [ASKED[0], "Is water wet?"])
    log = logs.read_logs([first, partly])
    assert log.table["item"].nunique() == 1
    assert log.notes == [
        '3.eval has 1 other questions under ids of the first log, such as "Which '
        'country is Lima in?" and "Is water wet?": they are left out.',
        "1 of 2 documents are left out, because some log lacks them.",
    ]


def test_a_document_goes_by_its_text_wherever_it_stands(tmp_path):
    """In reverse order, in other case and blanks: ids 0 and 1 are each other's."""
    first = inspect_quiz(tmp_path / "1.eval", ASKED, "AA")
    turned = [f"{question.upper()} \u200b" for question in reversed(ASKED)]
    other = inspect_quiz(tmp_path / "2.eval", turned, "AA")
    log = logs.read_logs([first, other])
    assert log.notes == []
    assert (
        log.table["item"].tolist() == np.repeat(log.table["item"].unique(), 2).tolist()
    )
    assert logs.load_logs([first, other], "sum", "")[1].rows.keys() == set(
        log.table["item"]
    )


@pytest.mark.parametrize(
    "reworded",
    [
        ["In what country is Lyon?", "In what country is Lima?"],
        ["Lyon ist wo?", "Lima ist wo?"],
        [f"Oslo: Norway. {question}" for question in ASKED],
        ["the same", "the same"],  # which says nothing of either
    ],
)
def test_other_words_under_one_id_are_joined_and_said(tmp_path, reworded):
    first = inspect_quiz(tmp_path / "1.eval", ASKED)
    other = inspect_quiz(tmp_path / "2.eval", reworded)
    log = logs.read_logs([first, other])
    assert log.table["item"].nunique() == 2
    [note] = log.notes
    assert note.startswith(
        "2.eval asks 2 of 2 documents in other words than the first log, such as "
        '"Which country is Lyon in?" and "'
    )


def test_scripts_without_blanks_share_letters(tmp_path):
    first = inspect_quiz(tmp_path / "1.eval", ["法国的首都是哪里", "秘鲁的首都是哪里"])
    other = inspect_quiz(tmp_path / "2.eval", ["哪里是法国的首都", "哪里是秘鲁的首都"])
    assert logs.read_logs([first, other]).table["item"].nunique() == 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"idx": 1, "q": "Lyon?"}, {"idx": 7, "q": "Lyon? "}, True),
        ({"idx": {"question": 1}, "q": "Lyon?"}, {"q": "Lyon?"}, True),
        ({"question_id": 1, "q": "Lyon?"}, {"Record ID": "x", "q": "Lyon?"}, True),
        ({"q": {"id": 3, "text": "Lyon?"}}, {"q": {"text": "Lyon?"}}, True),
        ({"q": "Lyon?"}, {"q": "Lima?"}, False),
        ({"id": 1}, {"id": 2}, False),
        ({"id": "Lyon", "label": 1}, {"id": "Lima", "label": 1}, False),
    ],
)
def test_numbers_of_rows_are_no_part_of_a_document(one, other, same):
    questions = {logged_documents.question_of_document(row) for row in (one, other)}
    assert (len(questions) == 1) == same


def test_targets_that_differ_in_case_are_one(tmp_path):
    first = write_lm_eval_log(
        tmp_path / "1", [lm_eval_text_line("a", "Rome", 1.0, "x", "Rome")]
    )
    other = write_lm_eval_log(
        tmp_path / "2", [lm_eval_text_line("a", "Bonn", 0.0, "y", "rome ")]
    )
    assert logs.read_logs([first, other]).table["right"].tolist() == [True, False]


def test_archives_packed_by_zstandard_are_read(tmp_path):
    paths = []
    for prompt, letter in (("p", "A"), ("q", "C")):
        mark = {"A": "C", "C": "I"}[letter]
        path = write_inspect_archive(
            tmp_path / f"{prompt}.eval",
            [inspect_sample("q1", letter, mark, prompt=prompt)],
        )
        pack_by_zstandard(path)
        with zipfile.ZipFile(path) as made:
            assert {each.compress_type for each in made.infolist()} == {
                files.ZSTANDARD_COMPRESSION
            }
        paths.append(path)
    assert list(options(logs.read_logs(paths).table).values()) == [[0, 2]]


def test_ties_are_said_and_bytes_can_choose(tmp_path):
    # By character -2 against -1.5, by byte -2 / 2 against -6 / 4.
    lines = [
        lm_eval_choice_line("a", (-2, -6, -9), "p", options=["é", "Lima", "x"]),
        lm_eval_choice_line("b", (-1, -1, -2), "p"),
    ]
    path = write_lm_eval_log(tmp_path / "log", lines)
    assert options(logs.read_logs([path], "per_character").table)["a"] == [1]
    log = logs.read_logs([path], "per_byte")
    table = log.table
    assert options(table)["a"] == [0]
    assert any(
        "1 documents with equal" in note for note in logs.read_logs([path]).notes
    )


def test_details_of_lighteval_are_read_like_samples_of_the_harness(tmp_path):
    def run(name, prompt, first):
        rows = [
            ("0", f"{prompt} a?", CITY_OPTIONS, 0, OPTION_LOGPROBS[first]),
            ("1", prompt, CITY_OPTIONS, 2, OPTION_LOGPROBS[2]),
        ]
        return write_lighteval_details(tmp_path / name, rows)

    runs = [run("x", "x", 0), run("y", "y", 1)]
    log = logs.read_logs(runs)
    table = log.table
    assert list(options(table).values()) == [[0, 1], [2, 2]]
    assert table["right"].tolist() == [True, False, True, True]
    assert (log.model, log.kind) == ("org/m", "choices")
    [note] = log.notes
    assert "asks 2 of 2 documents in other words than the first log" in note
    assert set(table["relation"]) == {"capitals|0"}
    said = write_lighteval_details(
        tmp_path / "z", [("0", "a?", ("Rome",), 0, ["Rome", " Oslo"])]
    )
    assert logs.read_repeated_answers([said]).table["repeats"].tolist() == [
        [("Oslo", None)]
    ]
    with pytest.raises(UserError, match="have the same prompts, so they are one run"):
        logs.read_logs([runs[0], run("again", "x", 0)])


def older_lines(prompt, *choices):
    """Return lines as lm-eval 0.4.0 to 0.4.2 logs them: no hash, metrics or filter."""
    lines = []
    for number, chosen in enumerate(choices):
        line = lm_eval_choice_line(f"d{number}", chosen, prompt)
        requests = [list(asked.values()) for asked in line["arguments"].values()]
        for name in ("doc_hash", "metrics", "filter"):
            del line[name]
        lines.append(line | {"arguments": requests, "target": int(line["target"])})
    return lines


@pytest.mark.parametrize(
    "name",
    [
        "pretrained__org__m_capitals.jsonl",
        f"samples_capitals_{LOG_FILE_STAMP}.json",  # of the Open LLM Leaderboard
    ],
)
@pytest.mark.parametrize("indent", [2, None])
def test_logs_that_are_one_list_are_read(tmp_path, name, indent):
    paths = []
    for prompt, choices in (("x", (0, 1)), ("y", (0, 0))):
        path = tmp_path / prompt / name
        path.parent.mkdir()
        path.write_text(json.dumps(older_lines(prompt, *choices), indent=indent))
        about = {"config": {"model_args": "pretrained=org/m"}}
        (path.parent / "results.json").write_text(json.dumps(about))
        about = {"model_name": "pretrained=org/m"}
        results = path.with_name(f"results_{LOG_FILE_STAMP}.json")
        results.write_text(json.dumps(about))
        paths.append(path)
    log = logs.read_logs(paths)
    assert list(options(log.table).values()) == [[0, 0], [1, 0]]
    assert (log.notes, log.model) == ([], "pretrained=org/m")
    assert set(log.table["relation"]) == {"capitals"}


def test_lines_in_a_file_that_ends_in_json_are_read(tmp_path):
    path = write_lm_eval_log(tmp_path / "x", [lm_eval_choice_line("a", 0, "x")])
    renamed = path.rename(path.with_suffix(".json"))
    assert options(logs.read_logs([renamed]).table) == {"a": [0]}
    renamed.write_text('{"results": {}, "config": {}}')
    with pytest.raises(UserError, match=r"line 1 lacks target.*; it has results"):
        logs.read_logs([renamed])


def write_inspect_file(path, samples, **more):
    """Write a log of Inspect in one file, as its first versions did."""
    about = {"task": "capitals", "model": "hf/m", "dataset": {"samples": 5}}
    path.write_text(json.dumps({"eval": about, "samples": samples} | more, indent=1))
    return path


def test_the_one_score_of_older_inspect_is_read(tmp_path):
    choice = inspect_sample("q1", "A", "C")
    choice["score"] = choice.pop("scores")["choice"]
    path = write_inspect_file(tmp_path / "1.json", [choice])
    assert logs.read_logs([path]).table["right"].tolist() == [True]
    answer = {"choices": [{"message": {"role": "assistant", "content": "Bonn"}}]}
    text = choice | {"choices": None, "output": answer}
    text["score"] = {"value": "I", "answer": None}
    path = write_inspect_file(tmp_path / "2.json", [text])
    table = logs.read_logs([path]).table
    assert table[["text", "right"]].values.tolist() == [["Bonn", False]]


def test_a_run_that_failed_is_said(tmp_path):
    samples = [
        inspect_sample("q1", "A", "C"),
        inspect_sample("q2", "A", "C", error={"message": "boom"}),
        inspect_sample("q3", "A", "C", scores=None),
    ]
    path = write_inspect_file(tmp_path / "1.json", samples, status="error")
    log = logs.read_logs([path])
    assert log.table["right"].tolist() == [True]
    assert log.notes == [
        "1.json has 2 samples without a score.",
        "1.json is of a run that did not come to its end (its status is error): 1 "
        "documents with a score count, of a data set of 5.",
    ]
    for none in (None, []):
        path = write_inspect_file(tmp_path / "2.json", none, status="error")
        with pytest.raises(UserError, match=r"holds no samples, .* the status error"):
            logs.read_logs([path])


def write_older_details(folder, rows, as_text=True):
    """Write details as lighteval 0.6 to 0.9 does: lists are Python's texts of them."""
    place = folder / "details/org/m" / LOG_FILE_STAMP
    place.mkdir(parents=True)
    records = []
    for row in rows:
        record = {"example": "", "instruction": "", "specifics": None, "gold": []}
        record |= {"choices": [], "gold_index": []} | row
        if as_text:
            record = {name: str(value) for name, value in record.items()}
        records.append(record)
    path = place / f"details_capitals|0_{LOG_FILE_STAMP}.parquet"
    pq.write_table(pa.Table.from_pylist(records), path)
    return path


def older_choice(question, prompt, predictions, gold=0):
    row = {"example": question, "full_prompt": f"{prompt} {question}"}
    row |= {"choices": [f" {text}" for text in CITY_OPTIONS], "gold_index": [gold]}
    best = max(range(3), key=lambda number: predictions[number][0])
    return row | {"predictions": predictions, "metrics": {"acc": float(best == gold)}}


def test_details_of_older_lighteval_are_read(tmp_path):
    best = [(-1.0, True), (-2.0, False), (-3.0, False)]
    runs = [
        write_older_details(
            tmp_path / prompt,
            [older_choice("a?", prompt, first), older_choice("b?", prompt, best, 1)],
        )
        for prompt, first in (("x", best), ("y", best[::-1]))
    ]
    log = logs.read_logs(runs)
    assert list(options(log.table).values()) == [[0, 2], [0, 0]]
    assert log.table["right"].tolist() == [True, False, False, False]
    assert (log.notes, log.model, log.kind) == ([], "org/m", "choices")
    numbers = older_choice("a?", "x", best) | {"predictions": [-1.0, -2.0, -3.0]}
    numbers["specifics"] = {"level": 1}
    path = write_older_details(tmp_path / "native", [numbers], as_text=False)
    assert logs.read_logs([path]).table["option"].tolist() == [0]
    text = {"example": "a?", "full_prompt": "x a?", "gold": ["Rome"]}
    text |= {"predictions": ["Rome.", "Oslo"], "metrics": {"em": 1.0}}
    path = write_older_details(tmp_path / "text", [text])
    table = logs.read_repeated_answers([path]).table
    assert table[["text", "right"]].values.tolist() == [["Rome.", True]]
    assert table["repeats"].tolist() == [[("Oslo", None)]]
    short = older_choice("a?", "x", best) | {"predictions": best[:2]}
    with pytest.raises(UserError, match="2 predictions that are no texts, for 3 opt"):
        logs.read_logs([write_older_details(tmp_path / "short", [short])])
