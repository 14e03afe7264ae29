"""Facts without questions: T-REx-MC, and laureates from both published tables."""

import json
import re

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.datasets import facts_without_questions, multiple_choice
from helpers.datasets.registry import SOURCES
from helpers.prompts import lists

ROWS = {
    "Relation_ID": [7, 7, 50],
    "Relation Name": ["instance of", "instance of", "capital"],
    "Subject": ["Mars", "1984", "France"],
    "Object": ["planet", "novel", "Paris"],
    "Multiple Choices": ["['star', \"d'or\"]", "['star', 'novel']", "['Lima', 'Oslo']"],
    "Title": ["Mars", "1984", "France"],
    "Text": ["...", "...", "..."],
}


def write(folder, ending=".parquet", rows=ROWS):
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        path = data / f"{split}-00000-of-00001{ending}"
        table = pd.DataFrame(rows)
        if ending == ".parquet":
            table.to_parquet(path)
        elif ending == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_json(path, orient="records", lines=True)
    return folder


@pytest.mark.parametrize("ending", facts_without_questions.FILE_ENDINGS)
def test_published_columns_become_facts(tmp_path, ending):
    facts = datasets.load(write(tmp_path, ending))
    assert facts["fact"].tolist()[:3] == [
        "T7-train-00000",
        "T7-train-00001",
        "T50-train-00002",
    ]
    assert facts["fact"].is_unique
    assert facts["split"].value_counts().to_dict() == {"train": 3, "test": 3}
    assert facts["subject"].tolist()[1] == "1984"
    assert facts["choices"].tolist()[:3] == [
        ["star", "d'or"],
        ["star"],
        ["Lima", "Oslo"],
    ]
    table = datasets.relation_table(tmp_path).set_index("relation")
    assert table.loc["T50", ["label", "n_facts", "n_objects"]].tolist() == [
        "capital",
        2,
        1,
    ]
    assert datasets.prompt_frames(tmp_path).empty
    assert datasets.source_record(tmp_path)["name"] == "trex_mc"
    assert len(datasets.source_record(tmp_path)["checksum"]) == 64


def test_the_truth_is_appended_to_the_published_choices(tmp_path):
    facts = datasets.load(write(tmp_path), ["T7"])
    found = lists.draw_choices(facts, facts)
    assert found["T7-test-00000"] == ["star", "d'or", "planet"]
    assert found["T7-test-00001"] == ["star", "novel"]


def test_by_its_name_it_is_fetched_once(tmp_path, monkeypatch):
    asked = []

    def download(url, output_file, _):
        asked.append(url)
        pd.DataFrame(ROWS).to_parquet(output_file)

    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / name)
    monkeypatch.setattr("pooch.core.choose_downloader", lambda *_, **__: download)
    for _ in range(2):
        assert len(datasets.load("trex_mc", n=1)) == 2
    base = "https://huggingface.co/datasets/QinyuanWu/T-Rex-MC/resolve/7f5049d"
    assert all(url.startswith(base) for url in asked)
    names = [url.rpartition("/data/")[2] for url in asked]
    assert names == ["train-00000-of-00001.parquet", "test-00000-of-00001.parquet"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        *(
            (
                {**ROWS, "Multiple Choices": ["['a']", odd, "['b']"]},
                "train-.*row 1 has Multiple Ch",
            )
            for odd in ("'star'", "['star'", "star", "{'a': 'b'}")
        ),
        (
            {key: ROWS[key] for key in ROWS if key != "Object"},
            "lacks the column Object",
        ),
    ],
)
def test_tables_in_another_form_are_refused(tmp_path, rows, sentence):
    with pytest.raises(UserError, match=sentence):
        datasets.load(write(tmp_path, ".csv", rows))


LAMA = [
    {"uuid": "1", "obj_label": "France", "sub_label": "Lyon", "predicate_id": "P17"},
    {"uuid": "2", "obj_label": "Peru", "sub_label": "Lima ", "predicate_id": "P17"},
    {"uuid": "3", "obj_label": "Peru", "sub_label": "Lima", "predicate_id": "P17"},
]
GOOGLE_RE = [
    {"pred": "/people/person/place_of_birth", "sub": "Ann", "obj": "Oslo"},
    {"pred": "/people/person/place_of_birth", "sub": "Bea", "obj": "Rome"},
]


