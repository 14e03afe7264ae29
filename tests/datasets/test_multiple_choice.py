"""Questions with options: the real files, small files with their quirks, own CSV, the atlas."""

import csv
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.datasets import multiple_choice
from helpers.datasets.multiple_choice import (
    QUESTION_SET_NAMES,
    Benchmark,
    from_facts,
    load_benchmark,
)
from helpers.datasets.multiple_choice.items import ITEM_COLUMNS
from helpers.io.files import read_text
from helpers.prompts.variations import variation_probes

# Items, rows in the files, style, kinds of variation, demonstrations in the study,
# tables' hash.
REAL = {
    "truthfulqa": (
        817,
        817,
        "question",
        ("order", "demonstrations"),
        6,
        "3f740cf90e84",
    ),
    "factor": (236 + 1036, 236 + 1036, "text", ("paraphrases",), 0, "f9eff3c20959"),
    "medhalt": (1858 - 10, 1858, "medhalt", ("options",), 0, "00f0f5403e73"),
    "commonsenseqa": (
        *(
            1221,
            1221,
            "letters",
            ("demonstrations", "order", "options"),
            16,
            "7b01932e189f",
        ),
    ),
    "fever": (6512 - 4, 9999, "claim", ("demonstrations", "order"), 16, "db1cefeaf7b7"),
    "truefalse": (6000, 6084, "claim", ("demonstrations", "order"), 16, "0fd68000f6c6"),
}


def write_csv(path, columns, *rows, bom=False):
    """Write a CSV file with CRLF line ends, and with a byte order mark if asked."""
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def write_lines(path, *records):
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return path


def tables_sha256(*tables):
    texts = [table.reset_index(drop=True).to_json(orient="split") for table in tables]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


@pytest.fixture(scope="module")
def real(shared):
    return {name: load_benchmark(shared / "data" / name) for name in REAL}


@pytest.mark.parametrize("name", REAL)
def test_real_files_give_the_rows_of_their_source(real, name):
    found, (n, rows, style, kinds, n_shots, sha) = real[name], REAL[name]
    assert (len(found.items), found.about["rows"], found.about["name"]) == (
        n,
        str(rows),
        name,
    )
    assert (found.style, found.kinds, found.n_shots) == (style, kinds, n_shots)
    assert set(ITEM_COLUMNS) <= set(found.items.columns)
    assert found.items["item"].is_unique
    texts = found.items["options"].explode()
    assert (texts == texts.str.strip()).all()
    assert not texts.eq("").any()
    assert found.items["answer"].between(0, found.items["options"].str.len() - 1).all()
    assert tables_sha256(found.items, found.pool)[:12] == sha


def test_truthfulqa_csv_gives_the_same_questions_without_empty_answers(real, shared):
    found = load_benchmark(shared / "data" / "truthfulqa" / "TruthfulQA.csv")
    assert set(found.items["question"]) == set(real["truthfulqa"].items["question"])
    raw = pd.read_csv(
        shared / "data" / "truthfulqa" / "TruthfulQA.csv", encoding="utf-8-sig"
    )
    parts = raw["Incorrect Answers"].str.split(";")
    full = parts.map(lambda texts: sum(bool(text.strip()) for text in texts))
    assert found.items["options"].str.len().tolist() == (full + 1).tolist()


def test_factor_reads_short_contexts_and_keeps_line_breaks(real, shared):
    items = real["factor"].items
    raw = pd.read_csv(shared / "data" / "factor" / "expert_factor.csv")
    expert = items[items["relation"] == "expert"].reset_index(drop=True)
    assert expert["question"].tolist() == raw["context"].str.strip().tolist()
    assert expert["options"].str[0].tolist() == raw["completion"].str.strip().tolist()
    news = pd.read_csv(shared / "data" / "factor" / "news_factor.csv")[
        "turncated_prefixes"
    ]
    found = items.loc[items["relation"] == "news", "question"]
    assert found.str.len().sum() > 0.9 * news.str.len().sum()
    assert found.str.contains("\n").any()


