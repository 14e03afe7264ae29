"""T-REx-MC in its published columns, from a folder and, with the network replaced, by its name."""

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.datasets import download, trex_mc
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


@pytest.mark.parametrize("ending", trex_mc.READERS)
def test_published_columns_become_facts(tmp_path, ending):
    facts = datasets.load(write(tmp_path, ending))
    assert facts["fact"].tolist()[:3] == ["T7-train-00000", "T7-train-00001", "T50-train-00002"]
    assert facts["fact"].is_unique
    assert facts["split"].value_counts().to_dict() == {"train": 3, "test": 3}
    assert facts["subject"].tolist()[1] == "1984"
    assert facts["choices"].tolist()[:3] == [["star", "d'or"], ["star"], ["Lima", "Oslo"]]
    table = datasets.relations(tmp_path).set_index("relation")
    assert table.loc["T50", ["label", "n_facts", "n_objects"]].tolist() == ["capital", 2, 1]
    assert datasets.frames(tmp_path).empty
    assert datasets.source(tmp_path)["name"] == "trex_mc"
    assert len(datasets.source(tmp_path)["checksum"]) == 64


def test_the_truth_is_appended_to_the_published_choices(tmp_path):
    facts = datasets.load(write(tmp_path), ["T7"])
    found = lists.choices(facts, facts)
    assert found["T7-test-00000"] == ["star", "d'or", "planet"]
    assert found["T7-test-00001"] == ["star", "novel"]


def test_by_its_name_it_is_fetched_once(tmp_path, monkeypatch):
    asked = []

    def fetch(name, base, files):
        asked.append((name, base, sorted(files)))
        return write(tmp_path)

    monkeypatch.setattr(download, "fetch", fetch)
    assert len(datasets.load("trex_mc", n=1)) == 2
    name, base, files = asked[0]
    assert name == "trex_mc"
    assert base.startswith("https://huggingface.co/datasets/QinyuanWu/T-Rex-MC/resolve/7f5049d")
    assert files == ["data/test-00000-of-00001.parquet", "data/train-00000-of-00001.parquet"]


@pytest.mark.parametrize("value", ["'star'", "[1, 2]", "['star'", "star", "{'a': 'b'}"])
def test_choices_that_are_no_list_are_refused_with_their_row(tmp_path, value):
    rows = {**ROWS, "Multiple Choices": ["['a']", value, "['b']"]}
    with pytest.raises(UserError, match=r"train-.*row 1 has Multiple Choices"):
        datasets.load(write(tmp_path, ".csv", rows))


def test_a_missing_column_is_named(tmp_path):
    rows = {key: value for key, value in ROWS.items() if key != "Object"}
    with pytest.raises(UserError, match="lacks the column Object"):
        datasets.load(write(tmp_path, ".csv", rows))


def test_a_damaged_file_is_named(tmp_path):
    write(tmp_path)
    (tmp_path / "data" / "test-00000-of-00001.parquet").write_bytes(b"no parquet")
    with pytest.raises(UserError, match=r"test-00000-of-00001\.parquet cannot be read"):
        datasets.load(tmp_path)


def test_without_a_network_one_sentence_tells_the_way(tmp_path, monkeypatch):
    import pooch

    def offline(*args, **kwargs):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch, "retrieve", offline)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(UserError, match=r"data set trex_mc .*; go online, or .*give its path"):
        datasets.load("trex_mc")
    monkeypatch.setattr(pooch, "retrieve", lambda *a, **k: (_ for _ in ()).throw(ValueError()))
    with pytest.raises(UserError, match="not the published file"):
        datasets.load("nobel")
