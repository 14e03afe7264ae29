"""What text a cell is: by hand, and the same facts however a table is written."""

import datetime
import decimal
import gzip
import io
import json
import tempfile
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError, datasets
from helpers.datasets import cells, multiple_choice, seen_questions
from helpers.metrics.canonical import comparison_key

DAY = "1969-07-20"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (np.float32(0.1), "0.1"),
        (1e-7, "0.0000001"),
        (-0.0, "0"),
        (decimal.Decimal("1.50"), "1.5"),
        (decimal.Decimal("1E+3"), "1000"),
        (True, "True"),
        (b"S\xc3\xa3o", "São"),
        (pd.Timestamp(DAY), DAY),
        (pd.Timestamp(DAY, tz="Europe/Berlin"), DAY),
        (pd.Timestamp(f"{DAY} 20:17:40"), f"{DAY} 20:17:40"),
        (datetime.datetime(1969, 7, 20), DAY),
        (np.datetime64(DAY, "ns"), DAY),
        (f"{DAY} 00:00:00", DAY),
        (f"{DAY}T00:00:00.000Z", DAY),
        (pd.Timedelta(days=1), "1 day"),
        (pd.Timedelta(minutes=90), "01:30:00"),
        (pd.Period("1969-07"), "1969-07"),
        (["Lima"], "Lima"),
        ("['Lima']", "Lima"),
        (np.array(["Lima"]), "Lima"),
        ("(0, 5)", "(0, 5)"),
        ("[1, 2]", "[1, 2]"),
        ("[X] is", "[X] is"),
        (None, ""),
        (pd.NA, ""),
        (pd.NaT, ""),
        (float("nan"), ""),
        (decimal.Decimal("nan"), ""),
        ([], ""),
    ],
)
def test_values_of_every_type_are_texts(value, text):
    assert cells.cell_text(value, "Row 1") == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("  New \u00a0 York\u202f", "New York"),
        ("\ufeffCo\u00adlom\u200bbia\u2060", "Colombia"),
        ("\u2067\u200fباريس\u2069", "باريس"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("\u200c\u200d", ""),
        ("\u3164\u2800", ""),
        ("Cote\u0301", "Coté"),
        ("8\u202f849\u00a0m", "8849 m"),
        ("3\u00a0May\u00a01999", "3 May 1999"),
        ("Lima\x00\x1b", "Lima"),
        ("\x1b[31mRed?\x1b[0m", "Red?"),
        ("\x9b1mRed\x1b(B \x1b]8;;https://a.org\x1b\\blue\x1b]8;;\x07", "Red blue"),
        ("\x1b Peru [31m]", "Peru [31m]"),
        ("one\r\ntwo", "one two"),
    ],
)
def test_what_is_asked_is_what_a_reader_sees(text, seen):
    assert cells.visible_text(text) == seen


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['Lima', 'Lima, Peru']", ["Lima", "Lima, Peru"]),
        ('["Lima", "Lima, Peru"]', ["Lima", "Lima, Peru"]),
        ("['Lima' 'Lima, Peru']", ["Lima", "Lima, Peru"]),
        ("['Lima'\n \"d'or\"]", ["Lima", "d'or"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("[np.str_('a'), np.str_('b')]", ["a", "b"]),
        ("('a', 'b')", ["a", "b"]),
        ("[1685.0, nan, None]", ["1685", "", ""]),
        ('["a", null]', ["a", ""]),
        (f"[Timestamp('{DAY} 00:00:00')]", [DAY]),
        ("a | b|", ["a", "b"]),
        ("(0, 5)", ["(0, 5)"]),
        ("[sic] a|b", ["[sic] a", "b"]),
        ("[]", []),
        ("", []),
        ('{Peru,Chad,"Korea, North"}', ["Peru", "Chad", "Korea, North"]),
        (r'{"a \"b\"",NULL,Chad}', ['a "b"', "", "Chad"]),
        ('c("Peru", "Korea, North")', ["Peru", "Korea, North"]),
        ("c('x=1, y=2', 'b')", ["x=1, y=2", "b"]),
        ("frozenset({'a', 'b'})", ["a", "b"]),
        ("dict_keys(['a', 'b'])", ["a", "b"]),
        ("deque(['a', 'b'], maxlen=2)", ["a", "b"]),
        ("Index(['a', 'b'], dtype='object', name='n')", ["a", "b"]),
        ("pd.Index(['a, b=c', 'd'], dtype='object')", ["a, b=c", "d"]),
        (json.dumps(json.dumps(["a", "b, c"])), ["a", "b, c"]),
        ("\u200b['a', 'b']\ufeff", ["a", "b"]),
        ("- a\n- b - c", ["a", "b - c"]),
        ("a ｜ b", ["a", "b"]),
        ("a｜b | c", ["a｜b", "c"]),
        # Each one text: an interval, sets of numbers and letters, a name, a call.
        ("{1,2,3}", ["{1,2,3}"]),
        ("{x,y}", ["{x,y}"]),
        ("(a, b)", ["(a, b)"]),
        ('("Heroes" Symphony)', ['("Heroes" Symphony)']),
        ("max('a', 'b')", ["max('a', 'b')"]),
        ("- a", ["- a"]),
        ("Washington (state, not city)", ["Washington (state, not city)"]),
        (["a ", None], ["a", ""]),
        (("a", "b"), ["a", "b"]),
        ({"b", "a"}, ["a", "b"]),
        (np.array(["a", "b"]), ["a", "b"]),
        (pd.Series([1.0, 2.5]), ["1", "2.5"]),
        (3, ["3"]),
        (None, []),
    ],
)
def test_lists_are_read_however_they_are_written(cell, texts):
    assert cells.cell_texts(cell, "Row 1") == texts


