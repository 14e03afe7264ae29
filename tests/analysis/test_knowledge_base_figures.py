"""The knowledge-base paper's figures of a run: silence by type, kinds of responses, planes."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from helpers.metrics import knowledge_base as kb
from notebooks.analysis import knowledge_base_figures as analysis
from notebooks.kit.published import knowledge_base as paper


def replies(groups, labels, **columns):
    table = pd.DataFrame({"group": groups, "label": labels, "setting": "zero-shot"})
    return table.assign(type="number", **columns)


def test_the_interval_is_students_over_templates():
    """Two templates with two questions each are silent never and always, one half."""
    groups = ["T1", "T1", "T2", "T2", "T3", "T3", "P17"]
    labels = ["wrong", "wrong", "uninformative", "uninformative"]
    labels += ["uninformative", "wrong", "uninformative"]
    (row,) = analysis.unanswered_rate_by_answer_type(
        replies(groups, labels)
    ).itertuples()
    shares = [0.0, 1.0, 0.5]  # P17 is no template of UnseenQA
    low, high = scipy.stats.t.interval(
        0.95, 2, np.mean(shares), scipy.stats.sem(shares)
    )
    assert row.estimate == 0.5
    assert (row.low, row.high) == (max(low, 0), min(high, 1))
    assert row.templates == 3


def test_templates_that_are_all_alike_have_no_interval():
    table = replies(["T1", "T2"], ["wrong", "wrong"])
    (row,) = analysis.unanswered_rate_by_answer_type(table).itertuples()
    assert row.estimate == 0
    assert np.isnan([row.low, row.high]).all()


def test_each_template_of_table_1_has_its_rate():
    table = replies(["T1", "T1", "T20"], ["wrong", "uninformative", "uninformative"])
    shown = analysis.unanswered_percent_by_template(table)
    assert len(shown) == 20
    assert shown["UR, zero-shot"].dropna().to_dict() == {"T1": 50.0, "T20": 100.0}


def test_uninformative_responses_are_counted_by_kind_of_model():
    table = pd.DataFrame(
        {
            "models": ["base"] * 3 + ["tuned"] * 2,
            "model": ["a"] * 3 + ["b"] * 2,
            "setting": "zero-shot",
            "kind": ["none", "none", "wrong", "unsure", "unsure"],
            "text": [" ... ", "...", "Paris", "unsure", "I " + "do not know " * 9],
        }
    )
    table.loc[5] = ["tuned", "b", "four-shot", "unsure", "unsure"]
    rows = analysis.uninformative_responses(table)
    assert rows["setting"].tolist() == ["zero-shot"] * 6 + ["four-shot"] * 3
    rows = rows[rows["setting"] == "zero-shot"].set_index(["models", "kind"])
    assert rows.loc[("base", "none"), ["answers", "of"]].tolist() == [2, 3]
    assert rows.loc[("base", "none"), "the commonest"] == "..."
    assert rows.loc[("base", "unsure"), "answers"] == 0
    assert rows["the commonest"].str.len().max() <= analysis.LONGEST_EXAMPLE
    shares = analysis.response_shares_by_model(table)
    assert list(shares.index) == [
        "a, zero-shot (3)",
        "b, zero-shot (2)",
        "b, four-shot (1)",
    ]
    assert shares.loc["b, zero-shot (2)", "unsure"] == 1


def test_without_runs_there_is_nothing_to_count():
    here = pd.DataFrame(columns=["chapter", "group", "folder", "label"])
    empty = analysis.unseen_responses_by_model(here, set())
    assert analysis.uninformative_responses(empty).empty
    assert analysis.response_shares_by_model(empty).empty
    no_rows = pd.DataFrame({"model": ["a"], "setting": ["b"], "kind": ["none"]})[:0]
    assert analysis.response_shares_by_model(no_rows).empty


@pytest.fixture
def axes():
    names = list(kb.MEASURE_NAMES)
    measured = pd.DataFrame({"setting": "four-shot", "measure": names})
    measured = measured.assign(estimate=0.5, low=0.4, high=0.6)
    models = paper.knowledge_base_models("four-shot")
    return analysis.draw_planes_of_figure_2(models, measured)


def test_each_plane_has_the_papers_models_and_the_run_beside(axes):
    panels = list(analysis.FIGURE_2_PANELS.values())
    assert len(axes) == 2 * len(panels)
    for (x, y, names), left, right in zip(panels, axes[::2], axes[1::2], strict=True):
        assert (left.get_xlabel(), left.get_ylabel()) == (x, y)
        shown = {text.get_text() for text in left.texts}
        assert shown == set(names)
        assert [text.get_text() for text in right.texts] == ["four-shot"]
        assert left.get_xlim() == right.get_xlim()