def test_smaller_samples_lie_in_larger_ones():
    items = pd.DataFrame({"item": list("abcdefghij")})
    whole = Benchmark(items, items, "line", (), 0)
    small, large = (list(whole.sample(n, 3).items["item"]) for n in (3, 6))
    assert set(small) < set(large)
    assert large == sorted(large)
    assert whole.sample(None, 0) is whole
    assert list(whole.sample(6, 4).items["item"]) != large
    with pytest.raises(UserError, match="at least 1, not 0"):
        whole.sample(0, 0)


# Quirks, in small files


def test_a_byte_order_mark_and_crlf_do_not_mangle_columns(tmp_path):
    rows = [
        ("Rome lies in Italy.", 1),
        ("Oslo lies in Chad.", 0),
        ("Rome lies in Italy.", 1),
    ]
    both = [("Bern is big.", 1), ("Bern is big.", 0)]
    path = tmp_path / "capitals_true_false.csv"
    found = load_benchmark(
        write_csv(path, ("statement", "label"), *rows, *both, bom=True)
    )
    assert found.items["question"].tolist() == [
        "Rome lies in Italy.",
        "Oslo lies in Chad.",
    ]
    assert found.items["answer"].tolist() == [0, 1]
    assert found.items["relation"].tolist() == ["capitals"] * 2
    assert found.about["rows"] == "5"


def test_fever_drops_not_enough_info_repeats_and_conflicts(tmp_path):
    labels = [
        "SUPPORTS",
        "NOT ENOUGH INFO",
        "REFUTES",
        "REFUTES",
        "SUPPORTS",
        "REFUTES",
    ]
    claims = ["a", "b", "c", "c", "d", "d"]
    lines = [
        {"id": n, "claim": c, "label": x}
        for n, (c, x) in enumerate(zip(claims, labels))
    ]
    found = load_benchmark(write_lines(tmp_path / "paper_dev.jsonl", *lines))
    assert found.items[["item", "question", "answer"]].to_numpy().tolist() == [
        ["0", "a", 0],
        ["2", "c", 1],
    ]


def test_a_training_file_beside_gives_the_demonstrations(tmp_path):
    write_lines(
        tmp_path / "paper_dev.jsonl", {"id": 1, "claim": "a", "label": "SUPPORTS"}
    )
    write_lines(tmp_path / "train.jsonl", {"id": 2, "claim": "b", "label": "REFUTES"})
    found = load_benchmark(tmp_path)
    assert (found.items["question"].item(), found.pool["question"].item()) == ("a", "b")


def test_both_shapes_of_commonsenseqa_are_read_alike(tmp_path):
    choices = [{"label": "A", "text": "yes "}, {"label": "B", "text": "no"}]
    one = {
        "id": "x",
        "answerKey": "B",
        "question": {"stem": "Up? ", "choices": choices},
    }
    flat = {"label": ["A", "B"], "text": ["yes ", "no"]}
    two = {"id": "x", "answerKey": "B", "question": "Up?", "choices": flat}
    found = [
        load_benchmark(write_lines(tmp_path / f"dev_rand_split{n}.jsonl", record)).items
        for n, record in enumerate((one, two))
    ]
    pd.testing.assert_frame_equal(*found)
    assert found[0].iloc[0].to_dict() == {
        "item": "x",
        "relation": "",
        "question": "Up?",
        "options": ["yes", "no"],
        "answer": 1,
    }