@pytest.mark.parametrize(
    "cell",
    [
        *(["a", "b"], "['a', 'b']", {"a": 1}, 1j, b"\xff", "\ud800", object()),
        *("frozenset({'a', 'b'})", '{Sucre,"La Paz"}', 'c("a", "b")'),
        *(np.array([["a", "b"], ["c", "d"]]), pd.Series(["a", "b"])),
    ],
)
def test_what_is_no_one_text_is_refused(cell):
    with pytest.raises(UserError, match=r"^Row 7: a cell holds ") as caught:
        cells.cell_text(cell, "Row 7")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "cell",
    [
        *("[a, b]", "['a' ... 'z']", "['a', b]", "['Peru', 'Chad", "('Peru', 'Chad'"),
        *("(Peru, Chad)", "{Peru, Chad}", '{"0": "Peru", "1": "Chad"}'),
        "array([['Peru', 'Chad']], dtype=object)",
        "0    Peru\n1    Chad\ndtype: object",
    ],
)
def test_a_list_that_cannot_be_read_is_refused(cell):
    with pytest.raises(UserError, match="begins as a list and cannot be read"):
        cells.cell_texts(cell, "Row 7")


def test_a_comparison_looks_through_spelling_and_no_further():
    alike = ["U.S.A.", "usa", "ＵＳＡ", "The USA", "USA\u200b", "\u2066USA\u2069!"]
    assert len({comparison_key(text) for text in alike}) == 1
    assert comparison_key("می\u200cخواهم") == comparison_key("میخواهم")
    for one, other in (("!", "?"), ("Niger", "Nigeria"), ("C", "C#"), ("4", "-4")):
        assert comparison_key(one) != comparison_key(other)


# The same facts, however the table is written

WORDS = st.text(st.sampled_from("abcäé字ک-' ,;|\"[]"), min_size=1, max_size=6)
NAMES = WORDS.filter(
    lambda text: comparison_key(text).strip(" |") and text == text.strip()
)
NAMES = NAMES.filter(lambda text: text == cells.cell_text(text, ""))
LISTS = st.lists(NAMES.filter(lambda text: "|" not in text), min_size=1, max_size=3)
MARKS = "\ufeff\u00ad\u200b\u2060\u200e\u202a\u2066"


