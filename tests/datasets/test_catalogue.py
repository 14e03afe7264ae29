"""Loading by name or path: samples, relations, sources and the words of errors."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError, datasets
from helpers.datasets import exposure, multiple_choice, seen_questions
from helpers.exchange import cooccurrence

RELATIONS = ["P30", "P61", "P246", "P575"]


@settings(max_examples=15)
@given(
    n=st.integers(1, 60),
    seed=st.integers(0, 2**40),
    wanted=st.lists(st.sampled_from(RELATIONS), min_size=1, unique=True),
)
def test_a_sample_does_not_depend_on_n_or_the_other_relations(n, seed, wanted):
    few = datasets.load("atlas", relations=wanted, n=n, seed=seed)
    more = datasets.load("atlas", relations=RELATIONS, n=n + 5, seed=seed)
    whole = datasets.load("atlas", relations=wanted)
    sizes = whole["relation"].value_counts().clip(upper=n)
    assert few["relation"].value_counts().to_dict() == sizes.to_dict()
    assert (
        few["fact"].tolist()
        == whole.loc[whole["fact"].isin(few["fact"]), "fact"].tolist()
    )
    merged = few.merge(more, on="fact", suffixes=("", "_more"))
    assert len(merged) == len(few)
    assert merged["distractors"].tolist() == merged["distractors_more"].tolist()


def test_another_seed_gives_other_facts_and_distractors():
    one, two = (
        datasets.load("atlas", relations=["P17"], n=40, seed=seed) for seed in (0, 1)
    )
    assert one["fact"].tolist() != two["fact"].tolist()
    one, two = (
        datasets.load("atlas", relations=["P246"], seed=seed) for seed in (0, 1)
    )
    assert one["distractors"].tolist() != two["distractors"].tolist()


def test_no_relations_means_all_of_them():
    assert datasets.load("atlas", relations=[]).equals(datasets.load("atlas"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "altas"}, "atlas, fktc"),
        ({"name": Path("no/such/folder")}, "no/such/folder"),
        ({"name": "./nowhere/fktc"}, "check the path"),
        (
            {"name": "atlas", "relations": ["P17", "P9999"]},
            "P9999.*choose from P17, P30",
        ),
        ({"name": "atlas", "relations": "P17"}, r"\['P17'\]"),
        ({"name": "atlas", "n": 0}, "at least 1"),
        ({"name": "atlas", "seed": -1}, "seed"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(arguments, words):
    with pytest.raises(UserError, match=words):
        datasets.load(**arguments)


def test_frames_keep_the_wanted_relations():
    assert set(datasets.prompt_frames("atlas", ["P61", "P36"])["relation"]) == {
        "P36",
        "P61",
    }
    with pytest.raises(UserError, match="P1"):
        datasets.prompt_frames("atlas", ["P1"])


def test_the_source_of_the_atlas_is_told():
    source = datasets.source_record("atlas")
    assert source["name"] == "atlas"
    assert len(source["checksum"]) == 64
    assert all(source.values())


def test_exposures_of_a_bundled_model_are_read(monkeypatch, tmp_path):
    monkeypatch.setattr(exposure, "BUNDLED_MODELS_FOLDER", tmp_path)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "exposures.csv").write_text(
        "fact,exposures\nP17-0000,256\nP17-0001,0\n"
    )
    counts = datasets.training_exposure("tiny")["exposures"]
    assert counts.to_dict() == {"P17-0000": 256, "P17-0001": 0}
    assert counts.index.name == "fact"


@pytest.mark.parametrize("model", ["gpt2", "org/name", "../weights/tiny", "", "."])
def test_exposures_of_other_models_are_not_known(model):
    assert datasets.training_exposure(model) is None


def test_exposures_of_shipped_models_are_about_atlas_facts():
    models = [
        path.name for path in exposure.BUNDLED_MODELS_FOLDER.glob("*/") if path.is_dir()
    ]
    if not models:
        pytest.skip("no bundled weights are in this checkout")
    known = set(datasets.load("atlas")["fact"])
    for model in models:
        counts = datasets.training_exposure(model)["exposures"]
        assert set(counts.index) <= known
        assert (counts >= 0).all()


FETCHED = {
    "fktc": datasets.load,
    "fever": multiple_choice.load_benchmark,
    "popqa": seen_questions.read_questions,
}


@pytest.mark.parametrize("name", FETCHED)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConnectionError("no network"), "failed: .*; go online, or .*(give|path)"),
        (OSError("down"), r"failed: down \(OSError\); check your network, or"),
        (ValueError("hash"), "is not the published file .*: try again, or"),
    ],
)
def test_what_cannot_be_fetched_is_one_sentence(
    monkeypatch, tmp_path, name, error, sentence
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    monkeypatch.setattr("pooch.core.stream_download", fail)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(UserError, match=sentence):
        FETCHED[name](name)


READERS = {
    "facts": datasets.load,
    "options": multiple_choice.load_benchmark,
    "questions": seen_questions.read_questions,
    "documents": lambda path: [*cooccurrence.read_corpus_documents(path)],
}
REFUSED = yaml.safe_load(
    Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("kind", "name", "content", "sentence"),
    [(kind, *case) for kind in READERS for case in REFUSED[kind]],
)
def test_a_file_that_cannot_be_read_is_named_in_one_sentence(
    tmp_path, kind, name, content, sentence
):
    content = content if isinstance(content, bytes) else "\n".join(content).encode()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=sentence) as told:
        READERS[kind](tmp_path / name)
    assert name in str(told.value)
    assert "\n" not in str(told.value)
