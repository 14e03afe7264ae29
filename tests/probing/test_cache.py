"""An interrupted run goes on where it stopped; files that are broken are computed again."""

import errno
import pathlib

import numpy as np
import pandas as pd
import pytest
import torch

from helpers import UserError
from helpers.probing import engine, generate, result_cache, score
from helpers.probing.engine import PackScorer
from tests import tiny_models
from tests.probing.test_scoring import probe_table

CITIES = ("Lyon", "Bern", "Turin", "Rome", "Nice", "Bari")
PROBES = probe_table(
    [f"Which country is {city} in?" for city in CITIES], [" France", " Italy"]
)


@pytest.fixture
def lm():
    lm = tiny_models.tiny_language_model("llama")
    assert engine.scorer_of_model(lm).joins  # tried
    return lm


@pytest.fixture
def forwarded(lm, monkeypatch):
    """Count the finished rows; raise KeyboardInterrupt before the pass of number "stop".

    Packs are so short that each holds one prompt with its two options.
    """
    seen = {"rows": 0, "passes": 0, "stop": None}
    scored, continued = PackScorer.score, PackScorer.texts

    def count(rows):
        if seen["passes"] == seen["stop"]:
            raise KeyboardInterrupt
        seen["passes"] += 1
        seen["rows"] += rows

    def counted_scores(how, rows, batch_size=None):
        for done in scored(how, rows, batch_size):
            count(len(done))
            yield done

    def counted_texts(how, *asked):
        for done in continued(how, *asked):
            count(len(done))
            yield done

    monkeypatch.setattr(lm.trials, "pack_length", 9)
    monkeypatch.setattr(PackScorer, "score", counted_scores)
    monkeypatch.setattr(PackScorer, "texts", counted_texts)
    return seen


def test_interrupted_scoring_resumes_and_gives_the_same_table(lm, forwarded, tmp_path):
    whole = score(lm, PROBES, progress=False)
    forwarded.update(rows=0, passes=0, stop=3)
    with pytest.raises(KeyboardInterrupt):
        score(lm, PROBES, tmp_path, progress=False)
    assert forwarded["rows"] == 6
    forwarded.update(rows=0, stop=None)
    found = score(lm, PROBES, tmp_path, progress=False)
    assert forwarded["rows"] == len(PROBES) - 6
    pd.testing.assert_frame_equal(found, whole)
    forwarded.update(rows=0)
    pd.testing.assert_frame_equal(score(lm, PROBES, tmp_path, progress=False), whole)
    assert forwarded["rows"] == 0


def test_interrupted_generation_resumes_and_gives_the_same_table(
    lm, forwarded, tmp_path
):
    prompts = PROBES.drop_duplicates("prompt")
    settings = {"anchors": [" France and Italy"] * len(prompts), "progress": False}
    whole = generate(lm, prompts, **settings)
    forwarded.update(rows=0, passes=0, stop=2)
    with pytest.raises(KeyboardInterrupt):
        generate(lm, prompts, cache=tmp_path, **settings)
    finished = forwarded["rows"]
    assert 0 < finished < len(prompts)
    forwarded.update(rows=0, stop=None)
    found = generate(lm, prompts, cache=tmp_path, **settings)
    assert forwarded["rows"] == len(prompts) - finished
    pd.testing.assert_frame_equal(found, whole)


def test_a_killed_run_keeps_what_was_flushed(lm, forwarded, monkeypatch, tmp_path):
    # What `kill -9` leaves: the chunks written so far and a half-written file, no last
    # flush.
    monkeypatch.setattr(result_cache, "CHUNK_ROWS", 4)
    write = result_cache.write_results
    forwarded["stop"] = 5
    monkeypatch.setattr(
        result_cache,
        "write_results",
        lambda to, new: write(to, new) if len(new) >= 4 else None,
    )
    with pytest.raises(KeyboardInterrupt):
        score(lm, PROBES, tmp_path, progress=False)
    (tmp_path / "answers-0123.tmp").write_bytes(b"PAR1 half a file")
    monkeypatch.setattr(result_cache, "write_results", write)
    forwarded.update(rows=0, stop=None)
    found = score(lm, PROBES, tmp_path, progress=False)
    assert forwarded["rows"] == len(PROBES) - 8
    pd.testing.assert_frame_equal(found, score(lm, PROBES, progress=False))