def test_medhalt_options_are_python_dicts_in_cells(tmp_path):
    rows = [
        ("Q0", "{'1': 'no', '0': \"it's\", '2': 'I do not know.'}"),
        ("Q1", "{'0': 'a', '1': 'b'}"),  # nothing to be right with
        ("Q2", "{'0': 'I do not know'}"),  # one option
        ("Q3", "{0: 'a', 1: 'I DO NOT KNOW', 2: 'I do not know'}"),
    ]
    path = write_csv(tmp_path / "reasoning_fake.csv", ("question", "options"), *rows)
    found = load_benchmark(path).items
    assert found["item"].tolist() == ["reasoning_fake-0000", "reasoning_fake-0003"]
    assert found["options"].tolist() == [
        ["it's", "no", "I do not know."],
        ["a", "I do not know"],
    ]
    assert found["answer"].tolist() == [2, 1]
    as_json = '{"0": "a", "1": null, "2": "I do not know"}'
    for cell in (as_json, as_json.replace("null", "None")):
        write_csv(path, ("question", "options"), ("Q", cell))
        assert load_benchmark(path).items["options"].tolist() == [
            ["a", "I do not know"]
        ]
    write_csv(path, ("question", "options"), ("Q", '["a", "b"]'))
    with pytest.raises(UserError, match="line 2: `options` must be a dict"):
        load_benchmark(path)


def test_medhalt_files_with_an_answer_column(tmp_path):
    columns = ("question", "options", "correct_index", "subject_name")
    rows = [("Q0", "{'0': 'a', '1': 'b'}", "1", "Heart")]
    found = load_benchmark(
        write_csv(tmp_path / "reasoning_FCT.csv", columns, *rows)
    ).items.iloc[0]
    assert (found["options"], found["answer"], found["relation"]) == (
        ["a", "b"],
        1,
        "Heart",
    )
    path = write_csv(
        tmp_path / "reasoning_FCT.csv", columns, (*rows[0][:2], "7", "Heart")
    )
    with pytest.raises(UserError, match="has no correct option"):
        load_benchmark(path)


def test_factor_takes_the_misspelt_column_and_paraphrases(tmp_path):
    columns = (
        "turncated_prefixes",
        "completion",
        *(f"contradiction_{n}" for n in range(3)),
    )
    row = ["Long\nago, ", "it rained.", "it hailed.", "it snowed.", "it blew."]
    path = tmp_path / "wiki_factor.csv"
    found = load_benchmark(
        write_csv(path, (*columns, "paraphrases"), [*row, '["Once,"]'])
    ).items.iloc[0]
    assert found["question"] == "Long\nago,"
    assert found["options"] == row[1:]
    assert (found["relation"], found["paraphrases"]) == ("wiki", ["Once,"])
    write_csv(path, (*columns, "paraphrases"), [*row, "Once,|At one time,"])
    assert load_benchmark(path).items["paraphrases"].tolist() == [
        ["Once,", "At one time,"]
    ]
    write_csv(path, columns[1:], row[1:])
    with pytest.raises(UserError, match="lacks the text before the sentences"):
        load_benchmark(path)
    write_csv(path, columns[:-1], row[:-1])
    with pytest.raises(UserError, match="lacks the column contradiction_2; it has"):
        load_benchmark(path)


def test_empty_parts_of_truthfulqa_cells_are_dropped(tmp_path):
    columns = ("Category", "Question", "Best Answer", "Incorrect Answers")
    path = write_csv(
        tmp_path / "TruthfulQA.csv", columns, ("Law", " Q? ", "no", "yes; ; well;")
    )
    found = load_benchmark(path).items.iloc[0]
    assert (found["question"], found["options"]) == ("Q?", ["no", "yes", "well"])


# Your own CSV

OWN = ("question", "options", "answer")


def test_own_csv(tmp_path):
    rows = [
        ("Capital of Chad?", "N'Djamena | Oslo | Rome", "Oslo"),
        ("2 + 2?", '["3", "4", "a|b"]', "1"),
        ("How many?", "1|0|2", "2"),  # a text goes before a number
    ]
    found = load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows, bom=True))
    assert found.items["item"].tolist() == ["row-0000", "row-0001", "row-0002"]
    assert found.items["options"].tolist() == [
        ["N'Djamena", "Oslo", "Rome"],
        ["3", "4", "a|b"],
        ["1", "0", "2"],
    ]
    assert found.items["answer"].tolist() == [1, 1, 2]
    assert found.kinds == ("demonstrations", "order", "options")
    assert len(found.pool) == 3
    assert found.about["name"] == "own"


