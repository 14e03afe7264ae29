"""The board of models: the same facts, counted, and their sums."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import UserError, runs
from helpers.runs.comparison import across, board, facts, groups
from helpers.studies import STUDIES, comparison, measure_named
from tests import saved_runs

MONITOR = list(measure_named("MONITOR").columns)


@pytest.fixture
def two(tmp_path):
    """Return the folder of two models' runs; the second knows more."""
    saved_runs.write(tmp_path, "small", 0.3)
    saved_runs.write(tmp_path, "large", 0.7, size=4_000_000)
    return tmp_path


def load(folder):
    table = groups.grouped(groups.labelled(runs.load(folder)))
    return table, board.tables(table)


def test_figures_computed_again_are_those_that_were_saved(two):
    table, found = load(two)
    again = across.agreement(found, table)
    assert set(again["chapter"]) == set(STUDIES)
    assert len(again) == 2 * (3 + 4 + 2 + 5)
    np.testing.assert_allclose(again["again"], again["saved"], atol=1e-12)


def test_a_figure_that_was_tampered_with_is_noticed(two):
    path = two / "small" / "latent_knowledge" / "metrics.parquet"
    metrics = pd.read_parquet(path)
    metrics.loc[metrics["level"] == "run", "estimate"] += 0.01
    metrics.to_parquet(path)
    table, found = load(two)
    again = across.agreement(found, table)
    wrong = again[(again["saved"] - again["again"]).abs() > 1e-9]
    assert set(wrong["model"]) == {"small"}
    assert set(wrong["chapter"]) == {"latent_knowledge"}


def test_models_stand_from_small_to_large_on_the_same_facts(two):
    saved_runs.write(two, "later", 0.5, size=9_000_000, first=4)
    _, found = load(two)
    assert list(found["latent_knowledge"]) == ["small", "large", "later"]
    counts = across.overlap(found).set_index(["chapter", "model"])
    assert counts.loc[("latent_knowledge", "later")].tolist() == [24, 12]
    standing = board.standings(found["latent_knowledge"], STUDIES["latent_knowledge"].MEASURES, 50)
    assert standing["n"].eq(12).all()


def test_a_difference_counts_the_facts_that_count_for_both(two):
    _, found = load(two)
    models = found["monitor"]
    models["large"].loc[models["large"].index[:3], MONITOR] = np.nan
    gap = comparison.difference(models["large"], models["small"], measure_named("MONITOR"), 50)
    both = models["large"][MONITOR[0]].notna() & models["small"][MONITOR[0]].notna()
    assert gap.n == both.sum() < models["small"][MONITOR[0]].notna().sum()
    assert gap.estimate == pytest.approx(0, abs=1e-12)
    assert np.isnan([gap.low, gap.high, gap.p]).all()  # few facts that are all alike


def test_without_shared_facts_there_is_no_difference(two):
    _, found = load(two)
    one = found["latent_knowledge"]["small"]
    gap = comparison.difference(one, one.rename(index=str.lower), measure_named("right"))
    assert gap.n == 0
    assert np.isnan(gap.estimate)


def test_the_better_side_follows_the_measures_direction(two):
    _, found = load(two)
    gaps = board.differences(
        found["multiplicity"], STUDIES["multiplicity"].MEASURES, n_resamples=200
    )
    better = gaps.set_index("measure")["better"].to_dict()
    assert better["accuracy"] == better["error"] == "large"
    assert better["self_consistency"] == ""
    assert gaps.set_index("measure").loc["error", "estimate"] < 0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_paired_difference_is_that_of_the_means(pairs):
    table = pd.DataFrame(pairs, columns=["a", "b"]).astype(float)
    table["relation"] = "P17"
    sides = [table.assign(right=table[name]) for name in "ab"]
    gap = comparison.difference(*sides, measure_named("right"), n_resamples=20)
    assert gap.estimate == pytest.approx(table["a"].mean() - table["b"].mean())
    assert not gap.low > gap.estimate + 1e-9
    back = comparison.difference(*sides[::-1], measure_named("right"), n_resamples=20)
    assert back.estimate == pytest.approx(-gap.estimate)