@st.composite
def tables(draw):
    """Return a table of facts that is well made, with wrong objects."""
    n = draw(st.integers(1, 4))
    rows = []
    # Each subject once: of several objects none is wrong in another row.
    subjects = draw(st.lists(NAMES, min_size=n, max_size=n, unique_by=comparison_key))
    objects = draw(st.lists(NAMES, min_size=n, max_size=n, unique_by=comparison_key))
    for subject, obj in zip(subjects, objects, strict=True):
        wrong = draw(LISTS)
        wrong = {comparison_key(text): text for text in wrong}
        wrong.pop(comparison_key(obj), None)
        rows.append((subject, obj, list(wrong.values())))
    return pd.DataFrame(rows, columns=["subject", "object", "distractors"])


def _through_csv(table, cell_of_list, **how):
    text = table.assign(distractors=table["distractors"].map(cell_of_list))
    written = text.to_csv(index=False, **how)
    reading = {"sep": how.get("sep", ","), "dtype": str, "keep_default_na": False}
    return pd.read_csv(io.StringIO(written), **reading)


def _spoilt(table, spoil):
    lists = table["distractors"].map(lambda texts: [spoil(text) for text in texts])
    names = {name: table[name].map(spoil) for name in ("subject", "object")}
    return table.assign(**names, distractors=lists)


WAYS = {
    "python_lists": lambda table: _through_csv(table, str),
    "json_lists": lambda table: _through_csv(table, json.dumps, sep=";"),
    "numpy_lists": lambda table: _through_csv(
        table, lambda texts: str(np.array(texts)), sep="\t"
    ),
    "arrays": lambda table: table.assign(
        distractors=table["distractors"].map(np.array)
    ),
    "tuples": lambda table: table.assign(distractors=table["distractors"].map(tuple)),
    "category": lambda table: table.astype(
        {"subject": "category", "object": "category"}
    ),
    "string": lambda table: table.astype({"subject": "string", "object": "string"}),
    "arrow": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "object": lambda table: table.astype(object),
    "bytes": lambda table: table.assign(object=table["object"].map(str.encode)),
    "double_index": lambda table: table.set_axis([0] * len(table)),
    "subject_as_index": lambda table: table.set_index("subject"),
    "subject_twice": lambda table: table.set_index("subject", drop=False),
    "distractors_as_index": lambda table: table.assign(
        distractors=table["distractors"].map(tuple)
    ).set_index("distractors"),
    "names_in_capitals": lambda table: table.rename(columns=str.upper),
    "double_names": lambda table: table.set_axis(
        pd.MultiIndex.from_tuples([("r", n) for n in range(len(table))])
    ),
    "names_with_marks": lambda table: table.rename(columns="\ufeff {} ".format),
    "blanks": lambda table: _spoilt(table, " {}\u00a0".format),
    "marks": lambda table: _spoilt(table, lambda text: MARKS + text + MARKS),
    "decomposed": lambda table: _spoilt(
        table, lambda text: unicodedata.normalize("NFD", text)
    ),
    "further_columns": lambda table: table.assign(note=1, **{"note ": 2}),
}


