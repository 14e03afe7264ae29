"""Tests of helpers.publishing.estimates: what is counted, and what the seconds are made of."""

import math

import pandas as pd
import pytest

from helpers import runs
from helpers.probing import scoring
from helpers.publishing import estimates, settings, sweeps
from helpers.publishing.jobs import TEMPLATES
from tests import tiny

PROBES = pd.DataFrame(
    [
        (f"item{i}", "base", j, f"Which country is {city} in?", option, j == 0)
        for i, city in enumerate(["Lyon", "Bern", "Turin", "Rome", "Nice", "Bari"])
        for j, option in enumerate([" France", " Italy"])
    ],
    columns=["item", "variant", "option", "prompt", "continuation", "correct"],
).assign(logprobs=0, tokens=0, read="")


@pytest.fixture
def pilot(tmp_path):
    """Return a sweep of MONITOR over two models, whose folder holds a run of one of them."""
    folder = tmp_path / "first" / "monitor"
    declared = settings.declared(TEMPLATES / "monitor.ipynb")
    parameters = declared | {"model": "first", "n_facts": 2, "run_dir": str(folder)}
    run = runs.start("monitor", parameters, folder)
    late = runs.Run(run.chapter, run.parameters, run.folder, run.cache, run.started - 100)
    about = {"model": {"name": "first"}, "dataset": {"name": "atlas"}}
    runs.save(late, answers=PROBES, metrics=PROBES[["item"]], **about)
    return sweeps.prepare(["first", "second"], ["monitor"], ["n_facts=2"], tmp_path)


@pytest.fixture
def quick(monkeypatch):
    """Make every load take 3 seconds, and every sample 2 on the first model, 10 on the second."""
    lms = {name: tiny.language_model("llama", seed=i) for i, name in enumerate(("first", "second"))}
    loaded = []

    def load(name, given):
        loaded.append(name)
        return lms.get(name, lms["first"]), 3.0

    def timed(work):
        work()
        return 2.0 if loaded[-1] == "first" else 10.0

    monkeypatch.setattr(estimates, "_loaded", load)
    monkeypatch.setattr(estimates, "_timed", timed)
    return lms


def test_an_estimate_is_the_pilot_and_the_difference_in_work(pilot, quick):
    table = estimates.estimate(pilot).set_index("model")
    forwarded = scoring.work(quick["first"], PROBES)["forwarded"]
    assert list(table["tokens"]) == [forwarded, forwarded]
    assert list(table["probes"]) == [len(PROBES)] * 2
    known = runs.manifest(pilot.runs / "first" / "monitor")["seconds"]
    assert 100 <= known < 130
    assert table["seconds"]["first"] == pytest.approx(known)
    assert table["seconds"]["second"] == pytest.approx(known + 8)
    assert table["measured"]["first"] == known
    assert math.isnan(table["measured"]["second"])
    assert table["error"]["first"] == pytest.approx(0)


def test_a_sample_stands_for_all_items(pilot, quick, monkeypatch):
    monkeypatch.setattr(estimates, "SAMPLE", 2)
    table = estimates.estimate(pilot).set_index("model")
    known = runs.manifest(pilot.runs / "first" / "monitor")["seconds"]
    few = PROBES[PROBES["item"].isin(["item0", "item3"])]
    whole, some = (scoring.work(quick["first"], part)["forwarded"] for part in (PROBES, few))
    assert 2 < whole / some < 3.1  # a third of the items, which share a little less
    assert table["seconds"]["second"] == pytest.approx(known + (10 - 2) * whole / some)


def test_a_run_with_other_settings_is_no_pilot(pilot, tmp_path):
    other = sweeps.prepare(["first"], ["monitor"], ["n_facts=3"], tmp_path)
    assert estimates._alike(other, "monitor", tmp_path).empty
    assert len(estimates._alike(pilot, "monitor", tmp_path)) == 1


def test_prompts_that_were_continued_are_told_from_options():
    texts = PROBES.assign(text="France")
    assert estimates._said(texts).empty  # a text beside a continuation is the option's
    assert len(estimates._said(texts.assign(anchor_logprobs=0))) == 6  # one a prompt
    assert len(estimates._said(texts.drop(columns="continuation"))) == 6
    assert estimates._said(PROBES).empty


def test_the_shorter_of_two_times_counts(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0])
    monkeypatch.setattr(estimates.time, "monotonic", lambda: next(clock))
    assert estimates._timed(lambda: None) == 2.0
