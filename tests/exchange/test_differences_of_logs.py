"""Two models' logs: paired by document, compared by hand and with statsmodels."""

import json

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from helpers import UserError, cli
from helpers.exchange import multiplicity_of_logs
from helpers.exchange.differences_of_logs import differences_of_logs
from helpers.exchange.logs import chat_templates
from tests.tool_logs import (
    CITY_OPTIONS,
    inspect_sample,
    lm_eval_choice_line,
    lm_eval_text_line,
    write_inspect_archive,
    write_lighteval_details,
    write_lm_eval_log,
)


def lines_of_marks(marks, prompt="p", about=(), start=0):
    """Return a line for each mark: option 0 is correct, and 1 chosen where wrong."""
    lines = []
    for number, mark in enumerate(marks, start):
        line = lm_eval_choice_line(f"d{number}", int(not mark), prompt)
        for name, values in dict(about).items():
            line["doc"][name] = values[number]
        lines.append(line)
    return lines


def write_marks(folder, marks, model="", task="capitals", **more):
    """Write a log of lm-evaluation-harness with these marks."""
    return write_lm_eval_log(folder, lines_of_marks(marks, **more), task, model)


# Of 60 documents both are right in 20, the first alone in 22, the second alone in 6.
FIRST = [1] * 20 + [1] * 22 + [0] * 6 + [0] * 12
SECOND = [1] * 20 + [0] * 22 + [1] * 6 + [0] * 12


def test_a_difference_that_is_there_by_hand(tmp_path):
    """(42 - 26) / 60; variance (28 - 16² / 60) / 59; McNemar of 22 and 6."""
    first = write_marks(tmp_path / "a", FIRST, "big")
    second = write_marks(tmp_path / "b", SECOND, "small")
    compared = differences_of_logs([first], [[second]])
    assert compared.notes == []
    [row] = compared.table.to_dict("records")
    assert (row["model"], row["beside"], row["measure"]) == ("big", "small", "accuracy")
    assert (row["first"], row["second"]) == pytest.approx((42 / 60, 26 / 60))
    assert row["difference"] == pytest.approx(16 / 60)
    error = ((28 - 16**2 / 60) / 59 / 60) ** 0.5
    reach = scipy.stats.t.ppf(0.975, 59) * error
    assert (row["low"], row["high"]) == pytest.approx(
        (16 / 60 - reach, 16 / 60 + reach)
    )
    assert row["low"] > 0
    assert row["mcnemar"] == mcnemar([[20, 22], [6, 12]], exact=True).pvalue
    assert row["mcnemar"] == pytest.approx(2 * scipy.stats.binom.cdf(6, 28, 0.5))
    power = scipy.stats.t.ppf(0.975, 59) + scipy.stats.t.ppf(0.8, 59)
    assert row["detectable"] == pytest.approx(power * error)
    assert (row["n"], row["clusters"], row["holm"]) == (60, 0, row["p"])
    turned = differences_of_logs([second], [[first]]).table.iloc[0]
    assert turned["difference"] == -row["difference"]
    assert turned["low"] == pytest.approx(-row["high"])


def test_a_difference_that_is_not_there_and_one_as_good_as_none(tmp_path):
    """Each is right alone in 8 of 60, and of 6,000 in 60: the margin holds the last."""
    cases = ((60, 8, "no"), (6000, 60, "yes"))
    for n, alone, equivalent in cases:
        rest = n - 2 * alone
        first = [1] * alone + [0] * alone + [1] * rest
        second = [0] * alone + [1] * alone + [1] * rest
        paths = [
            write_marks(tmp_path / f"a{n}", first, "big"),
            write_marks(tmp_path / f"b{n}", second, "small"),
        ]
        row = differences_of_logs(paths[:1], [paths[1:]], margin=0.02).table.iloc[0]
        assert row["difference"] == 0
        assert row["low"] < 0 < row["high"]
        assert (row["p"], row["mcnemar"]) == pytest.approx((1, 1))
        assert row["equivalent"] == equivalent
    with pytest.raises(UserError, match=r"margin is -0\.1: give"):
        differences_of_logs(paths[:1], [paths[1:]], margin=-0.1)


