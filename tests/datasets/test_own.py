"""Facts of one's own, from a table to a data set that all else reads."""

import json

import pandas as pd
import pytest

from helpers import UserError, datasets

BOOKS = pd.DataFrame(
    {
        "relation": ["author", "author", "year", "author"],
        "subject": ["Hamlet", "Faust", "Emma", "Emma"],
        "object": ["Shakespeare", "Goethe", 1815, "Austen"],
    }
)
QUESTIONS = {
    "author": ["Who wrote [X]?", "Who is the author of [X]?"],
    "year": ["When was [X] published?"],
}


def test_facts_come_back_as_they_were(tmp_path):
    folder = datasets.write_dataset(BOOKS, QUESTIONS, tmp_path / "new" / "books")
    facts = datasets.load(folder)
    expected = BOOKS.astype(str).sort_values(
        "relation", kind="stable", ignore_index=True
    )
    assert facts[["relation", "subject", "object"]].equals(expected)
    asked = (
        datasets.prompt_frames(folder)
        .groupby("relation")["template"]
        .agg(list)
        .to_dict()
    )
    assert asked == QUESTIONS


def test_wrong_objects_are_others_of_the_relation_that_are_not_true(tmp_path):
    both = pd.DataFrame(
        {"subject": ["a", "a", "b", "c"], "object": ["x", "y", "z", "x"]}
    )
    facts = datasets.load(datasets.write_dataset(both, {"r": ["[X]?"]}, tmp_path))
    assert facts["distractors"].map(sorted).tolist() == [
        ["z"],
        ["z"],
        ["x", "y"],
        ["y", "z"],
    ]


def test_wrong_objects_of_ones_own_are_kept(tmp_path):
    wrong = [["Dante", "Ibsen"], ["Dante"], ["1816"], ["Eliot"]]
    datasets.write_dataset(BOOKS.assign(distractors=wrong), QUESTIONS, tmp_path)
    lines = (tmp_path / "author.json").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["taxonomy"] == ["Dante", "Ibsen"]
    assert json.loads(lines[3])["taxonomy"] == ["Eliot"]


def test_the_same_script_can_run_again(tmp_path):
    datasets.write_dataset(BOOKS, QUESTIONS, tmp_path)
    datasets.write_dataset(BOOKS.head(3), QUESTIONS, tmp_path)
    assert len(datasets.load(tmp_path)) == 3


def test_counts_of_exposure_come_back_with_what_is_unknown(tmp_path):
    counted = BOOKS.assign(exposure=[812, None, 0, 3.0])
    facts = datasets.load(
        datasets.write_dataset(counted, QUESTIONS, tmp_path / "books")
    )
    assert facts["exposure"].astype(object).where(
        facts["exposure"].notna(), None
    ).tolist() == [
        812,
        None,
        3,
        0,
    ]
    lines = (
        (tmp_path / "books" / "author.json").read_text(encoding="utf-8").splitlines()
    )
    assert ["exposure" in line for line in lines] == [False, True, False, True]
    assert "exposure" not in datasets.load(
        datasets.write_dataset(BOOKS, QUESTIONS, tmp_path / "books")
    )
    by_count = BOOKS.assign(exposure=[3, 1, 2, 0]).set_index("exposure")
    kept = datasets.load(datasets.write_dataset(by_count, QUESTIONS, tmp_path / "kept"))
    assert kept["exposure"].tolist() == [3, 1, 0, 2]
    none = datasets.write_dataset(
        BOOKS.assign(exposure=None), QUESTIONS, tmp_path / "none"
    )
    assert "exposure" not in datasets.load(none)
    assert datasets.fact_exposure(str(none)) is None
    counts = datasets.fact_exposure(
        str(datasets.write_dataset(counted, QUESTIONS, tmp_path / "books"))
    )
    assert counts["exposures"].to_dict() == {
        "author-0000": 812,
        "author-0002": 3,
        "year-0000": 0,
    }
    assert counts["plain"].all()


@pytest.mark.parametrize("count", [-1, 1.5, "many", float("inf"), ""])
def test_an_exposure_that_is_no_count_is_refused(tmp_path, count):
    with pytest.raises(
        UserError, match=r"Row 2 has the exposure .*: give a whole number, 0 or"
    ):
        datasets.write_dataset(
            BOOKS.assign(exposure=[1, 2, count, 3]), QUESTIONS, tmp_path
        )


@pytest.mark.parametrize("count", ["-1", "1.0", '"3"', "true", "1" + "0" * 30, "[1]"])
def test_a_line_whose_exposure_is_no_count_is_refused(tmp_path, count):
    datasets.write_dataset(BOOKS, QUESTIONS, tmp_path)
    path = tmp_path / "year.json"
    text = path.read_text(encoding="utf-8").replace(
        '"taxonomy"', f'"exposure": {count}, "taxonomy"'
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        UserError, match=r"year\.json, line 2 has the exposure .*leave it out"
    ):
        datasets.load(tmp_path)