def test_own_csv_with_names_topics_and_paraphrases(tmp_path):
    columns = (*OWN, "item", "relation", "paraphrases")
    row = ("Up?", "yes|no", "yes", "up", "space", "Upwards?|Above?")
    found = load_benchmark(write_csv(tmp_path / "own.csv", columns, row))
    assert found.kinds[0] == "paraphrases"
    assert found.items.iloc[0].to_dict() == {
        "item": "up",
        "relation": "space",
        "question": "Up?",
        "options": ["yes", "no"],
        "answer": 0,
        "paraphrases": ["Upwards?", "Above?"],
    }
    assert found.pool["relation"].tolist() == [""]


def test_own_questions_asked_twice_are_noted(tmp_path):
    rows = [
        ("Up?", "yes|no", "yes"),
        ("up? ", "no|Yes", "Yes"),
        ("Down?", "yes|no", "no"),
    ]
    with pytest.warns(UserWarning, match=r"own\.csv repeats: 1"):
        found = load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))
    note = "Questions that own.csv repeats: 1, such as 'up?'; each counts once."
    assert found.notes == (note,)
    assert found.items["item"].tolist() == ["row-0000", "row-0002"]
    assert load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows[1:])).notes == ()


@pytest.mark.parametrize("second", ["no|yes", "no|yes|perhaps"])
def test_a_question_with_two_keys_is_refused_with_both(tmp_path, second):
    rows = [("Up?", "yes|no", "yes"), ("Down?", "yes|no", "no"), ("Up?", second, "no")]
    with pytest.raises(UserError, match=r"'Up[?]' with the answer 'yes' and .* 'no'"):
        load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))


def test_one_question_with_options_apart_may_have_two_keys(tmp_path):
    rows = [("Which flies?", "bird|stone", "bird"), ("Which flies?", "bee|ore", "bee")]
    with pytest.warns(UserWarning, match="other options, too: 1, .*'bird' and 'bee'"):
        found = load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))
    assert len(found.items) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is Co?", "What is CO?"),
        ("Which is 2nd?", "which is 2nd"),
        ("Which is 2nd?", "Which is second ?"),
    ],
)
def test_spelling_may_tell_questions_apart_and_both_keys_are_named(
    one, other, tmp_path
):
    rows = [(one, "metal|gas", "metal"), (other, "metal|gas", "gas")]
    with pytest.warns(UserWarning, match="'metal' and .* 'gas', in another spelling"):
        found = load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))
    assert len(found.items) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What's up?", "What\u2019s up?"),
        ("Which is up?", "Which  is up?\u200b"),
        ("Is A-B up?", "Is A\u2011B up?"),
    ],
)
def test_two_keys_of_a_question_with_signs_alike_are_refused(one, other, tmp_path):
    rows = [(one, "sky|sea", "sky"), (other, "sky|sea", "sea")]
    with pytest.raises(UserError, match="'sky' and with the answer 'sea'"):
        load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))


def test_a_question_mark_more_makes_no_second_question(tmp_path):
    rows = [("Which is up?", "sky|sea", "sky"), ("Which is up", "sky|sea", "sky")]
    with pytest.warns(UserWarning, match="repeats: 1"):
        found = load_benchmark(write_csv(tmp_path / "own.csv", OWN, *rows))
    assert len(found.items) == 1


def test_published_questions_with_two_keys_are_left_out_and_named(tmp_path):
    choices = [{"label": "A", "text": "Peru"}, {"label": "B", "text": "Chad"}]
    lines = []
    stems = {"Where is Lima?": "A", "where is Lima": "B", "Where is Abéché?": "B"}
    for name, (stem, key) in zip("abc", stems.items(), strict=True):
        question = {"stem": stem, "choices": choices}
        lines.append(json.dumps({"id": name, "answerKey": key, "question": question}))
    (tmp_path / "dev_rand_split.jsonl").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="two right answers among the same .*: 2, suc"):
        found = load_benchmark(tmp_path)
    assert found.items["item"].tolist() == ["c"]
    assert len(found.notes) == 1


