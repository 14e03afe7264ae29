"""vLLM, for real: its numbers, whole chapters through it, and its death in the middle of a run.

`make test-server` runs these; vLLM's processor build takes 3.5 GB.
"""

import os
import threading
import time

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, datasets, models, probing, prompts, runs
from helpers.prompts import lists
from tests.chapters import finished_runs
from tests.server.vllm_server import PYTHON_VARIABLE, VllmServer

MODEL = "atlas-m"
TOLERANCE = 1e-3
FEW = ["n_facts=2", "relations=P17,P36", "n_bootstrap=100", "n_panel=0"]
LISTS = [*FEW, "n_examples=10", "n_choices=20", "n_close=2", "n_seeds=2",
         "siblings=no", "compared=P17"]  # fmt: skip

pytestmark = pytest.mark.skipif(
    PYTHON_VARIABLE not in os.environ, reason="make test-server runs these, on vLLM"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with VllmServer(MODEL, tmp_path_factory.mktemp("vllm") / "vllm.log") as opened:
        yield opened


@pytest.fixture(scope="module")
def served(server):
    return models.load(server.address)


@pytest.fixture(scope="module")
def at_hand():
    return models.load(MODEL, device="cpu", dtype="float32")


def monitor_probes() -> pd.DataFrame:
    facts = datasets.load("atlas", ["P17", "P36", "P38"], n=6, seed=1)
    return prompts.monitor_probes(facts, datasets.prompt_frames("atlas"))


def list_probes() -> pd.DataFrame:
    facts = datasets.load("atlas", ["P17", "P36"], seed=1)
    sides = dict(
        list(lists.divide_into_examples_and_tests(facts, seed=1).groupby("role"))
    )
    tests = sides["test"].groupby("relation").head(3)
    return lists.ic_lke_probes(
        tests, sides["example"], lists.draw_choices(tests, facts, 40, 1), 30, seed=1
    )


def largest_difference(left: pd.Series, right: pd.Series) -> float:
    assert [len(values) for values in left] == [len(values) for values in right]
    pairs = np.array([pair for a, b in zip(left, right) for pair in zip(a, b)])
    same = pairs[:, 0] == pairs[:, 1]  # minus infinity on both sides
    return float(np.abs(np.diff(pairs[~same])).max(initial=0))


@pytest.mark.parametrize("make", [monitor_probes, list_probes])
def test_scores_are_those_of_the_model_at_hand(served, at_hand, make, record_property):
    assert served.server.ways == ("nodes", "prompt_logprobs")
    probes = make()
    found, wanted = (
        probing.score(lm, probes, progress=False) for lm in (served, at_hand)
    )
    difference = largest_difference(found["logprobs"], wanted["logprobs"])
    record_property("difference", difference)
    assert difference <= TOLERANCE
    kept = [name for name in wanted if name != "logprobs"]
    pd.testing.assert_frame_equal(found[kept], wanted[kept])


@pytest.mark.parametrize("stop", [("\n",), ()])
def test_texts_are_those_of_the_model_at_hand(served, at_hand, stop):
    probes = monitor_probes()
    asked = dict(
        max_new_tokens=12, stop=stop, anchors=probes["continuation"], progress=False
    )
    found, wanted = (probing.generate(lm, probes, **asked) for lm in (served, at_hand))
    for column in ("logprobs", "anchor_logprobs"):
        assert largest_difference(found[column], wanted[column]) <= TOLERANCE
    kept = [name for name in wanted if "logprobs" not in name]
    pd.testing.assert_frame_equal(found[kept], wanted[kept])


@pytest.mark.parametrize(
    ("chapter", "given"), [("monitor", FEW), ("latent_knowledge", LISTS)]
)
def test_a_chapter_runs_whole(server, tmp_path, chapter, given):
    folder = finished_runs.run(chapter, server.address, given, tmp_path)
    told = runs.load_manifest(folder)
    assert told["model"]["server"]["version"]
    assert told["scoring"]["method"] == "server"
    local = finished_runs.run(chapter, MODEL, given, tmp_path)
    ours, theirs = (runs.load_answers(place) for place in (folder, local))
    assert largest_difference(ours["logprobs"], theirs["logprobs"]) <= TOLERANCE


def test_a_server_killed_in_the_middle_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVER_PATIENCE", "3")
    monkeypatch.setenv("SERVER_IN_FLIGHT", "4")
    log = tmp_path / "vllm.log"
    with VllmServer(MODEL, log) as server:
        whole = finished_runs.run("monitor", server.address, FEW, tmp_path / "whole")
        cache = tmp_path / "cut" / whole.parent.name / "cache"
        threading.Thread(
            target=_kill_once_there_is, args=(cache, server), daemon=True
        ).start()
        with pytest.raises(UserError, match=r"cannot be reached|cut the connection"):
            finished_runs.run("monitor", server.address, FEW, tmp_path / "cut")
        kept = sum(file.stat().st_size for file in cache.glob("answers-*.parquet"))
        assert kept
    with VllmServer(MODEL, log, port=server.port) as again:
        resumed = finished_runs.run("monitor", again.address, FEW, tmp_path / "cut")
    for table in (runs.load_answers, runs.load_metrics):
        pd.testing.assert_frame_equal(table(resumed), table(whole), atol=1e-5, rtol=0)


def _kill_once_there_is(cache, server) -> None:
    """Kill the server once the first answers of a run are on disk."""
    while not list(cache.glob("answers-*.parquet")):
        time.sleep(0.02)
    server.kill()
