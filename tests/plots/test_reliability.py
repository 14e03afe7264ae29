"""Figures of the knowledge-base chapter show what their tables hold, without a warning."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from helpers import plots
from helpers.metrics import knowledge_base as kb
from helpers.metrics import reliability
from helpers.plots.reliability import ranks
from helpers.published import knowledge_base as paper
from tests.plots.drawn import draw, texts


def entries(ax):
    """Return the names in the legend over all planes."""
    return texts(ax.figure.legends[0].get_texts())


def test_runs_on_other_questions_have_a_hatched_plane_of_their_own():
    ours = pd.DataFrame({"model": ["same", "other"], "NCR": [0.1, 0.9], "UR": [0.2, 0.8]})
    ours["same_questions"] = ours["model"] == "same"
    pairs = [("NCR", "UR"), ("UR", "NCR")]
    axes = plots.measure_planes(paper.models("four-shot"), ours, pairs)
    assert axes.shape == (2, 2)
    among, apart = (draw(ax) for ax in axes[0])
    assert [
        line.get_xdata().tolist() for line in among.get_lines() if line.get_marker() == "D"
    ] == [[0.1]]
    assert [
        line.get_xdata().tolist() for line in apart.get_lines() if line.get_marker() == "X"
    ] == [[0.9]]
    assert not apart.texts  # no model of the paper
    assert not [group for group in apart.collections if len(group.get_offsets()) > 1]
    assert (among.patch.get_hatch(), apart.patch.get_hatch()) == (None, "///")
    assert apart.get_title("left") == "other questions"
    assert (axes[1, 1].get_xlabel(), axes[1, 1].get_ylabel()) == ("UR", "NCR")
    assert entries(among) == ["paper, tuned", "paper, base", "same", "other"]


@pytest.mark.parametrize("pair", [("NCR", "UR"), ("Cons_c", "Cons_w"), ("NCCR", "IUR")])
def test_the_plane_holds_all_models_and_ours(pair):
    x, y = pair
    ours = {
        "model": "atlas-s",
        "same_questions": True,
        x: 0.1,
        f"{x}_low": 0.0,
        f"{x}_high": 0.2,
        y: 0.3,
    }
    table = paper.models("zero-shot")
    ((ax,),) = plots.measure_planes(table, pd.DataFrame([ours]), [pair])
    draw(ax)
    drawn = np.concatenate(
        [group.get_offsets() for group in ax.collections if len(group.get_offsets()) > 1]
    )
    whole = table[[x, y]].to_numpy()
    shown = {
        tuple(row) for row in np.round(np.ma.filled(drawn, np.nan), 6) if not np.isnan(row).any()
    }
    assert shown == {tuple(row) for row in np.round(whole, 6) if not np.isnan(row).any()}
    assert entries(ax) == ["paper, tuned", "paper, base", "atlas-s"]
    assert ax.get_lines()[0].get_markerfacecolor() == "white"
    named = set(texts(ax.texts))
    assert 1 <= len(named) <= 4
    assert named <= set(table.index)


@pytest.mark.parametrize("setting", ["zero-shot", "four-shot", "four-two"])
@pytest.mark.parametrize("pair", [("NCR", "UR"), ("Cons_c", "Cons_w"), ("NCCR", "IUR")])
@pytest.mark.parametrize("same", [True, False], ids=["same questions", "other questions"])
def test_names_in_the_plane_keep_clear_of_each_other_and_of_the_edge(setting, pair, same):
    ours = {"model": "atlas-s", pair[0]: 0.1, pair[1]: 0.3, "same_questions": same}
    ax = plots.measure_planes(paper.models(setting), pd.DataFrame([ours]), [pair])[0, 0]
    ax.figure.draw_without_rendering()
    boxes = [name.get_window_extent() for name in ax.texts]
    assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
    frame = ax.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_bars_add_up_and_say_how_many(ax):
    table = pd.DataFrame(
        {"correct": [0.25, 0.02], "wrong": [0.5, 0.98], "unsure": [0.25, 0.0], "n": [8, 50]},
        index=["seen $1", "unseen"],
    )
    plots.kind_bars(table, ax)
    draw(ax)
    assert texts(ax.get_yticklabels()) == ["seen $1 (8)", "unseen (50)"]
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(3, 2)
    np.testing.assert_allclose(widths.sum(axis=0), 1)
    assert texts(ax.texts) == ["25", "50", "98", "25"]
    colour = mpl.colors.to_hex(ax.containers[1][0].get_facecolor())
    assert colour == plots.model_colour("wrong")


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


def test_effects_stand_in_the_order_of_the_table():
    effects = reliability.effects(paper.pairs(), ["NCR", "UR"], n_resamples=50)
    axes = plots.effect_grid(effects)
    assert [ax.get_title(loc="left") for ax in axes] == ["NCR", "UR"]
    for ax, (_, rows) in zip(axes, effects.groupby("measure", sort=False)):
        assert texts(ax.get_yticklabels()) == rows["effect"].tolist()
        np.testing.assert_allclose(ax.lines[0].get_xdata(), rows["estimate"])


def test_lines_are_those_of_the_table():
    line = pd.DataFrame({"place": [0, 1], "family": "Llama 1", "tuned": False, "NCR": [0.1, 0.3]})
    tuned = line.assign(family="ours", tuned=True, UR=0.5)
    groups = {"size": {"Llama 1": line.assign(UR=0.2), "ours": tuned}}
    groups["prompt"] = groups["size"]
    ticks = {group: {0: "7B", 1: "13B"} for group in groups}
    axes = plots.line_grid(groups, ["NCR", "UR"], ticks, "ours")
    draw(axes[0, 0])
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["NCR", "UR"]
    plain, ours = axes[0, 0].lines
    assert plain.get_ydata().tolist() == [0.1, 0.3]
    assert {line.get_linestyle() for line in axes[0, 0].lines} == {"None"}  # models stay apart
    assert {line.get_linestyle() for line in axes[0, 1].lines} == {"-"}  # one model, two prompts
    assert [plain.get_mfc() == plain.get_color(), ours.get_mfc()] == [True, "white"]
    assert ours.get_linewidth() > plain.get_linewidth()
    assert plain.get_color() != ours.get_color()
    assert texts(axes[0, 0].figure.legends[0].get_texts()) == ["Llama 1", "ours", "tuned"]


def test_lines_on_other_questions_are_hatched():
    line = pd.DataFrame({"place": [0, 1], "family": "ours", "tuned": False, "NCR": [0.1, 0.3]})
    places = {"prompt": {0: "a"}, "other questions": {0: "a"}}
    ((plain, apart),) = plots.line_grid({name: {"ours": line} for name in places}, ["NCR"], places)
    assert (plain.patch.get_hatch(), apart.patch.get_hatch()) == (None, "///")
    assert apart.get_title("left") == "other questions"


def test_rates_are_ordered_and_ours_is_apart():
    zero = pd.DataFrame({"CR": [0.1, 0.4, 0.2], "WR": 0.5}, index=["a", "b", "ours"])
    ax, right = plots.rate_rows({"zero-shot": zero, "four-shot": zero + 0.1}, ["CR", "WR"], "ours")
    draw(ax)
    assert [panel.get_title(loc="left") for panel in (ax, right)] == ["CR", "WR"]
    assert texts(ax.get_yticklabels()) == ["ours", "b", "a"]
    dots = {line.get_label(): line for line in ax.lines if line.get_marker() == "o"}
    assert list(dots) == ["zero-shot", "four-shot"]
    assert dict(zip(dots["zero-shot"].get_ydata(), dots["zero-shot"].get_xdata())) == {
        2: 0.1,
        1: 0.4,
        0: 0.2,
    }
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["bold"] + ["normal"] * 2
    silent = zero.assign(CR=[0.1, 0.4, np.nan])
    (alone,) = plots.rate_rows({"zero-shot": silent}, ["CR"], "ours")
    assert texts(draw(alone).get_yticklabels()) == ["ours", "b", "a"]


@pytest.mark.parametrize("same", [True, False])
def test_a_measure_that_is_undefined_is_said_in_the_legend(same):
    ours = {"model": "atlas-s", "Cons_c": np.nan, "Cons_c_low": np.nan, "Cons_c_high": np.nan}
    ours |= {"Cons_w": 0.5, "Cons_w_low": 0.4, "Cons_w_high": 0.6, "same_questions": same}
    table = paper.models("four-shot")
    axes = plots.measure_planes(table, pd.DataFrame([ours]), [("Cons_c", "Cons_w")])
    assert entries(draw(axes[0, 0]))[-1] == "atlas-s: no Cons_c"


@pytest.mark.parametrize("same", [True, False])
def test_many_runs_with_long_names_leave_room_for_the_plane(same):
    names = [f"sequence_to_sequence_{n}" for n in range(5)]
    ours = pd.DataFrame({"model": names, "NCR": 0.1, "UR": np.nan, "same_questions": same})
    axes = plots.measure_planes(paper.models("four-shot"), ours, [("NCR", "UR")] * 2)
    wide = sum(draw(ax).get_position().width for ax in axes[0])
    assert wide > 0.65
    assert axes[0, 0].get_position().height > 0.25


def test_a_model_without_some_measures_is_ranked_by_the_others(ax):
    ours = pd.DataFrame({"CR": 0.0, "Cons_c": np.nan}, index=["ours"])
    table = pd.concat([pd.DataFrame({"CR": [0.5], "Cons_c": [0.9]}, index=["a"]), ours])
    plots.rank_map(table, {"CR": True, "Cons_c": True}, "ours", ax)
    assert texts(draw(ax).texts) == ["1", "1", "2"]


@pytest.mark.parametrize(
    "figure",
    [
        lambda: plots.kind_bars(pd.DataFrame({"correct": [], "n": []})),
        lambda: plots.rank_map(pd.DataFrame({"CR": []}), {"CR": True}),
        lambda: plots.effect_grid(pd.DataFrame({"effect": [], "measure": []}))[0],
    ],
    ids=["kind_bars", "rank_map", "effect_grid"],
)
def test_nothing_to_draw_is_said(figure):
    (reason,) = texts(draw(figure()).texts)
    assert reason.endswith(".")


def test_kinds_of_responses_keep_their_colour_in_curves(ax):
    said = pd.DataFrame(
        {"exposures": [0, 0, 8, 8], "label": ["wrong", "wrong", "correct", "wrong"]}
    )
    plots.exposure_curve(reliability.by_exposure(said, 20), ax)
    colours = {line.get_label(): line.get_color() for line in ax.lines}
    assert colours["correct"] == plots.model_colour("correct")
    assert colours["wrong"] == plots.model_colour("wrong")