def test_models_without_a_name_and_models_of_one_name(tmp_path):
    paths = [write_marks(tmp_path / name, FIRST) for name in "ab"]
    row = differences_of_logs(paths[:1], [paths[1:]]).table.iloc[0]
    assert (row["model"], row["beside"]) == ("first", "beside 1")
    same = [write_marks(tmp_path / f"{name}2", FIRST, "m") for name in "ab"]
    row = differences_of_logs(same[:1], [same[1:]]).table.iloc[0]
    assert (row["model"], row["beside"]) == ("m (1)", "m (2)")
    with pytest.raises(UserError, match="A log is on both sides"):
        differences_of_logs(paths[:1], [paths[:1]])
    other = write_marks(tmp_path / "n", FIRST, "n", start=100)
    with pytest.raises(UserError, match=r"first are of different models \(m, n\)"):
        differences_of_logs([same[0], other], [paths[:1]])


def test_pairs_go_by_the_document_and_those_without_a_partner_are_named(tmp_path):
    lines = lines_of_marks([1, 0, 1, 0, 1])
    other = lines_of_marks([0, 0, 0, 1], start=1)
    # The same hash with another question, other options, another correct answer.
    other[1]["doc"] = {"q": "another"}
    other[2] = lm_eval_choice_line("d3", 1, "p", options=("Rome", "Bonn", "Oslo"))
    other.reverse()
    first = write_lm_eval_log(tmp_path / "a", lines, model="big")
    second = write_lm_eval_log(tmp_path / "b", other, model="small")
    compared = differences_of_logs([first], [[second]])
    row = compared.table.iloc[0]
    assert (row["n"], row["first"], row["second"]) == (2, 0.5, 0.5)  # d1 and d4
    assert compared.notes == [
        "capitals: 1 of 5 documents of big have other options, or another correct "
        'answer, in the logs of small, and are left out, such as {"q": "d3"}.',
        "capitals: 2 of 5 documents of big are not in the logs of small, and are left "
        'out, such as {"q": "d0"}; {"q": "d2"}.',
        "capitals: 1 of 4 documents of small have other options, or another correct "
        'answer, in the logs of big, and are left out, such as {"q": "d3"}.',
        "capitals: 1 of 4 documents of small are not in the logs of big, and are left "
        'out, such as {"q": "another"}.',
    ]
    one = write_lm_eval_log(tmp_path / "c", lines[:1], model="small")
    with pytest.raises(UserError, match="1 documents in common, and two are needed"):
        differences_of_logs([first], [[one]])
    none = write_marks(tmp_path / "d", [1, 1], start=50)
    with pytest.raises(UserError, match="no document in common, by its question"):
        differences_of_logs([first], [[none]])


def test_row_numbers_of_inspect_are_no_documents(tmp_path):
    """Ids 1 and 2 name other questions in the second log, with the same options."""
    first = [inspect_sample(1, "A", "C"), inspect_sample(2, "B", "I")]
    second = [
        inspect_sample(1, "A", "C", input="2?"),
        inspect_sample(2, "A", "C", input="1?"),
        inspect_sample(3, "A", "C", input="1?", target="B", scores={}),
    ]
    paths = [
        write_inspect_archive(tmp_path / "a.eval", first, "hf/a"),
        write_inspect_archive(tmp_path / "b.eval", second, "hf/b"),
    ]
    compared = differences_of_logs(paths[:1], [paths[1:]])
    row = compared.table.iloc[0]
    assert (row["n"], row["first"], row["second"]) == (2, 0.5, 1.0)
    changed = [inspect_sample(k, "A", "C", input=f"{k + 2}?") for k in (1, 2)]
    other = write_inspect_archive(tmp_path / "c.eval", changed, "hf/c")
    with pytest.raises(UserError, match="no document in common"):
        differences_of_logs(paths[:1], [[other]])


def test_numbers_of_rows_and_blanks_are_no_other_document(tmp_path):
    """Another version of a data set has other row numbers and blanks at the end."""
    lines = lines_of_marks([1, 0, 1], about={"idx": [0, 1, 2]})
    others = lines_of_marks([0, 0, 1], about={"idx": [9, 8, 7]})
    for number, line in enumerate(others):
        line["doc_hash"] = f"other{number}"
        line["doc"]["q"] += " "
    first = write_lm_eval_log(tmp_path / "a", lines, model="big")
    second = write_lm_eval_log(tmp_path / "b", others[::-1], model="small")
    row = differences_of_logs([first], [[second]]).table.iloc[0]
    assert (row["n"], row["first"], row["second"]) == (3, 2 / 3, 1 / 3)