def test_many_small_files_hold_the_same_and_become_one(
    lm, forwarded, monkeypatch, tmp_path
):
    whole = score(lm, PROBES, progress=False)
    monkeypatch.setattr(result_cache, "CHUNK_ROWS", 1)
    pd.testing.assert_frame_equal(score(lm, PROBES, tmp_path, progress=False), whole)
    assert len(list(tmp_path.iterdir())) == 6
    monkeypatch.setattr(result_cache, "MOST_FILES", 5)
    forwarded.update(rows=0)
    for _ in range(2):
        pd.testing.assert_frame_equal(
            score(lm, PROBES, tmp_path, progress=False), whole
        )
        assert len(list(tmp_path.iterdir())) == 1
    assert forwarded["rows"] == 0


@pytest.mark.parametrize(
    "damage", ["cut", "flip", "other", "no parquet", "other columns"]
)
def test_a_broken_file_is_set_aside_and_computed_again(lm, forwarded, tmp_path, damage):
    whole = score(lm, PROBES, tmp_path, progress=False)
    file = next(tmp_path.glob("*.parquet"))
    content = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        content[len(content) // 3] ^= 1  # the file still opens, with another content
        file.write_bytes(content)
    else:
        pd.DataFrame({"key": ["a"]}).to_parquet(file)
    if damage == "no parquet":
        file.write_bytes(b"no parquet")
    if damage.startswith(("no", "other c")):  # under the name that fits it
        file.rename(
            file.with_stem(f"answers-{result_cache._checksum(file.read_bytes())}")
        )
    forwarded.update(rows=0)
    with pytest.warns(UserWarning, match=r"set aside as answers-.*\.corrupt"):
        found = score(lm, PROBES, tmp_path, progress=False)
    assert forwarded["rows"] == len(PROBES)
    pd.testing.assert_frame_equal(found, whole)
    assert len(list(tmp_path.glob("*.corrupt"))) == 1
    assert len(list(tmp_path.glob("*.parquet"))) == 1


def test_other_models_formats_and_starts_have_other_keys(lm, tmp_path):
    other = tiny_models.tiny_language_model("llama", seed=1)
    chat, bare = (
        tiny_models.tiny_language_model("llama", tiny_models.chat_tokenizer(), chat=c)
        for c in (True, False)
    )
    for one, two in ((lm, other), (chat, bare)):
        first, second = (score(m, PROBES, tmp_path, progress=False) for m in (one, two))
        assert first["logprobs"].iloc[0] != second["logprobs"].iloc[0]
        pd.testing.assert_frame_equal(second, score(two, PROBES, progress=False))
    theta = tiny_models.tiny_language_model("llama", rope_theta=50.0)
    theta.model.config.rope_theta_note = "another configuration, the same weights"
    half = tiny_models.tiny_language_model("llama")
    object.__setattr__(half, "dtype", torch.bfloat16)
    assert (
        len({result_cache.model_identity_hash(each) for each in (lm, theta, half)}) == 3
    )


def test_changed_rules_of_generation_are_not_read_from_the_cache(lm, tmp_path):
    settings = {"stop": ["never"], "cache": tmp_path, "progress": False}
    long = generate(lm, ["Lyon"], 6, **settings)["tokens"].iloc[0]
    short = generate(lm, ["Lyon"], np.int64(3), **settings)["tokens"].iloc[0]
    assert short == long[:3]


def test_a_full_disk_is_one_sentence(lm, monkeypatch, tmp_path):
    def full(path, content):
        if content:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", full)
    with pytest.raises(UserError, match=r"No space left on device.*; free space"):
        score(lm, PROBES, tmp_path, progress=False)


def test_values_come_back_exactly(tmp_path):
    result = result_cache.Result((-0.1, float("-inf")), (3, 4), (-1e-30,))
    result_cache.write_results(
        tmp_path, {"a": result, "b": result_cache.Result((-1.0,))}
    )
    assert result_cache.read_results(tmp_path, ["a"]) == {"a": result}


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_what_another_version_of_a_library_scored_is_not_read_back(
    lm, library, forwarded, monkeypatch, tmp_path
):
    score(lm, PROBES, tmp_path, progress=False)
    forwarded.update(rows=0)
    other = result_cache.identities.library_versions() | {library: "9.9.9"}
    monkeypatch.setattr(result_cache.identities, "library_versions", lambda: other)
    score(lm, PROBES, tmp_path, progress=False)
    assert forwarded["rows"] == len(PROBES)