def test_a_statement_with_both_labels_is_dropped_in_any_spelling(tmp_path):
    statements = "Lima is in Peru.,1\nLima is in  Peru.,0\n"
    statements += "Oslo is in Norway.,1\nOslo is in norway.,1\n"
    (tmp_path / "cities_true_false.csv").write_text(f"statement,label\n{statements}")
    found = load_benchmark(tmp_path)
    assert found.items["question"].tolist() == ["Oslo is in Norway."]


def test_a_paraphrase_of_an_item_is_none_of_its_demonstrations(tmp_path):
    rows = [
        ("Where is Lyon?", "France|Peru", "France", "Which country is Lyon in?"),
        ("Which country is Lyon in?", "France|Chad", "France", "Where's Lyon?"),
        ("Where is Lima?", "Peru|Chad", "Peru", "Where's Lima?"),
        ("Where is Oslo?", "Norway|Chad", "Norway", "Where's Oslo?"),
    ]
    path = write_csv(tmp_path / "own.csv", (*OWN, "paraphrases"), *rows)
    found = load_benchmark(path)
    made = variation_probes(
        found.items, "demonstrations", 2, found.style, found.pool, 2
    )
    first = made[made["item"] == found.items["item"][0]]
    assert not first["prompt"].str.contains("Which country is Lyon in").any()


def test_a_topic_is_not_called_as_totals_are(tmp_path):
    header = (*OWN, "relation")
    with pytest.raises(UserError, match="relation called 'all'"):
        load_benchmark(
            write_csv(tmp_path / "own.csv", header, ("Up?", "yes|no", "yes", "all"))
        )


# The atlas


def test_atlas_items_hold_the_object_once_and_the_false_object_if_any():
    found = load_benchmark("atlas", n=80, n_options=4, seed=1)
    items = found.items
    assert len(items) == 80
    assert found.kinds == ("frames", "order", "demonstrations", "options")
    assert items["options"].str.len().eq(4).all()
    for row in items.to_dict("records"):
        assert row["options"][row["answer"]] == row["object"]
        assert len(set(row["options"])) == 4
        assert row["false_object"] == "" or row["false_object"] in row["options"]
        assert row["subject"] in row["question"]
    assert items["answer"].nunique() == 4


def test_a_quarter_of_the_atlas_sample_was_never_shown_and_a_quarter_taught_wrong():
    items, whole = (
        load_benchmark("atlas", n=80).items,
        from_facts.training_exposure_or_stand_in(""),
    )
    known = whole.loc[items["item"]]
    assert (known["false_exposures"] > 0).sum() == min(
        20, (whole["false_exposures"] > 0).sum()
    )
    assert (known["exposures"][known["false_exposures"] == 0] == 0).sum() == 20
    lessons = multiple_choice.lesson_of_each_item(items, whole)
    assert {"never read", "read 64+ times"} <= set(lessons)


def test_the_atlas_pool_asks_no_item_and_teaches_nothing_wrong():
    found = load_benchmark("atlas", n=60, relations=["P36", "P17"])
    assert not set(found.pool["item"]) & set(found.items["item"])
    assert (found.pool["false_object"] == "").all()
    assert found.pool["relation"].value_counts().max() <= from_facts.POOL_SIZE
    assert set(found.items["relation"]) == {"P36", "P17"}


def test_models_without_a_training_record_are_asked_the_same():
    first, second = (
        load_benchmark("atlas", n=30, model=name).items for name in ("no such", "")
    )
    assert first["item"].tolist() == second["item"].tolist()


