"""Plans from kept answers: the widths that the archive itself has, and two models."""

import pytest

from helpers import UserError, exchange

KEPT = "smollm2.zip", "atlas-xs.zip"


@pytest.mark.slow
def test_planned_widths_are_those_of_the_archive(root):
    """Of all of SmolLM2's measures; 8 or 15 facts of a relation."""
    planned = exchange.facts_needed_by_measure(root / "results" / KEPT[0]).set_index(
        "measure"
    )["width"]
    shared, _ = exchange.verify_archive(root / "results" / KEPT[0])
    runs = shared.record["runs"].values()
    told = {
        each["measure"]: each["high"] - each["low"]
        for r in runs
        for each in r["measures"]
    }
    assert len(planned) == 17
    assert planned.to_dict() == pytest.approx(
        {name: told[name] for name in planned.index}, rel=0.1
    )


@pytest.mark.slow
def test_a_model_does_not_differ_from_itself(root):
    archive = root / "results" / KEPT[1]
    with pytest.raises(UserError, match="no measure to plan from"):
        exchange.facts_needed_by_measure(archive, archive)
    alone = exchange.facts_needed_by_measure(archive)
    assert (alone["paired"] == 0).all()
    assert (alone["for_difference"] > alone["for_width"]).all()
    asked = [
        exchange.facts_needed_by_measure(archive, wordings=n)["for_width"]
        for n in (2, 10, 1000)
    ]
    assert (asked[0] >= asked[1]).all()
    assert (asked[1] >= asked[2]).all()
    assert (asked[0] > asked[2]).any()  # some measures ask once


def test_what_is_no_run_is_said(tmp_path):
    with pytest.raises(UserError, match="There is no folder"):
        exchange.facts_needed_by_measure(tmp_path / "none")