@settings(max_examples=25, deadline=None)
@given(table=tables(), way=st.sampled_from(sorted(WAYS)))
def test_the_same_table_gives_the_same_facts(table, way):
    questions = {"r": ["Who wrote [X]?"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = datasets.write_dataset(table, questions, folder / "plain")
        other = datasets.write_dataset(WAYS[way](table), questions, folder / "other")
        plain, other = datasets.load(plain), datasets.load(other)
    pd.testing.assert_frame_equal(other, plain)
    assert plain["object"].tolist() == table["object"].tolist()
    assert plain["distractors"].tolist() == table["distractors"].tolist()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pd.Series([1685, 1813, None]).dropna(), ["1685", "1813"]),
        (pd.Series([1685, 1813], dtype="Int64"), ["1685", "1813"]),
        (pd.Series([1.5, 2], dtype="float32"), ["1.5", "2"]),
        (pd.Series(["1969-07-20", "1989-11-09"], dtype="datetime64[ns]"), None),
        (pd.Series(pd.to_datetime(["1969-07-20", "1989-11-09"], utc=True)), None),
        (pd.Series(["1969-07-20", "1989-11-09"], dtype="datetime64[s]").dt.date, None),
        (pd.Series(pd.PeriodIndex(["1969-07-20", "1989-11-09"], freq="D")), None),
        (pd.Series([1, 2], dtype="category"), ["1", "2"]),
        (pd.Series([1.1, 2.25], dtype="float[pyarrow]"), ["1.1", "2.25"]),
        (pd.Series([decimal.Decimal("1.50"), decimal.Decimal(2)]), ["1.5", "2"]),
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series(pd.to_timedelta([1, 2], unit="D")), ["1 day", "2 days"]),
        (pd.Series([7, 8], dtype="Sparse[int]"), ["7", "8"]),
    ],
)
def test_columns_of_numbers_and_days(values, texts, tmp_path):
    texts = texts or ["1969-07-20", "1989-11-09"]
    table = pd.DataFrame({"subject": ["a", "b"], "object": values.to_numpy(object)})
    table["object"] = values.array
    facts = datasets.load(datasets.write_dataset(table, {"r": ["[X]?"]}, tmp_path))
    assert facts["object"].tolist() == texts
    assert facts["distractors"].tolist() == [[texts[1]], [texts[0]]]


QUIZ = [("Which country is Lyon in?", ["France", "Peru"], "France")]
QUIZ += [("How many, in all?", ["one, two", "three"], "1")]


def _quiz_csv(separator=",", cell=" | ".join, header="question,options,answer"):
    rows = [separator.join(header.split(","))]
    for question, options, answer in QUIZ:
        texts = (question, cell(options), answer)
        rows.append(
            separator.join('"' + text.replace('"', '""') + '"' for text in texts)
        )
    return "\r\n".join(rows) + "\r\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (_quiz_csv(), "utf-8"),
        (_quiz_csv(";"), "utf-8-sig"),
        (_quiz_csv("\t"), "utf-16"),
        (_quiz_csv("\t"), "utf-16-le"),
        (_quiz_csv(), "utf-16-be"),
        (_quiz_csv(), "utf-32"),
        ("sep=;\r\n" + _quiz_csv(";"), "utf-8"),
        (_quiz_csv(cell=str), "utf-8"),
        (_quiz_csv(cell=json.dumps), "utf-8"),
        (_quiz_csv(header="Question, OPTIONS ,answer\u200b"), "utf-8"),
        (_quiz_csv() + ",,\r\n\r\n", "utf-8"),
        (_quiz_csv().replace("Lyon", " Ly\u200bon\u00a0"), "utf-8"),
        (_quiz_csv().replace("\r\n", "\r"), "utf-8"),
    ],
)
def test_the_same_quiz_gives_the_same_items(text, encoding, tmp_path):
    path = tmp_path / "quiz.csv"
    path.write_bytes(text.encode(encoding))
    items = multiple_choice.load_benchmark(path).items
    rows = items[["question", "options", "answer"]].to_numpy().tolist()
    assert rows == [[QUIZ[0][0], QUIZ[0][1], 0], [QUIZ[1][0], QUIZ[1][1], 1]]