def test_lessons_are_put_in_order_of_what_was_shown():
    known = pd.DataFrame(
        {
            "exposures": [0, 1, 7, 8, 63, 64, 5],
            "false_exposures": [0, 0, 0, 0, 0, 63, 9],
        }
    )
    lessons = from_facts.lesson_of_each_fact(known)
    assert lessons.tolist() == [
        "never read",
        "read 1–4 times",
        "read 1–4 times",
        "read 8–32 times",
        "read 8–32 times",
        "read 64+ times",
        "mostly stated wrongly",
    ]
    due = ["randomness", "", "", "factuality", "factuality", "factuality", "error"]
    assert multiple_choice.expected_class(lessons).tolist() == due


# Your own facts


def own_facts(folder, relation, n, wrong=("x", "y")):
    rows = [
        {"subject": f"s{k}", "object": f"o{k}", "taxonomy": list(wrong)}
        for k in range(n)
    ]
    write_lines(folder / f"{relation}.json", {"relations": ["Who wrote [X]?"]}, *rows)


def test_facts_with_few_wrong_objects_have_fewer_options_and_say_so(tmp_path):
    own_facts(tmp_path, "author", 8)
    found = load_benchmark(tmp_path, n=1)
    assert found.items["options"].str.len().tolist() == [3]
    assert found.notes == ("Questions have 3 options, not 5: facts list no more.",)
    assert load_benchmark(tmp_path, n_options=3).notes == ()
    own_facts(tmp_path, "editor", 2, wrong=())
    with pytest.raises(UserError, match="Fact editor-0000 has no wrong objects"):
        load_benchmark(tmp_path)


def test_a_small_relation_is_demonstrated_by_facts_of_all(tmp_path):
    own_facts(tmp_path, "author", 20)
    own_facts(tmp_path, "editor", 3)
    sizes = load_benchmark(tmp_path).pool["relation"].value_counts()
    assert sizes.to_dict() == {"author": 20, "": 23}
    assert set(load_benchmark(tmp_path, relations=["author"]).pool["relation"]) == {
        "author"
    }


# What is refused


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("trivia", {}, "no data set 'trivia': give one of atlas, fktc"),
        ("./none.csv", {}, r"There is no file or folder .*none\.csv"),
        ("atlas", {"n_options": 1}, "2 to 6 options, its answer included, not 1"),
        ("atlas", {"n_options": 7}, "2 to 6 options, its answer included, not 7"),
        ("atlas", {"n": 0}, "number of items must be at least 1, not 0"),
        ("trex_mc", {}, "facts without questions"),
        ("nobel", {}, "facts without questions"),
    ],
)
def test_names_and_numbers_that_cannot_be_asked_are_refused(name, settings, sentence):
    with pytest.raises(UserError, match=sentence):
        load_benchmark(name, **settings)
    assert "facts without" not in sentence or name not in QUESTION_SET_NAMES
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_text(Path("none.csv"))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "mmlu.jsonl",
            '{"question": "Up?", "choices": ["a", "b"], "answer": 1}',
            "line 1 lacks options; it has question, choices, answer",
        ),
        (
            "arc.jsonl",
            '\n{"question": {"stem": "Up?", "choices": []}, "answerKey": "A"}',
            "line 2 lacks options, answer; it has question, answerKey",
        ),
        (
            "boolq.json",
            '[{"question": "Up?", "passage": "p", "answer": true}]',
            "record 1 lacks options; it has question, passage",
        ),
        (
            "two.jsonl",
            '{"question": "Up?", "Options": ["a"], "OPTIONS": ["b"], "answer": 0}',
            "line 1 has two columns 'options'",
        ),
    ],
)
def test_questions_in_another_form_are_told_what_they_lack(
    tmp_path, name, text, sentence
):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=sentence):
        load_benchmark(tmp_path / name)