def test_ids_of_messages_are_no_other_document(tmp_path):
    """Inspect draws an id for each message anew."""
    paths = []
    for model, letter in (("a", "A"), ("b", "B")):
        samples = []
        for number in (1, 2):
            content = [{"type": "text", "text": f"Question {number}?"}]
            asked = [{"id": f"{model}{number}", "role": "user", "content": content}]
            mark = {"A": "C", "B": "I"}[letter]
            sample = inspect_sample(number, letter, mark, input=asked)
            samples.append(sample | {"messages": []})
        path = tmp_path / f"{model}.eval"
        paths.append(write_inspect_archive(path, samples, f"hf/{model}"))
    compared = differences_of_logs(paths[:1], [paths[1:]])
    row = compared.table.iloc[0]
    assert (row["n"], row["first"], row["second"]) == (2, 1.0, 0.0)
    assert compared.notes == []


def test_an_id_breaks_ties_of_documents_that_say_the_same(tmp_path):
    """Two documents are asked twice; each goes with its own hash."""
    lines = lines_of_marks([1, 0])
    for line in lines:
        line["doc"] = {"q": "twice"}
    first = write_lm_eval_log(tmp_path / "a", lines, model="big")
    second = write_lm_eval_log(tmp_path / "b", lines[::-1], model="small")
    row = differences_of_logs([first], [[second]]).table.iloc[0]
    assert (row["n"], row["mcnemar"], row["difference"]) == (2, 1.0, 0.0)


def test_clusters_that_a_log_names_widen_the_interval(tmp_path):
    """Six documents a subject, all alike within it: as few as the subjects."""
    subjects = [f"s{number // 6}" for number in range(60)]
    first = np.repeat([1, 1, 1, 1, 1, 1, 0, 1, 0, 0], 6)
    second = np.repeat([1, 0, 0, 0, 1, 0, 1, 0, 0, 0], 6)
    about = {"subject": subjects, "level": [1] * 60, "place": list(range(60))}
    first_path = write_marks(tmp_path / "a", first, "big", about=about)
    second_path = write_marks(tmp_path / "b", second, "small", about=about)
    compared = differences_of_logs([first_path], [[second_path]])
    row = compared.table.iloc[0]
    test = scipy.stats.ttest_rel(first[::6], second[::6])
    assert row["clusters"] == 10
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["low"] == pytest.approx(test.confidence_interval().low)
    assert np.isnan(row["mcnemar"])
    assert compared.notes == [
        "capitals: 60 documents in 10 clusters by subject; with fewer than 40, the "
        "interval may be too narrow, above all where they differ in size."
    ]
    partly = {"passage": [*range(30), *[None] * 30]} | about
    marked = [
        write_marks(tmp_path / f"{k}", first, str(k), about=partly) for k in (1, 2)
    ]
    notes = differences_of_logs(marked[:1], [marked[1:]]).notes
    assert notes[0] == (
        "capitals: 30 of 60 documents have no passage, so it names no clusters."
    )
    paths = [first_path], [[second_path]]
    alone = differences_of_logs(*paths, cluster="none")
    assert alone.table.iloc[0]["high"] < row["high"]
    assert alone.notes == []
    for name, sentence in (
        ("passage", "have no field 'passage'; they have q, subject, level, place"),
        ("place", "'place' names no clusters"),
        ("level", "'level' names no clusters"),
    ):
        with pytest.raises(UserError, match=sentence):
            differences_of_logs(*paths, cluster=name)


def test_forty_clusters_are_enough_for_no_warning(tmp_path):
    about = {"passage": [f"s{number // 2}" for number in range(80)]}
    marks = np.arange(80) % 3 > 0, np.arange(80) % 5 > 0
    paths = [
        write_marks(tmp_path / str(k), marks[k], f"m{k}", about=about) for k in (0, 1)
    ]
    compared = differences_of_logs(paths[:1], [paths[1:]])
    assert compared.notes == ["capitals: 80 documents in 40 clusters by passage."]


def test_several_models_and_tasks_are_adjusted_after_holm(tmp_path):
    generator = np.random.default_rng(0)
    sides = []
    for model, share in (("a", 0.8), ("b", 0.6), ("c", 0.7)):
        paths = []
        for start, task in ((0, "capitals"), (100, "rivers")):
            marks = generator.random(50) < share
            folder = tmp_path / model / task
            paths.append(write_marks(folder, marks, model, task, start=start))
        sides.append(paths)
    only = write_marks(tmp_path / "only", [1, 0], "c", "lakes", start=200)
    compared = differences_of_logs([*sides[0]], [sides[1], [*sides[2], only]])
    table = compared.table
    assert table[["beside", "task"]].to_numpy().tolist() == [
        ["b", "capitals"],
        ["b", "rivers"],
        ["c", "capitals"],
        ["c", "rivers"],
    ]
    assert table["holm"].tolist() == pytest.approx(
        multipletests(table["p"], method="holm")[1]
    )
    with_lakes = [*sides[0], write_marks(tmp_path / "x", [1, 0], "a", "x", start=300)]
    compared = differences_of_logs(with_lakes, [sides[1]])
    assert compared.notes == [
        "x of a has no document in common with the logs of b: it is left out."
    ]


