"""The map of ranks shows what its table holds, without a warning."""

import numpy as np
import pandas as pd

from helpers import plots
from helpers.metrics import knowledge_base as kb
from helpers.plots.reliability import ranks
from helpers.published import knowledge_base as paper
from tests.plots.drawn import draw, texts


def test_ranks_share_ties_and_leave_out_what_is_missing(ax):
    table = pd.DataFrame(
        {"CR": [0.5, 0.5, 0.1], "WR": [0.1, np.nan, 0.3]}, index=["a", "b", "ours"]
    )
    found = ranks(table, {"CR": True, "WR": False})
    assert found["CR"].to_dict() == {"a": 1.5, "b": 1.5, "ours": 3.0}
    assert found.loc["a", "WR"] == 1
    assert np.isnan(found.loc["b", "WR"])
    plots.rank_map(table, {"CR": True, "WR": False}, "ours", ax)
    bold = [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["ours"]


def test_the_papers_best_models_stand_first():
    higher = {name: name in kb.HIGHER_IS_BETTER for name in ("NCR", "NCCR")}
    assert ranks(paper.models("four-shot"), higher).index[0] == "GPT-3.5 Turbo"


def test_a_model_without_some_measures_is_ranked_by_the_others(ax):
    ours = pd.DataFrame({"CR": 0.0, "Cons_c": np.nan}, index=["ours"])
    table = pd.concat([pd.DataFrame({"CR": [0.5], "Cons_c": [0.9]}, index=["a"]), ours])
    plots.rank_map(table, {"CR": True, "Cons_c": True}, "ours", ax)
    assert texts(draw(ax).texts) == ["1", "1", "2"]


def test_nothing_to_rank_is_said():
    (reason,) = texts(draw(plots.rank_map(pd.DataFrame({"CR": []}), {"CR": True})).texts)
    assert reason.endswith(".")