def test_every_measure_is_computed_from_columns_that_facts_have(two):
    for chapter in STUDIES:
        table = facts.read(chapter, two / "small" / chapter)
        for measure in STUDIES[chapter].MEASURES:
            assert set(measure.columns) <= set(table.columns)
    names = [measure.name for study in STUDIES.values() for measure in study.MEASURES]
    assert len(set(names)) == len(names)


def test_a_run_that_is_made_again_is_read_again(two):
    before = facts.read("latent_knowledge", two / "small" / "latent_knowledge")["right"].mean()
    saved_runs.write(two, "small", 0.9)
    after = facts.read("latent_knowledge", two / "small" / "latent_knowledge")["right"].mean()
    assert after > before


def test_choose_names_what_there_is(two, tmp_path):
    assert set(across.choose(str(two), ["small"])["label"]) == {"small"}
    with pytest.raises(UserError, match="No run is of medium: there are large, small"):
        across.choose(str(two), ["medium"])
    with pytest.raises(UserError, match="No run is of medium: there are none"):
        across.choose(str(tmp_path / "empty"), ["medium"])


def test_models_that_are_chosen_are_compared_among_themselves(two):
    for name in ("own", "other"):
        saved_runs.write(two, name, 0.5, seed=3)
    saved_runs.write(two, "third", 0.5)
    everything = across.choose(str(two))
    assert set(everything.loc[everything["group"] == 0, "label"]) == {"small", "large", "third"}
    chosen = across.choose(str(two), ["own", "other"])
    assert chosen["group"].eq(0).all()


@pytest.fixture
def asked_more(tmp_path):
    """Return the folder of two models' runs that were asked 16 more facts of each relation."""
    saved_runs.write(tmp_path, "small", 0.3, panel=16)
    saved_runs.write(tmp_path, "large", 0.7, size=4_000_000, panel=16)
    return tmp_path


def test_the_panels_facts_are_read_beside_the_runs_own(asked_more):
    table, own = load(asked_more)
    found = board.panels(table)
    assert list(found) == list(own) == list(STUDIES)
    others = saved_runs.facts(16, first=100).set_index("item")
    for chapter, models in found.items():
        assert list(models) == ["small", "large"]
        assert set(models["small"].index) == set(others.index)
        assert not set(own[chapter]["small"].index) & set(others.index)
    for name, ability in (("small", 0.3), ("large", 0.7)):
        right = found["latent_knowledge"][name]["right"]
        assert (right == (others["hard"] < ability)[right.index]).all()
    standing, gaps = board.everything(found, 50, only=("right",))
    assert standing["n"].tolist() == [48, 48]
    assert gaps[["first", "n", "better"]].to_dict("records") == [
        {"first": "large", "n": 48, "better": "large"}
    ]


def _never_asked(folder):
    saved_runs.write(folder, "small", 0.3, ("monitor",))


def _asked_otherwise(folder):
    place = folder / "small" / "monitor" / "run.json"
    told = json.loads(place.read_text())
    told["panel"]["version"] -= 1
    place.write_text(json.dumps(told))


def _file_is_gone(folder):
    (folder / "small" / "monitor" / "panel.parquet").unlink()


@pytest.mark.parametrize("change", [_never_asked, _asked_otherwise, _file_is_gone])
def test_a_chapter_whose_runs_were_not_all_asked_the_same_panel_has_none(asked_more, change):
    change(asked_more)
    assert list(board.panels(load(asked_more)[0])) == list(STUDIES)[1:]


def test_without_runs_every_table_is_empty_and_has_its_columns(tmp_path):
    found = board.tables(across.choose(str(tmp_path)))
    assert found == {}
    standing, gaps = board.everything(found, 50)
    again = across.agreement(found, across.choose(str(tmp_path)))
    for table in (standing, gaps, again, across.overlap(found), across.correlations(standing)):
        assert table.empty
        assert len(table.columns) > 3
    assert "make book MODEL=" in across.lacking(found)


def test_tables_hold_numbers_whoever_has_run_what(two):
    saved_runs.write(two, "single", 0.5, ("monitor",), first=100)
    _, found = load(two)
    found["multiplicity"] = {"small": found["multiplicity"]["small"]}
    for table in board.everything(found, 20):
        kinds = table[["estimate", "low", "high", "n"]].dtypes.astype(str).to_list()
        assert kinds == ["float64"] * 3 + ["int64"]