PLAIN = "Question: d?\nAnswer:"
CHAT_PROMPTS = [
    f"<|im_start|>system\nYou are kind.<|im_end|>\n<|im_start|>user\n{PLAIN}<|im_end|>\n"
    "<|im_start|>assistant\n",
    f"<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\n{PLAIN} [/INST]",
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday is new.<|eot_id|>"
    f"<|start_header_id|>user<|end_header_id|>\n\n{PLAIN}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    f"<bos><start_of_turn>user\n{PLAIN}<end_of_turn>\n<start_of_turn>model\n",
    f"<|user|>\n{PLAIN}</s>\n<|assistant|>\n<think>\n\n</think>\n",
    f"<｜begin▁of▁sentence｜><｜User｜>{PLAIN}<｜Assistant｜>",
]


@pytest.mark.parametrize("prompt", CHAT_PROMPTS)
def test_a_chat_template_is_told_from_what_it_holds(prompt):
    assert chat_templates.text_without_template(prompt) == "Question: d? Answer:"
    as_list = chat_templates.text_without_template(json.dumps(["Be kind.", prompt]))
    assert as_list == "Be kind. Question: d? Answer:"
    shot = prompt.replace(PLAIN, f"Question: e?\nAnswer: Rome\n\n{PLAIN}")
    assert chat_templates.text_without_template(shot) != "Question: d? Answer:"


def test_messages_of_chat_models_are_read_without_the_systems():
    turns = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": PLAIN},
    ]
    for prompt in (json.dumps(turns), json.dumps([json.dumps(turns)])):
        text = chat_templates.text_without_template(prompt)
        assert text == "Question: d? Answer:"


def test_other_prompts_are_refused_but_for_a_chat_template(tmp_path):
    first = write_marks(tmp_path / "a", FIRST, "big")
    chat = "<|im_start|>user\np"
    second = write_marks(tmp_path / "b", SECOND, "chat", prompt=chat)
    compared = differences_of_logs([first], [[second]])
    assert compared.notes == [
        "capitals: the prompts of 60 of 60 documents of big and chat differ by their "
        "chat template, or its system text, alone."
    ]
    assert compared.table["difference"].tolist() == pytest.approx([16 / 60])
    shots = write_marks(tmp_path / "c", SECOND, "shots", prompt="e? Rome\np")
    with pytest.raises(UserError, match=r"60 of 60 .* by more than a chat template"):
        differences_of_logs([first], [[shots]])
    compared = differences_of_logs([first], [[shots]], prompts="any")
    assert "the difference is that of models with their prompts" in compared.notes[0]
    with pytest.raises(UserError, match="prompts is same or any, not 'all'"):
        differences_of_logs([first], [[shots]], prompts="all")


def test_several_prompts_give_multiplicity_side_by_side(tmp_path):
    sides = []
    for side, marks in (("a", (FIRST, SECOND)), ("b", (FIRST, FIRST))):
        paths = []
        for prompt, marks_of_prompt in zip("xy", marks, strict=True):
            folder = tmp_path / side / prompt
            paths.append(write_marks(folder, marks_of_prompt, side, prompt=prompt))
        sides.append(paths)
    table = differences_of_logs(sides[0], [sides[1][::-1]]).table.set_index("measure")
    for side, column in zip(sides, ("first", "second"), strict=True):
        log = multiplicity_of_logs.from_logs(side)
        measures = multiplicity_of_logs.measures_of_logs(log)
        assert table.loc["accuracy", column] == measures["accuracy"]
        assert table.loc["ambiguity", column] == measures["ambiguity"]
        assert table.loc["self-consistency", column] == measures["self_consistency"]
    assert table.loc["ambiguity", "difference"] == pytest.approx(28 / 60)
    assert table.loc["accuracy", "first"] == pytest.approx((42 + 26) / 120)
    with pytest.raises(UserError, match="and number of prompts"):
        differences_of_logs(sides[0], [sides[1][:1]])
    compared = differences_of_logs(sides[0], [sides[1][:1]], prompts="any")
    assert compared.table["measure"].tolist() == ["accuracy"]
    assert "a has 2 prompts and b 1: accuracy alone is compared." in compared.notes[1]