def write_lines(path, records):
    path.parent.mkdir(exist_ok=True)
    masked = {"masked_sentences": ["It is [MASK] ."], "evidences": []}
    lines = [json.dumps(record | masked) for record in records]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_lama_is_read_as_published(tmp_path):
    write_lines(tmp_path / "TREx" / "P17.jsonl", LAMA)
    born = write_lines(tmp_path / "Google_RE" / "born_test.jsonl", GOOGLE_RE)
    template = {"relation": "P17", "template": "[X] is located in [Y] ."}
    write_lines(tmp_path / "relations.jsonl", [template])
    facts = datasets.load(tmp_path)
    assert facts[["fact", "subject", "object"]].to_numpy().tolist() == [
        ["_people_person_place_of_birth-0000", "Ann", "Oslo"],
        ["_people_person_place_of_birth-0001", "Bea", "Rome"],
        ["P17-0000", "Lyon", "France"],
        ["P17-0001", "Lima", "Peru"],
    ]
    assert facts["distractors"].tolist() == [["Rome"], ["Oslo"], ["Peru"], ["France"]]
    assert multiple_choice.dataset_kind(tmp_path) == "pairs"
    assert datasets.load(born)["object"].tolist() == ["Oslo", "Rome"]
    assert len(datasets.source_record(born)["checksum"]) == 64
    assert datasets.prompt_frames(tmp_path).empty
    assert datasets.relation_table(tmp_path)["n_facts"].tolist() == [2, 2]
    lines = write_lines(tmp_path / "none.jsonl", [{"sub_label": "", "obj_label": "x"}])
    with pytest.raises(UserError, match=r"No line of .* has a subject and an object"):
        datasets.load(lines)


def test_a_choice_that_is_the_object_in_another_spelling_is_dropped(tmp_path):
    rows = ROWS | {"Multiple Choices": ["['Planet', 'star']"] * 3}
    facts = datasets.load(write(tmp_path, ".csv", rows), ["T7"])
    assert facts["choices"][0] == ["star"]


def test_a_damaged_file_is_named(tmp_path):
    write(tmp_path)
    (tmp_path / "data" / "test-00000-of-00001.parquet").write_bytes(b"no parquet")
    with pytest.raises(UserError, match=r"test-00000-of-00001\.parquet cannot be read"):
        datasets.load(tmp_path)


def test_the_published_table_of_laureates(shared):
    path = shared / "data" / "nobel" / "nobel.csv"
    facts = datasets.load(path)
    assert len(facts) == 990
    born = facts.set_index("subject")["object"]
    assert born["Albert Einstein"] == "1879"
    assert born["Marie Curie"] == "1867"
    assert born["Aung San Suu Kyi"] == "1945"
    assert not any("Red Cross" in name or name.endswith(" NA") for name in born.index)
    assert facts["object"].str.fullmatch(r"\d{4}").all()
    assert facts["relation"].unique().tolist() == ["P569"]
    source = datasets.source_record(path)
    assert source["checksum"] == SOURCES["nobel"].files["nobel.csv"]
    assert source["licence"] == "CC BY-SA 4.0"
    parts = lists.divide_into_examples_and_tests(facts)
    assert parts["role"].value_counts().to_dict() == {"test": 890, "example": 100}
    found = lists.draw_choices(parts[parts["role"] == "test"].head(5), facts)
    assert {len(options) for options in found.values()} == {100}


def test_the_data_page_counts_it(shared, root):
    page = (root / "book" / "data.md").read_text(encoding="utf-8")
    path = shared / "data" / "nobel" / "nobel.csv"
    rows = len(pd.read_csv(path))
    facts = datasets.load(path)
    assert f"{len(facts)} persons are left" in page
    told = re.search(
        r"table of ([\d,]+) prizes.*?Without (\d+) prizes.*?and (\d+) second", page
    )
    prizes, organisations, second = (int(n.replace(",", "")) for n in told.groups())
    assert prizes == rows == len(facts) + organisations + second


def test_years_alone_in_latin_1(tmp_path):
    path = tmp_path / "nobel.csv"
    lines = ['"","firstname","surname","born"', '"1","Wilhelm Conrad","Röntgen","1845"']
    path.write_bytes("\n".join([*lines, '"2","X","","NA"\n']).encode("latin-1"))
    facts = datasets.load(path)
    assert facts[["subject", "object"]].to_numpy().tolist() == [
        ["Wilhelm Conrad Röntgen", "1845"]
    ]
    assert datasets.source_record(path)["licence"] == ""


def test_a_table_without_years_is_refused(tmp_path):
    path = tmp_path / "nobel.csv"
    path.write_text("firstname,surname,born\nA,B,unknown\n", encoding="utf-8")
    with pytest.raises(
        UserError, match=r"No row of .* has a person with a year of birth"
    ):
        datasets.load(path)


def test_another_csv_is_not_taken_for_it(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert (
        facts_without_questions.dataset_at_path(path)
        == facts_without_questions.dataset_at_path(tmp_path)
        == ""
    )


def test_a_folder_with_one_table_is_read_and_with_two_refused(tmp_path):
    table = "firstname,surname,born\nMarie,Curie,1867\n"
    (tmp_path / "nobel.csv").write_text(table, encoding="utf-8")
    (tmp_path / "SOURCE.csv").write_text("file\nnobel.csv\n", encoding="utf-8")
    assert datasets.load(tmp_path)["object"].tolist() == ["1867"]
    assert (
        datasets.source_record(tmp_path)["checksum"]
        == datasets.source_record(tmp_path / "nobel.csv")["checksum"]
    )
    (tmp_path / "nobel_v1.csv").write_text(table, encoding="utf-8")
    with pytest.raises(UserError, match=r"several tables, nobel\.csv, nobel_v1\.csv"):
        datasets.load(tmp_path)
