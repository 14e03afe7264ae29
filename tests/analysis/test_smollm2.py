"""The kept answers of SmolLM2: its numbers, worked out again from the table of answers alone."""

import re
import subprocess
import sys
from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

from helpers import datasets, exchange
from helpers.datasets.exposure import name_frequencies, training_exposure
from helpers.io import files
from helpers.metrics import accuracy
from helpers.metrics.matching import normalise_text
from helpers.models import model_packages
from notebooks.analysis import smollm2
from notebooks.atlas import records
from notebooks.kit import runs_against_papers

DRAWS = {"n_resamples": 50, "seed": 0}


@pytest.fixture(scope="module")
def kept():
    return smollm2.read_answers_and_measures()


@pytest.fixture(scope="module")
def facts(kept):
    return smollm2.accuracy_by_fact_and_context(kept[0])


def test_what_is_right_by_what_is_said_first(kept, facts):
    answers = kept[0]
    said, true = (answers[name].map(normalise_text) for name in ("text", "object"))
    answers = answers.assign(ok=said == true)
    reworded = (answers["context"] == "none") & (answers["frame"] > 0)
    for context in ("none", "right", "wrong"):
        rows = answers[(answers["context"] == context) & ~reworded]
        expected = rows.groupby("item")["ok"].mean()[facts["item"]]
        np.testing.assert_allclose(facts[context], expected, atol=1e-12)
    expected = answers[reworded].groupby("item")["ok"].mean()[facts["item"]]
    np.testing.assert_allclose(facts["reworded"], expected, atol=1e-12)


def asked(item, right_by_wording, after_unrelated, after_wrong):
    """Return answers to a fact: in wordings, and after words put before the first."""
    parts = [("none", right_by_wording), ("unrelated", after_unrelated)]
    rows = []
    for context, marks in [*parts, ("wrong", after_wrong)]:
        for place, is_right in enumerate(marks):
            frame = place if context == "none" else 0
            rows.append((item, "r", context, frame, "yes" if is_right else "no", "yes"))
    columns = ["item", "relation", "context", "frame", "text", "object"]
    return pd.DataFrame(rows, columns=columns)


def test_changes_of_wordings_count_every_wording_as_base():
    """Three wordings, right under the first: 4 of the 6 ordered pairs differ."""
    answers = pd.concat(
        [asked("a", [1, 0, 0], [1, 0], [0, 0]), asked("b", [0, 0, 0], [0, 0], [1, 0])]
    )
    changed = smollm2.changed_answers_by_fact(answers, "right")
    assert changed.loc["a", "reworded"] == pytest.approx(4 / 6)
    assert changed.loc["a", ["unrelated", "wrong"]].tolist() == [0.5, 1.0]
    assert changed.loc["b", ["reworded", "unrelated", "wrong"]].tolist() == [0, 0, 0.5]
    # Which wording is right does not matter: none of them is the base.
    turned = asked("a", [0, 0, 1], [0, 0], [0, 0])
    turned = smollm2.changed_answers_by_fact(turned, "right")
    assert turned.loc["a", "reworded"] == pytest.approx(4 / 6)
    more = smollm2.changes_beyond_a_word(changed, "unrelated", **DRAWS)
    assert more.estimate == pytest.approx(1 / 3 - 1 / 4)


def test_changed_answers_are_those_of_plain_loops(kept):
    answers = kept[0].assign(text=kept[0]["text"].map(normalise_text))
    changed = smollm2.changed_answers_by_fact(kept[0], "text")
    for item in changed.index[:5]:
        rows = answers[answers["item"] == item]
        alone = rows[rows["context"] == "none"].set_index("frame")["text"]
        pairs = [one != other for one, other in permutations(alone, 2)]
        assert changed.loc[item, "reworded"] == pytest.approx(np.mean(pairs))
        for context in ("unrelated", "wrong"):
            texts = rows.loc[rows["context"] == context, "text"]
            expected = (texts != alone[0]).mean()
            assert changed.loc[item, context] == pytest.approx(expected)


def test_the_measures_are_those_of_the_archive(kept, facts):
    table = kept[1].set_index("measure")
    assert len(facts) == 450
    assert facts["none"].mean() == pytest.approx(
        table.loc["base", "estimate"], abs=1e-12
    )
    assert set(table["study"]) == {
        *("monitor", "knowledge_base"),
        *("latent_knowledge", "multiplicity"),
    }


def test_a_curve_has_the_mean_of_each_group(facts):
    found = smollm2.accuracy_by_name_frequency(facts, **DRAWS)
    rows = found[found["first"] == "nothing first"].set_index("often")
    expected = facts.groupby("often")["none"].mean()
    np.testing.assert_allclose(rows["estimate"], expected[rows.index], atol=1e-12)
    assert (rows["low"] <= rows["estimate"]).all()
    assert set(rows.index) == set(smollm2.FREQUENCY_GROUPS)


def test_groups_are_those_of_the_names(facts):
    often = facts["subject"].map(name_frequencies())
    ends = [*smollm2.FREQUENCY_GROUPS[1:], np.inf]
    for low, high in zip(smollm2.FREQUENCY_GROUPS, ends):
        assert often[facts["often"] == low].between(low, high, inclusive="left").all()


