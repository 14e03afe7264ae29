"""A fifth study, in thirty lines, is run, compared, calibrated and commanded like the others."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, probing, prompts, runs, studies
from helpers.metrics import accuracy
from helpers.runs import measuring
from helpers.runs.comparison import across, board
from helpers.runs.panel import gathering, reading
from helpers.studies import measures


class Toy:
    """Is the answer to the plain question right?"""

    TITLE = "plain question"
    MEASURES = (studies.rate("answered", "accuracy, plain question"),)

    @staticmethod
    def ask(model, facts=None, *, dataset="atlas", n_facts=1, seed=0, cache=None):
        facts = datasets.load(dataset, n=n_facts, seed=seed) if facts is None else facts
        asked = prompts.questions(facts, datasets.frames(dataset), n_frames=1)
        return probing.generate(model, asked, cache=cache)

    @staticmethod
    def facts(answers, *, match="exact_match"):
        marks = accuracy.mark_texts(answers, rule=match)
        return marks[["item", "relation", "text"]].assign(answered=marks["right"].astype(float))

    @staticmethod
    def verdict(facts, firm=studies.FIRM):
        columns = {"known": facts["answered"], "score": facts["answered"], "blind": np.nan}
        return pd.DataFrame(columns | {"asserted": facts["text"]})

    summary = partial(measures.summarised, MEASURES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of runs of the toy study on two models, made by the measuring command."""
    top = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(studies.STUDIES, "toy", Toy)
        for model in ("atlas-xs", "atlas-s"):
            given = {"n_panel": 24, "n_bootstrap": 20, "match": "starts_with"}
            [made] = measuring.measure(model, ["toy"], given, top)
            assert made.folder == top / model / "toy"
            assert set(made.summary["measure"]) == {"answered"}
        yield top


def test_its_run_is_saved_with_its_settings(folder):
    manifest = runs.manifest(folder / "atlas-s" / "toy")
    assert manifest["parameters"]["match"] == "starts_with"
    metrics = runs.metrics(folder / "atlas-s" / "toy").query("level == 'run'")
    marks = accuracy.mark_texts(runs.answers(folder / "atlas-s" / "toy"), rule="starts_with")
    assert metrics["estimate"].item() == pytest.approx(marks["right"].mean())


def test_the_board_compares_its_measures(folder):
    found = board.tables(across.choose(folder))
    standing, gaps = board.everything(found, n_resamples=20)
    assert set(standing["chapter"]) == set(gaps["chapter"]) == {"toy"}
    assert standing["measure"].unique().tolist() == ["answered"]
    assert gaps["n"].item() == len(found["toy"]["atlas-s"])


def test_its_verdicts_are_calibrated(folder):
    table = gathering.gather(reading.found(folder, ["atlas-s"]), ["atlas-s"])
    assert set(table["method"]) == {"plain question"}
    assert len(table) == 24
    assert table["exposures"].gt(0).any()
    told = table[table["false_object"] != ""]
    assert told["misled"].notna().all()
    assert (table["known"] == table["score"]).all()