@pytest.mark.parametrize(
    ("facts", "questions", "message"),
    [
        (BOOKS.drop(columns="object"), QUESTIONS, "lacks the column object"),
        (BOOKS.drop(columns="relation"), QUESTIONS, "lacks the column relation"),
        (BOOKS.replace("Faust", None), QUESTIONS, "Row 1 has an empty cell"),
        (BOOKS.head(0), QUESTIONS, "There is no fact"),
        (BOOKS, {"author": ["Who wrote [X]?"]}, "year has no question"),
        (BOOKS, QUESTIONS | {"year": ["When?"]}, r"each with one \[X\]"),
        (
            BOOKS.replace("year", "a-b"),
            QUESTIONS | {"a-b": ["[X]?"]},
            "'a-b' is no name",
        ),
        (BOOKS.assign(distractors=[["Goethe"]] * 4), QUESTIONS, "Row 1 lists its own"),
        (
            BOOKS.assign(distractors=[["a"], None, ["a"], ["a"]]),
            QUESTIONS,
            "Row 1 has no distractors",
        ),
        (BOOKS.assign(aliases="x"), QUESTIONS, "no aliases"),
        (BOOKS.assign(object=[["a", "b"]] * 4), QUESTIONS, "Row 0: a cell holds"),
        (
            BOOKS.assign(object=["Goethe", "goethe", *BOOKS["object"][2:]]),
            QUESTIONS,
            "differ in",
        ),
        (BOOKS, ["Who wrote [X]?"], "names each relation's"),
        (BOOKS, "Who wrote [X]?", "names each relation's"),
        (BOOKS.drop(columns="relation"), {}, "There are no questions"),
    ],
)
def test_what_cannot_be_a_data_set_is_refused(tmp_path, facts, questions, message):
    with pytest.raises(UserError, match=message):
        datasets.write_dataset(facts, questions, tmp_path)


def test_a_table_as_pandas_reads_it_from_csv(tmp_path):
    """Years beside an empty cell are floats, and a list is a text."""
    told = pd.DataFrame({"subject": ["a", "b"], "object": [1685.0, 1813.0]})
    found = datasets.load(
        datasets.write_dataset(
            told.assign(distractors=["1 | 2", "3"]), {"y": ["[X]?"]}, tmp_path
        )
    )
    assert found["object"].tolist() == ["1685", "1813"]
    assert found["distractors"].tolist() == [["1", "2"], ["3"]]


def test_other_data_are_not_mixed_with(tmp_path):
    datasets.write_dataset(BOOKS, QUESTIONS, tmp_path)
    with pytest.raises(UserError, match=r"holds year\.json: give a folder of its own"):
        datasets.write_dataset(BOOKS.head(2), QUESTIONS, tmp_path)


def test_a_file_with_its_questions_is_a_data_set(tmp_path):
    """The table as text, NA and 007 too; another table or question, another folder."""
    file = tmp_path / "spies.csv"
    file.write_text(
        "relation,subject,object\nnumber of,Bond,007\nnumber of,Leiter,NA\n"
    )
    words = ["number of=What is the number of [X]?", "number of=The number a=b of [X]?"]
    folder = datasets.write_dataset_of_table(file, words, tmp_path / "out")
    assert datasets.load(folder)["object"].tolist() == ["007", "NA"]
    frames = datasets.prompt_frames(folder)
    assert frames["template"].tolist() == [word.partition("=")[2] for word in words]
    assert datasets.write_dataset_of_table(file, words, tmp_path / "out") == folder
    alone = ["What is the number of [X] in a=b?"]
    other = datasets.write_dataset_of_table(file, alone, tmp_path / "out")
    assert other != folder
    assert datasets.prompt_frames(other)["template"].tolist() == alone


@pytest.mark.parametrize(
    ("header", "word", "template"),
    [
        ("Relation;Subject;Object\n the unit ;force;newton\n", "the unit=[X]?", "[X]?"),
        ("subject;object\nforce;newton\n", "unit=[X]?", "[X]?"),
        ("subject;object\nforce;newton\n", "If a=b is [X]", "If a=b is [X]"),
        ("relation;subject;object\nr;force;newton\n", "a [X]=", "a [X]="),
    ],
)
def test_an_equals_sign_parts_a_question_from_a_name_alone(
    tmp_path, header, word, template
):
    """Columns in any case and blanks at ends are as in tables for `write_dataset`."""
    (tmp_path / "a.csv").write_text(header)
    folder = datasets.write_dataset_of_table(tmp_path / "a.csv", [word], tmp_path)
    assert datasets.prompt_frames(folder)["template"].tolist() == [template]


@pytest.mark.parametrize(
    ("name", "text", "words", "told"),
    [
        ("a.csv", "subject,thing\nx,y\n", ["[X]?"], "lacks the column object"),
        ("a.csv", "thing\nx\n", ["[X]?"], "lacks the columns subject, object"),
        ("a.csv", "subject,object\n", ["[X]?"], "holds no fact"),
        ("a.txt", "subject,object\nx,y\n", ["[X]?"], "ends in .csv, .tsv"),
        ("a.csv", "relation,subject,object\nr,x,y\ns,x,z\n", ["[X]?"], "no relation"),
        ("a.csv", "relation,subject,object\nr,x,y\n", ["q=[X]?"], "r has no question"),
        ("a.csv", "subject,object\nx,y\nz,w\n", ["Who?"], r"one \[X\]"),
    ],
)
def test_a_file_that_is_no_table_of_facts_is_refused(tmp_path, name, text, words, told):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=told):
        datasets.write_dataset_of_table(tmp_path / name, words, tmp_path / "out")