def test_both_panels_draw_the_shares_they_name(facts):
    left, right = smollm2.draw_accuracy_beside_atlas(facts, **DRAWS)
    table = records.recorded_evaluation(["atlas-m"]).query(
        "condition == @records.QUESTION_ALONE"
    )
    drawn = [set(np.round(line.get_ydata(), 12)) for line in left.get_lines()]
    assert set(table["estimate"].round(12)) in drawn
    expected = facts.groupby("often")["none"].mean().to_numpy()
    np.testing.assert_allclose(right.get_lines()[0].get_ydata(), expected, atol=1e-12)
    assert left.get_ylim() == right.get_ylim()
    plt.close("all")


def test_formats_are_compared_on_the_facts_asked_in_both(facts):
    found = smollm2.differences_between_formats(**DRAWS).set_index("measure")
    answers = exchange.read_archive(smollm2.SMOLLM2_CHAT_ARCHIVE).files[
        "monitor/answers.parquet"
    ]
    chat = smollm2.accuracy_by_fact_and_context(
        files.read_parquet_table(answers, "chat")
    ).set_index("item")["none"]
    kept = facts.set_index("item")["none"]
    both = kept.index.intersection(chat.index)
    assert found.loc["base", "n"] == len(both) == len(chat)
    expected = (kept[both] - chat[both]).mean()
    assert found.loc["base", "estimate"] == pytest.approx(expected, abs=1e-12)
    assert found.loc["base", "first"] != found.loc["base", "second"] == "chat"


def test_scores_rise_as_scipy_and_sklearn_say(facts):
    found = smollm2.correlations_with_name_frequency(facts, **DRAWS).set_index("what")
    known = facts[facts["none"] == 1]
    relation = known["relation"]
    columns = known[["reworded", "occurrences"]]
    size = relation.map(relation.value_counts())
    centred = columns.groupby(relation).rank().sub((size + 1) / 2, axis=0)
    kept, often = centred.div(size, axis=0).to_numpy().T
    row = found.loc["kept: another wording"]
    assert row["estimate"] == pytest.approx(pearsonr(kept, often).statistic, abs=1e-12)
    n_pairs, in_order = 0, 0.0
    for _, rows in known.groupby("relation"):
        is_frequent = rows["occurrences"] > rows["occurrences"].median()
        for score in rows.loc[is_frequent, "reworded"]:
            others = rows.loc[~is_frequent, "reworded"]
            n_pairs += len(others)
            in_order += (score > others).sum() + (score == others).sum() / 2
    assert row["AUC"].startswith(f"{in_order / n_pairs:.2f} [")
    lead, ranks = smollm2.name_frequency_lead_of_asking_once(facts, **DRAWS)
    estimates = found["estimate"]
    difference = estimates["asked once"] - estimates["monitor"]
    assert lead.estimate == pytest.approx(difference, abs=1e-12)
    assert ranks == {
        name: f"{estimates[name.replace('_', ' ')]:.2f}"
        for name in ("asked_once", "monitor")
    }
    assert len(found) == 1 + 4 + 3
    assert found.loc["asked once", "n"] == len(facts)


def test_findings_hold_in_both_models_as_the_chapter_says():
    table = smollm2.findings_in_both_models(n_resamples=200, seed=0)
    table = table.set_index("finding")
    assert (len(table), list(table.columns)) == (5, ["SmolLM2", "Gemma 3"])
    for text in table.to_numpy().ravel():
        estimate, low, high = re.findall(r"-?\d\.\d+", text)
        assert 0 <= float(low) < float(estimate) < float(high)
    answers, _ = smollm2.read_answers_and_measures(smollm2.GEMMA3_ARCHIVE)
    marked = accuracy.mark_texts(answers)
    base = marked[(marked["context"] == "none") & (marked["frame"] == 0)]
    after_word = marked[marked["context"] == "unrelated"]
    cost = base["right"].mean() - after_word["right"].mean()
    assert table.loc["an unrelated word costs", "Gemma 3"].startswith(f"{cost:.3f} [")


def test_names_and_counts_are_compared_within_a_relation():
    found = smollm2.exposure_frequency_correlations(**DRAWS).set_index("relation")
    atlas = datasets.load("atlas").query("relation == 'P36'").set_index("fact")
    both = atlas.assign(told=training_exposure("atlas-m")["exposures"]).dropna()
    expected = spearmanr(
        both["told"], both["subject"].map(name_frequencies())
    ).statistic
    assert found.loc["P36", "estimate"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "folder", "given", "measure"),
    [
        (
            "monitor",
            "fktc/FKTC",
            ["n_facts=1", "prompt_format=bare"],
            "MONITOR: mean accuracy",
        ),
        (
            "multiplicity",
            "truthfulqa",
            ["n_items=6"],
            "multiplicity: TruthfulQA accuracy",
        ),
    ],
)
def test_a_papers_questions_place_it_among_the_papers_models(
    shared, root, tmp_path, study, folder, given, measure
):
    if not list(
        (model_packages.user_cache.cache_folder("packages") / "smollm2").glob("*.gguf")
    ):
        pytest.skip("needs the file of smollm2, which its first load fetches")
    call = [
        sys.executable,
        "-m",
        "helpers",
        "measure",
        "smollm2",
        study,
        "--runs",
        str(tmp_path),
    ]
    data = f"dataset={shared / 'data' / folder}"
    subprocess.run(
        [*call, "--set", data, *given], cwd=root, check=True, capture_output=True
    )
    row = (
        runs_against_papers.runs_in_papers_measures(tmp_path, n_resamples=50)
        .set_index("measure")
        .loc[measure]
    )
    assert (row["model"], row["same_questions"], row["why"]) == ("smollm2", True, "")