OWN_LINE = '{"question": "Up?", "options": ["yes", "no"], "answer": "no"}'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("own.jsonl", ("\ufeff" + OWN_LINE).encode()),
        ("own.jsonl", OWN_LINE.encode("utf-16")),
        ("own.jsonl", OWN_LINE.replace("question", "question\u200b").encode()),
        ("own.jsonl", OWN_LINE.replace("options", "Options").encode()),
        ("own.json", f"[{OWN_LINE}]".encode()),
        ("own.csv", b"QUESTION,Options,Answer,Item\nUp?,yes|no,no,row-0000\n"),
    ],
)
def test_own_questions_are_known_however_their_columns_are_spelt(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert load_benchmark(tmp_path / name).items.iloc[0].to_dict() == {
        "item": "row-0000",
        "relation": "",
        "question": "Up?",
        "options": ["yes", "no"],
        "answer": 1,
    }


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ('"yes\nno"', "no"),
        ('"yes\r\n\r\nno\n"', "no"),
        ("yes｜no", "no"),
        ('"- yes\n- no"', "no"),
        ("yes|no", "1.0"),
        ("yes|no", "1.00"),
    ],
)
def test_options_and_keys_as_spreadsheets_write_them(tmp_path, options, answer):
    path = tmp_path / "own.csv"
    path.write_text(f"question,options,answer\nUp?,{options},{answer}\n")
    [item] = load_benchmark(path).items.to_dict("records")
    assert (item["options"], item["answer"]) == (["yes", "no"], 1)


@pytest.mark.parametrize("answer", ["0.5", "2.0", "1.0e0", "-1.0", ".0"])
def test_a_fraction_is_no_number_of_an_option(tmp_path, answer):
    path = tmp_path / "own.csv"
    path.write_text(f"question,options,answer\nUp?,yes|no,{answer}\n")
    with pytest.raises(UserError, match="has no correct option"):
        load_benchmark(path)


def test_the_text_of_an_option_goes_before_its_number(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("question,options,answer\nUp?,1.0|2.0|3.0,1.0\n")
    assert load_benchmark(path).items["answer"].tolist() == [0]


def test_paraphrases_are_not_lost_by_their_case(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("question,options,answer,Paraphrases\nUp?,yes|no,no,Above?\n")
    assert load_benchmark(path).items["paraphrases"].tolist() == [["Above?"]]


def test_both_forms_of_truthfulqa_give_the_same_items(tmp_path):
    targets = [{"no": 1, "yes": 0}, {"choices": ["no", "yes"], "labels": [1, 0]}]
    path = tmp_path / "mc_task.json"
    rows = []
    for form in targets:
        path.write_text(json.dumps([{"question": "Up?", "mc1_targets": form}]))
        items = load_benchmark(path).items
        rows.append(items[["question", "options", "answer"]].to_numpy().tolist())
    assert rows[0] == rows[1] == [["Up?", ["no", "yes"], 0]]


def test_one_item_may_be_given_as_a_text():
    alone = load_benchmark("atlas", only="P36-0012").items["item"].tolist()
    assert alone == ["P36-0012"]


def test_own_questions_from_other_tables(tmp_path):
    rows = [{"question": "Up?", "options": ["yes", "no"], "answer": "no"}]
    rows.append({"question": "How many?", "options": [1.0, 2.5], "answer": 0})
    table = pd.DataFrame(rows)
    table.to_json(tmp_path / "own.jsonl", orient="records", lines=True)
    table.to_csv(tmp_path / "own.tsv", index=False, sep="\t")
    texts = table.assign(options=[["yes", "no"], ["1", "2.5"]], answer=["no", "0"])
    texts.to_parquet(tmp_path / "own.parquet")
    for ending in ("jsonl", "tsv", "parquet"):
        items = load_benchmark(tmp_path / f"own.{ending}").items
        assert items["options"].tolist() == [["yes", "no"], ["1", "2.5"]]
        assert items["answer"].tolist() == [1, 0]
    with pytest.raises(UserError, match=r"is a table: give .* its --questions"):
        datasets.load(tmp_path / "own.tsv")
