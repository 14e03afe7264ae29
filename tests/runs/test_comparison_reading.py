"""Tests of helpers.runs.comparison.reading and sizes: pairs, sides and corrections."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import UserError, published
from helpers.runs.comparison import reading, sizes

GAPS = pd.DataFrame(
    {
        "first": ["b", "c", "c"],
        "second": ["a", "a", "b"],
        "measure": "error",
        "estimate": [-0.2, 0.1, 0.3],
        "low": [-0.3, -0.1, 0.1],
        "high": [-0.1, 0.2, 0.4],
        "n": 9,
        "facts_of": "chapter",
        "better": ["b", "", "b"],
    }
)


def test_differences_are_turned_towards_the_best_of_a_measure():
    rows = pd.DataFrame({"model": list("abc"), "measure": "error", "estimate": [0.4, 0.2, 0.5]})
    found = reading.against(rows, GAPS)
    assert found["second"].eq("b").all()  # fewest errors
    ends = found.set_index("first")[["estimate", "low", "high"]].round(9)
    assert ends.loc["a"].tolist() == [0.2, 0.1, 0.3]
    assert ends.loc["c"].tolist() == [0.3, 0.1, 0.4]
    assert reading.against(rows, GAPS, "a")["second"].eq("a").all()


def test_a_model_behind_is_left_of_0_in_every_measure():
    gaps = GAPS.head(1).assign(measure="MONITOR")  # b has less, which is better
    more = GAPS.tail(1).assign(measure="UR")
    rows = pd.DataFrame({"model": ["a", "b"], "measure": "MONITOR", "estimate": [0.4, 0.2]})
    also = pd.DataFrame({"model": ["b", "c"], "measure": "UR", "estimate": [0.1, 0.4]})
    both = pd.concat([gaps, more]), pd.concat([rows, also])
    found = reading.behind(both[1], both[0], ["MONITOR", "UR", "NCR"]).set_index("pair")
    assert list(found.index) == ["a", "b", "b", "c"]
    assert found["measure"].unique().tolist() == ["MONITOR (n = 9)", "UR, points (n = 9)"]
    ends = found[["estimate", "low", "high"]].round(9)
    assert ends.loc["a"].tolist() == [-0.2, -0.3, -0.1]
    assert ends.loc["b"].to_numpy().tolist() == [[0, 0, 0], [-30, -40, -10]]
    turned = reading.behind(rows, gaps, ["MONITOR"], "a").set_index("pair")
    assert turned["estimate"].round(9).to_dict() == {"a": 0, "b": 0.2}
    assert reading.behind(rows, gaps.head(0), ["MONITOR"]).empty


def test_a_table_says_why_no_side_is_better():
    gaps = pd.concat([GAPS.head(2), GAPS.tail(1).assign(measure="coverage", better="")])
    assert reading.readable(gaps)["better"].tolist() == ["b", "not decided", "neither direction"]


def test_an_unknown_reference_is_refused():
    with pytest.raises(UserError, match="The reference z is not compared here: name one of a, b"):
        reading.check("z", ["a", "b"])
    with pytest.raises(UserError, match="z is not compared here: no model has finished runs"):
        reading.check("z", [])


@given(st.lists(st.integers(1, 999), min_size=1, max_size=8))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_holm_agrees_with_its_definition(thousandths):
    gaps = [number / 1000 for number in thousandths]
    table = pd.DataFrame({"estimate": gaps, "low": [g - 0.5 for g in gaps]})
    table["high"] = table["estimate"] + 0.5
    found = reading.holm(table).sort_values("p_normal")
    floor = 0.0
    for place, row in enumerate(found.itertuples()):
        floor = max(floor, min(1.0, (len(found) - place) * row.p_normal))
        assert row.p_holm == pytest.approx(floor)


def test_holm_without_intervals_tests_nothing():
    assert reading.holm(GAPS.assign(high=GAPS["low"])).empty


def test_models_are_paired_like_with_like():
    found = sizes.pairs({"x-s": 1, "x-m": 4, "x-m-chat": 4, "x-m (chat)": 4, "y-Instruct": 9})
    assert found["larger"] == [("x-m", "x-s")]
    assert found["tuned"] == [("x-m-chat", "x-m"), ("x-m (chat)", "x-m")]
    assert sizes.pairs({"unknown": None}) == {"larger": [], "tuned": []}


def test_a_run_is_drawn_by_whose_questions_it_asked():
    rows = pd.DataFrame({"model": ["a", "b-chat"], "measure": "right", "estimate": [0.5, 0.6]})
    rows = rows.assign(low=0.4, high=0.7)
    found = sizes.beside(
        rows, {"a": 1e6, "b-chat": 2e6}, "right", {"a": "", "b-chat": "other facts"}
    )
    assert found["questions"].tolist() == ["same", "other"]
    assert found["series"].tolist() == ["here", "here, tuned"]


def test_printed_curves_are_the_papers():
    monitor = sizes.printed("MONITOR")
    assert set(monitor["series"]) == {"BLOOMZ", "Vicuna"}
    assert set(monitor["questions"]) == {"paper"}
    table = published.load("monitor_table10").T
    assert monitor["estimate"].iloc[0] == pytest.approx(table.loc["BLOOMZ-560m"].mean())
    close = sizes.printed("MONITOR", "P17")
    bloom = close[close["series"] == "BLOOMZ"].sort_values("parameters")
    assert bloom["estimate"].iloc[0] == table.loc["BLOOMZ-560m", "P17"]
    lists = sizes.printed("right")
    assert lists["estimate"].between(0, 1).all()
    assert lists.groupby("series").size().max() == 2
    assert sizes.printed("mass").empty
    assert sizes.printed("UR").groupby("series").size().min() >= 2