@pytest.mark.parametrize("chapter", STUDIES)
def test_the_example_is_taken_from_two_models_that_share_facts(two, chapter):
    _, found = load(two)
    example = across.example({chapter: found[chapter]})
    assert (example.first, example.second) == ("large", "small")
    gap = comparison.difference(example.one, example.two, example.measure, 50)
    [part] = example.measure.columns
    assert gap.estimate == pytest.approx((example.one[part] - example.two[part]).mean())


def test_the_example_passes_over_chapters_of_one_model_or_of_other_facts(two):
    _, found = load(two)
    later = found["latent_knowledge"]
    apart = {"small": later["small"], "large": later["large"].rename(index=str.lower)}
    tables = {"monitor": {"small": found["monitor"]["small"]}, "latent_knowledge": apart}
    assert across.example(tables).first == "A (made up)"
    example = across.example({**tables, "multiplicity": found["multiplicity"]})
    assert example.measure.name == "accuracy"


def test_models_of_different_chapters_are_not_compared_in_silence(tmp_path):
    for name, chapter in zip("ab", STUDIES):
        saved_runs.write(tmp_path, name, 0.5, (chapter,))
    _, found = load(tmp_path)
    assert across.lacking(found).startswith("No two models here have finished the same chapter")


def test_figures_without_facts_are_undefined_and_agree_with_what_was_saved(tmp_path):
    saved_runs.write(tmp_path, "deaf", 0.0, heeds=False)
    table, found = load(tmp_path)
    again = across.agreement(found, table).set_index("measure")
    undefined = {"MONITOR", "Cons_c"}
    assert set(again.index[again["saved"].isna()]) == undefined
    assert set(again.index[again["again"].isna()]) == undefined


def test_one_run_says_what_a_second_would_add(tmp_path):
    saved_runs.write(tmp_path, "alone", 0.5, ("monitor",))
    _, found = load(tmp_path)
    told = across.lacking(found)
    assert told.startswith("Only alone has finished runs here.")
    assert "make book MODELS=" in told
    standing, gaps = board.everything(found, 50)
    assert len(standing) == len(STUDIES["monitor"].MEASURES)
    assert gaps.empty


def test_correlations_over_models_agree_with_numpy(tmp_path):
    for number, ability in enumerate((0.2, 0.5, 0.6, 0.9)):
        saved_runs.write(tmp_path, f"m{number}", ability, size=10**number)
    _, found = load(tmp_path)
    standing, _ = board.everything(found, 20)
    over = across.correlations(standing).set_index(["first", "second"])
    wide = standing.pivot_table(index="model", columns="measure", values="estimate")
    expected = np.corrcoef(wide["right"], wide["accuracy"])[0, 1]
    assert over.loc[("right", "accuracy"), "r"] == pytest.approx(expected)
    assert over.loc[("right", "accuracy"), "n"] == 4


@pytest.mark.parametrize(
    ("one", "two", "chosen", "words"),
    [
        (
            [1, 1, 1, 0],
            [1, 1, 0, 0],
            [3, 0, 2],
            "Both models get the first fact wrong and the second right.",
        ),
        ([1, 0, 1], [1, 0, 1], [1, 0], "equally well on all 3 facts: nothing tells them apart"),
        ([1, 0.9], [0, 0.1], [1, 0], "All 2 facts tell the models apart, the last one most: by +1"),
        (
            [1, 0.5, 0.5],
            [1, 0.25, 0],
            [0, 2],
            "On the first fact the models do equally well (1.00)",
        ),
        ([1, 0.5, 0.5], [1, 0.25, 0], [0, 2], "by +0.50. They differ on 2 of the 3 facts."),
    ],
)
def test_the_facts_shown_are_those_that_show_the_lesson(one, two, chosen, words):
    pair = pd.DataFrame({"one": one, "two": two}, dtype=float)
    rows, said = across.three(pair.assign(difference=pair["one"] - pair["two"]))
    assert list(rows.index) == chosen
    assert words in said