def test_logs_of_every_tool_are_compared(tmp_path):
    rows = [(str(k), f"q{k}?", CITY_OPTIONS, 0, (-1, -2, -3)) for k in range(3)]
    wrong = [(*row[:4], (-2, -1, -3)) for row in rows[:2]] + rows[2:]
    details = [
        write_lighteval_details(tmp_path / "a", rows, "org/a"),
        write_lighteval_details(tmp_path / "b", wrong, "org/b"),
    ]
    row = differences_of_logs(details[:1], [details[1:]]).table.iloc[0]
    assert (row["model"], row["beside"], row["n"]) == ("org/a", "org/b", 3)
    assert (row["first"], row["second"]) == pytest.approx((1, 1 / 3))
    exchanged = []
    for model, marks in (("lab/a", (1, 1, 0)), ("lab/b", (0, 1, 0))):
        lines = []
        for number, mark in enumerate(marks):
            line = {
                "evaluation_id": model,
                "model_id": model,
                "evaluation_name": "capitals",
                "sample_id": f"s{number}",
                "input": {"raw": f"q{number}", "reference": ["Rome"]},
                "output": {"raw": ["Rome" if mark else "Oslo"]},
                "evaluation": {"score": float(mark), "is_correct": bool(mark)},
                "metadata": {"subject": "s" if number else "t"},
            }
            lines.append(json.dumps(line))
        path = tmp_path / f"{model[-1]}_samples.jsonl"
        path.write_text("\n".join(lines))
        exchanged.append(path)
    compared = differences_of_logs(exchanged[:1], [exchanged[1:]])
    row = compared.table.iloc[0]
    assert (row["first"], row["second"], row["clusters"]) == pytest.approx(
        (2 / 3, 1 / 3, 2)
    )
    with pytest.raises(UserError, match="of different tools"):
        differences_of_logs(details[:1], [exchanged[:1]])


def test_generated_answers_are_compared_by_a_named_metric(tmp_path):
    paths = []
    for side, marks in (("a", (1, 1, 0)), ("b", (0, 1, 0))):
        lines = []
        for number, mark in enumerate(marks):
            line = lm_eval_text_line(
                f"d{number}", "Rome", 0.5, "p", metric="f1", em=mark
            )
            lines.append(line | {"metrics": ["f1", "em"]})
        paths.append(write_lm_eval_log(tmp_path / side, lines, model=side))
    row = differences_of_logs(paths[:1], [paths[1:]], metric="em").table.iloc[0]
    assert (row["first"], row["second"]) == pytest.approx((2 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"metric": "contains"}, "by exact_match, and those of b by contains: name a"),
        ({"filter": "strict"}, "by exact_match behind the filter strict: name a"),
    ],
)
def test_answers_marked_in_two_ways_are_refused(tmp_path, other, said):
    paths = []
    for side, more in (("a", {}), ("b", other)):
        lines = [lm_eval_text_line(f"d{n}", "Rome", 1.0, "p", **more) for n in range(3)]
        paths.append(write_lm_eval_log(tmp_path / side, lines, model=side))
    with pytest.raises(UserError, match=said):
        differences_of_logs(paths[:1], [paths[1:]])


def test_the_command_prints_notes_writes_tables_and_refuses(tmp_path, capsys):
    first = str(write_marks(tmp_path / "a", FIRST, "big_1"))
    second = str(write_marks(tmp_path / "b", [*SECOND, 1], "small"))
    words = ["logs", first, "--beside", second, "--margin", "0.5"]
    assert cli.main([*words, "--folder", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "big_1 (first) and small (second), with intervals of 95 %"
    assert lines[1].split()[:6] == [
        *("task", "measure", "first", "second", "difference", "low"),
    ]
    assert lines[2].split()[:5] == ["capitals", "accuracy", "0.700", "0.433", "0.267"]
    assert lines[2].endswith("yes")
    assert printed.err.startswith("note: capitals: 1 of 61 documents of small are not")
    written = {path.suffix: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert written[".md"].startswith("| task     | measure   | model   |")
    assert r"big\_1 & small & 0.700" in written[".tex"]
    assert written[".csv"].startswith("task,measure,model,beside,first,second,")
    assert cli.main([*words, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["difference"] == pytest.approx(16 / 60)
    assert cli.main(["logs", first, "--beside", first]) == 2
    assert "A log is on both sides" in capsys.readouterr().err