def _parquet(answers, **further):
    stream = io.BytesIO()
    table = pa.table({"question": ["who"] * len(answers), "answer": answers, **further})
    pq.write_table(table.slice(0, 1), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "answers"),
    [
        (_parquet(pa.array([3.14], pa.float32())), ["3.14"]),
        (_parquet(pa.array([np.float16(3.14)], pa.float16())), ["3.14"]),
        (_parquet(pa.array([[1.1, 2.5]], pa.list_(pa.float32()))), ["1.1", "2.5"]),
        (_parquet(pa.array([decimal.Decimal("3.10")])), ["3.1"]),
        (_parquet(["x"], price=[decimal.Decimal("3.10")]), ["x"]),
        (_parquet(pa.array([2**53 + 1, None])), [str(2**53 + 1)]),
        (_parquet([{"value": "x", "aliases": ["y"]}]), ["x", "y"]),
    ],
)
def test_cells_of_parquet_are_what_was_written(data, answers, tmp_path):
    (tmp_path / "q.parquet").write_bytes(data)
    assert seen_questions.read_questions(tmp_path)["answers"].tolist() == [answers]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("q.ndjson", b"{}", r"ends in \.ndjson: give a file that ends in one of \.csv"),
        ("q.txt", b"question\tanswer\n", r"ends in \.txt"),
        ("q.jsonl.gz", gzip.compress(b"{}", mtime=0), r"ends in \.gz"),
        ("q", b"question,answer\n", "ends in nothing"),
        ("q.csv", b"PK\x03\x04\x14\x00\xff", r"is a zip archive \(as those of Excel"),
        ("q.csv", gzip.compress(b"question,answer", mtime=0), "is packed by gzip"),
        ("q.jsonl", b"\n<!DOCTYPE html><html>", "is a web page, not a text"),
        ("q.csv", _parquet(["x"]), "is a Parquet file, not a text"),
        ("q.parquet", b"%PDF-1.7", "is a PDF, not a Parquet file"),
    ],
)
def test_a_file_of_another_kind_is_named(name, data, sentence, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=sentence):
        seen_questions.read_questions(tmp_path / name)


def test_accents_of_windows_are_read_and_said(tmp_path, capsys):
    path = tmp_path / "quiz.csv"
    path.write_bytes(_quiz_csv(";").replace("Lyon", "Orléans").encode("cp1252"))
    items = multiple_choice.load_benchmark(path).items
    assert items["question"][0] == "Which country is Orléans in?"
    assert "read as Windows-1252" in capsys.readouterr().err
    for text, encoding in (("Орлеан", "cp1251"), ("巴黎市", "gbk")):
        path.write_bytes(_quiz_csv().replace("Lyon", text).encode(encoding))
        with pytest.raises(UserError, match="is not UTF-8 text"):
            multiple_choice.load_benchmark(path)


@pytest.mark.parametrize(
    ("options", "other"),
    [
        *(
            ("Peru", "peru"),
            ("Peru", "Peru\u200b"),
            ("USA", "U.S.A."),
            ("USA", "ＵＳＡ"),
        ),
        *(("Côte", "Co\u0302te"), ("Gambia", "The Gambia"), ("Peru", " Peru.")),
    ],
)
def test_an_object_in_another_spelling_is_refused_everywhere(options, other, tmp_path):
    table = pd.DataFrame({"subject": ["a", "b", "c"], "object": [options, other, "x"]})
    questions = {"r": ["[X]?"]}
    # What is one text, once it is tidied, is no second spelling.
    if cells.visible_text(options) != cells.visible_text(other):
        with pytest.raises(UserError, match="differ in spelling alone"):
            datasets.write_dataset(table, questions, tmp_path / "objects")
    for wrong, sentence in (([other], "its own object"), (["y", "y."], "twice")):
        facts = table.head(1).assign(distractors=[wrong])
        with pytest.raises(UserError, match=sentence):
            datasets.write_dataset(facts, questions, tmp_path / "wrong")


@pytest.mark.parametrize(
    "options", ["Peru|peru", "Peru|Peru.", "Peru|Peru\u200b", "USA|ＵＳＡ", "é|e\u0301"]
)
def test_an_option_in_another_spelling_is_there_twice(options, tmp_path):
    path = tmp_path / "quiz.csv"
    path.write_text(f'question,options,answer\nUp?,"{options}|x",x\n', "utf-8")
    with pytest.raises(UserError, match="twice"):
        multiple_choice.load_benchmark(path)


@pytest.mark.parametrize(
    "options",
    [
        *("(0, 1]|[0, 1)", "x[0]|x(0)", "10%|10", "C|C#", "3.5|35"),
        *("its|it's", "ano|año", "The Hague|Hague", "USA|U.S.A."),
    ],
)
def test_options_that_a_reader_tells_apart_are_two(options, tmp_path):
    path = tmp_path / "quiz.csv"
    path.write_text(f'question,options,answer\nWhich?,"{options}",1\n', "utf-8")
    assert multiple_choice.load_benchmark(path).items["answer"].tolist() == [1]


def test_missing_wrong_objects_are_left_out(tmp_path):
    table = pd.DataFrame({"subject": ["a", "b"], "object": ["x", "y"]})
    table["distractors"] = [["z", None], "['w', nan]"]
    facts = datasets.load(datasets.write_dataset(table, {"r": ["[X]?"]}, tmp_path))
    assert facts["distractors"].tolist() == [["z"], ["w"]]


def test_templates_and_relations_go_the_same_way(tmp_path):
    table = pd.DataFrame({"subject": ["a", "b"], "object": ["x", "y"], "relation": 17})
    questions = {17: [" Which\u00a0one is [X\u200b]? ", "What is [X]?\n"]}
    folder = datasets.write_dataset(table, questions, tmp_path)
    frames = datasets.prompt_frames(folder)
    assert frames["template"].tolist() == ["Which one is [X]?", "What is [X]?"]
    assert frames["relation"].tolist() == ["17", "17"]


def test_templates_in_one_text_are_parted(tmp_path):
    """A bar parts templates where each has its own subject, and is a text elsewhere."""
    table = pd.DataFrame({"subject": ["a", "b"], "object": ["x", "y"]})
    questions = {"r": ["What is [X]? | Which one is [X]?", "a|b: what is [X]?"]}
    frames = datasets.prompt_frames(datasets.write_dataset(table, questions, tmp_path))
    assert frames["template"].tolist() == [
        "What is [X]?",
        "Which one is [X]?",
        "a|b: what is [X]?",
    ]


def test_questions_and_their_answers_go_the_same_way(tmp_path):
    path = tmp_path / "q.csv"
    table = pd.DataFrame({"question": [" who\u00a0wrote it\u200b "]})
    table["answer"] = [["Ann", "A.\u00a0Ann"]]
    for cells_of_answer in (str, json.dumps):
        table.assign(answer=table["answer"].map(cells_of_answer)).to_csv(path)
        read = seen_questions.read_questions(path)
        assert read["question"].tolist() == ["who wrote it"]
        assert read["answers"].tolist() == [["Ann", "A. Ann"]]
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "how many", "answer": [3, 3.0, 3.5]}', "utf-8")
    assert seen_questions.read_questions(path)["answers"].tolist() == [["3", "3.5"]]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            pd.DataFrame([["a", "b", "c"]], columns=["subject", "object", "object"]),
            "two",
        ),
        (
            pd.DataFrame([["a", "b"]], columns=[["x", "x"], ["subject", "object"]]),
            "level",
        ),
        ([{"subject": "a", "object": "b"}], "is no table"),
        (
            pd.DataFrame(
                {"subject": ["a"], "object": ["b"]}, pd.Index(["c"])
            ).rename_axis("subject"),
            "two columns 'subject'",
        ),
        (pd.DataFrame({"subject": ["a"], "object": ["\u200b "]}), "Row 0 has an empty"),
        (pd.DataFrame({"subject": [{"a": 1}], "object": ["b"]}), "Row 0: a cell holds"),
    ],
)
def test_tables_that_are_none_are_refused(facts, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        datasets.write_dataset(facts, {"r": ["[X]?"]}, tmp_path)
