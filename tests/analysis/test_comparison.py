"""The board of models: the same facts, counted, and their sums."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import UserError
from helpers.studies import STUDIES, measure_named, model_comparison
from notebooks.analysis import comparison as analysis
from notebooks.kit import runs_against_papers
from tests import saved_runs


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return two models' runs, asked 16 more facts of each relation; the second knows more."""
    folder = tmp_path_factory.mktemp("runs")
    saved_runs.write_made_up_runs(folder, "small", 0.3, panel=16)
    saved_runs.write_made_up_runs(folder, "large", 0.7, size=4_000_000, panel=16)
    return folder


@pytest.fixture
def two(written, tmp_path):
    """Return a copy of these runs, to be changed."""
    return shutil.copytree(written, tmp_path / "runs")


def load(folder):
    table = analysis.load_comparable_runs(folder)
    return table, analysis.facts_by_chapter_and_model(table)


def test_figures_computed_again_are_those_that_were_saved(two):
    table, found = load(two)
    again = analysis.saved_and_recomputed_measures(found, table)
    assert set(again["chapter"]) == set(STUDIES)
    assert len(again) == 2 * (3 + 4 + 2 + 5)
    np.testing.assert_allclose(again["again"], again["saved"], atol=1e-12)
    path = two / "small" / "latent_knowledge" / "metrics.parquet"
    metrics = pd.read_parquet(path)
    metrics.loc[metrics["level"] == "run", "estimate"] += 0.01  # tampered with
    metrics.to_parquet(path)
    again = analysis.saved_and_recomputed_measures(found, table)
    wrong = again[(again["saved"] - again["again"]).abs() > 1e-9]
    assert set(wrong[["model", "chapter"]].itertuples(index=False, name=None)) == {
        ("small", "latent_knowledge")
    }
    saved_runs.write_made_up_runs(two, "small", 0.9)  # made again, it is read again
    assert (
        analysis.facts_by_chapter_and_model(table)["latent_knowledge"]["small"][
            "right"
        ].mean()
        > 0.8
    )


def test_models_stand_from_small_to_large_on_the_same_facts(two):
    saved_runs.write_made_up_runs(two, "later", 0.5, size=9_000_000, first=4)
    _, found = load(two)
    assert list(found["latent_knowledge"]) == ["small", "large", "later"]
    counts = analysis.fact_counts_by_model(found).set_index(["chapter", "model"])
    assert counts.loc[("latent_knowledge", "later")].tolist() == [24, 12]
    standing = analysis.estimates_by_model(
        found["latent_knowledge"], STUDIES["latent_knowledge"].MEASURES, n_resamples=50
    )
    assert standing["n"].eq(12).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_paired_difference_is_that_of_the_means(pairs):
    table = pd.DataFrame(pairs, columns=["a", "b"]).astype(float)
    table["relation"] = "P17"
    sides = [table.assign(right=table[name]) for name in "ab"]
    gap = model_comparison.measure_difference(
        *sides, measure_named("right"), n_resamples=20
    )
    assert gap.estimate == pytest.approx(table["a"].mean() - table["b"].mean())
    assert not gap.low > gap.estimate + 1e-9
    back = model_comparison.measure_difference(
        *sides[::-1], measure_named("right"), n_resamples=20
    )
    assert back.estimate == pytest.approx(-gap.estimate)


def test_every_measure_is_computed_from_columns_that_facts_have(written):
    for chapter in STUDIES:
        table = runs_against_papers.facts_of_run(chapter, written / "small" / chapter)
        for measure in STUDIES[chapter].MEASURES:
            assert set(measure.columns) <= set(table.columns)
    names = [measure.name for study in STUDIES.values() for measure in study.MEASURES]
    assert len(set(names)) == len(names)


def test_models_that_are_chosen_are_compared_among_themselves(two, tmp_path):
    for name in ("own", "other"):
        saved_runs.write_made_up_runs(two, name, 0.5, seed=3)
    saved_runs.write_made_up_runs(two, "third", 0.5)
    everything = analysis.load_comparable_runs(str(two))
    assert set(everything.loc[everything["group"] == 0, "label"]) == {
        "small",
        "large",
        "third",
    }
    chosen = analysis.load_comparable_runs(str(two), ["own", "other"])
    assert set(chosen["label"]) == {"own", "other"}
    assert chosen["group"].eq(0).all()
    with pytest.raises(
        UserError,
        match="No run is of medium: there are large, other, own, small, third",
    ):
        analysis.load_comparable_runs(str(two), ["medium"])
    with pytest.raises(UserError, match="No run is of medium: there are none"):
        analysis.load_comparable_runs(str(tmp_path / "empty"), ["medium"])


def test_the_panels_facts_are_read_beside_the_runs_own(written):
    table, own = load(written)
    found = analysis.panel_facts_by_chapter_and_model(table)
    assert list(found) == list(own) == list(STUDIES)
    others = saved_runs.made_up_facts(16, first=100).set_index("item")
    for chapter, models in found.items():
        assert list(models) == ["small", "large"]
        assert set(models["small"].index) == set(others.index)
        assert not set(own[chapter]["small"].index) & set(others.index)
    for name, ability in (("small", 0.3), ("large", 0.7)):
        right = found["latent_knowledge"][name]["right"]
        assert (right == (others["hard"] < ability)[right.index]).all()
    standing, gaps = analysis.estimates_and_differences(
        found, ("right",), n_resamples=50
    )
    assert standing["n"].tolist() == [48, 48]
    assert gaps[["first", "n", "better"]].to_dict("records") == [
        {"first": "large", "n": 48, "better": "large"}
    ]


@pytest.mark.parametrize("change", ["not asked", "asked otherwise", "its file is gone"])
def test_a_chapter_whose_runs_were_not_all_asked_the_same_panel_has_none(two, change):
    place = two / "small" / "monitor"
    told = json.loads((place / "run.json").read_text())
    if change == "not asked":
        del told["panel"]
    elif change == "asked otherwise":
        told["panel"]["version"] -= 1
    else:
        (place / "panel.parquet").unlink()
    (place / "run.json").write_text(json.dumps(told))
    assert (
        list(analysis.panel_facts_by_chapter_and_model(load(two)[0]))
        == list(STUDIES)[1:]
    )


def test_without_runs_every_table_is_empty_and_has_its_columns(tmp_path):
    found = analysis.facts_by_chapter_and_model(
        analysis.load_comparable_runs(str(tmp_path))
    )
    assert found == {}
    standing, gaps = analysis.estimates_and_differences(found, n_resamples=50)
    again = analysis.saved_and_recomputed_measures(
        found, analysis.load_comparable_runs(str(tmp_path))
    )
    for table in (
        standing,
        gaps,
        again,
        analysis.fact_counts_by_model(found),
        analysis.differences_with_better_side(gaps),
    ):
        assert table.empty
        assert len(table.columns) > 3
    assert "make book MODEL=" in analysis.message_on_missing_runs(found)
    for name, chapter in zip("ab", STUDIES):
        saved_runs.write_made_up_runs(tmp_path, name, 0.5, (chapter,))
    told = analysis.message_on_missing_runs(load(tmp_path)[1])
    assert told.startswith("No two models here have finished the same chapter")


def test_tables_hold_numbers_whoever_has_run_what(two):
    saved_runs.write_made_up_runs(two, "single", 0.5, ("monitor",), first=100)
    _, found = load(two)
    found["multiplicity"] = {"small": found["multiplicity"]["small"]}
    for table in analysis.estimates_and_differences(found, n_resamples=20):
        kinds = table[["estimate", "low", "high", "n"]].dtypes.astype(str).to_list()
        assert kinds == ["float64"] * 3 + ["int64"]


def test_the_example_is_taken_from_two_models_that_share_facts(written):
    table, found = load(written)
    for chapter in STUDIES:
        first, second, pair = analysis.example_pair_of_models({chapter: found[chapter]})
        assert (first, second) == ("large", "small")
        assert (pair["difference"] == pair["one"] - pair["two"]).all()
        items = analysis.contrasting_facts(pair)
        prompts = analysis.shortest_prompts(items, table)
        assert len(prompts) == len(items)
        assert not set(prompts) & set(items)
    later = found["latent_knowledge"]  # of one model, or of other facts: passed over
    apart = {"small": later["small"], "large": later["large"].rename(index=str.lower)}
    tables = {
        "monitor": {"small": found["monitor"]["small"]},
        "latent_knowledge": apart,
    }
    assert analysis.example_pair_of_models(tables)[0] == "A (made up)"
    *_, pair = analysis.example_pair_of_models(
        {**tables, "multiplicity": found["multiplicity"]}
    )
    expected = found["multiplicity"]["large"]["accuracy"]
    assert (pair["one"] == expected[pair.index]).all()


def test_figures_without_facts_are_undefined_and_agree_with_what_was_saved(tmp_path):
    saved_runs.write_made_up_runs(tmp_path, "deaf", 0.0, heeds=False)
    table, found = load(tmp_path)
    again = analysis.saved_and_recomputed_measures(found, table).set_index("measure")
    undefined = {"MONITOR", "Cons_c"}
    assert set(again.index[again["saved"].isna()]) == undefined
    assert set(again.index[again["again"].isna()]) == undefined


def test_relations_are_correlated_as_numpy_does(written):
    models = load(written)[1]["latent_knowledge"]
    (row,) = analysis.correlations_over_relations(models, "right").itertuples()
    means = [table.groupby("relation")["right"].mean() for table in models.values()]
    assert row.r == pytest.approx(np.corrcoef(*means)[0, 1])
    assert (row.first, row.second, row.n) == ("small", "large", 3)


@pytest.mark.parametrize(
    ("one", "two", "chosen"),
    [
        ([1, 1, 1, 0], [1, 1, 0, 0], [3, 0, 2]),
        ([1, 0, 1], [1, 0, 1], [1, 0]),
        ([1, 0.9], [0, 0.1], [1, 0]),
        ([1, 0.5, 0.5], [1, 0.25, 0], [0, 2]),
    ],
)
def test_the_facts_shown_are_those_that_show_the_lesson(one, two, chosen):
    pair = pd.DataFrame({"one": one, "two": two}, dtype=float)
    assert (
        analysis.contrasting_facts(pair.assign(difference=pair["one"] - pair["two"]))
        == chosen
    )


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
    rows = pd.DataFrame(
        {"model": list("abc"), "measure": "error", "estimate": [0.4, 0.2, 0.5]}
    )
    found = analysis.differences_from_reference(rows, GAPS)
    assert found["second"].eq("b").all()  # fewest errors
    ends = found.set_index("first")[["estimate", "low", "high"]].round(9)
    assert ends.loc["a"].tolist() == [0.2, 0.1, 0.3]
    assert ends.loc["c"].tolist() == [0.3, 0.1, 0.4]
    assert analysis.differences_from_reference(rows, GAPS, "a")["second"].eq("a").all()


def test_a_model_behind_is_left_of_0_in_every_measure():
    less, more = measure_named("MONITOR"), measure_named("UR")
    gaps = GAPS.head(1).assign(measure="MONITOR")  # b has less, which is better
    rows = pd.DataFrame(
        {"model": ["a", "b"], "measure": "MONITOR", "estimate": [0.4, 0.2]}
    )
    found = (
        analysis.gaps_to_best_model(rows, gaps, less)
        .set_index("first")[analysis.INTERVAL_COLUMNS]
        .round(9)
    )
    assert found.to_dict("index")["a"] == {"estimate": -0.2, "low": -0.3, "high": -0.1}
    assert found.loc["b"].tolist() == [0, 0, 0]
    turned = analysis.gaps_to_best_model(rows, gaps, less, "a").set_index("first")
    assert turned["estimate"].round(9).to_dict() == {"a": 0, "b": 0.2}
    gaps = GAPS.tail(1).assign(measure="UR")
    rows = pd.DataFrame({"model": ["b", "c"], "measure": "UR", "estimate": [0.1, 0.4]})
    found = (
        analysis.gaps_to_best_model(rows, gaps, more)
        .set_index("first")[analysis.INTERVAL_COLUMNS]
        .round(9)
    )
    assert found.loc["b"].tolist() == [-30, -40, -10]
    assert analysis.gaps_to_best_model(rows, gaps.head(0), less).empty


def test_an_unknown_reference_is_refused():
    runs = pd.DataFrame({"label": ["a", "b"], "manifest": [{"model": {}}] * 2})
    found = {"monitor": dict.fromkeys("ab", pd.DataFrame())}
    assert analysis.parameter_counts_by_model(runs, found, "b") == {
        "a": None,
        "b": None,
    }
    with pytest.raises(
        UserError, match="The reference z is not compared here: name one of a, b"
    ):
        analysis.parameter_counts_by_model(runs, found, "z")
    with pytest.raises(
        UserError, match="z is not compared here: no model has finished runs"
    ):
        analysis.parameter_counts_by_model(runs, {}, "z")


@given(st.lists(st.integers(1, 999), min_size=1, max_size=8))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_holm_agrees_with_its_definition(thousandths):
    table = pd.DataFrame({"estimate": [number / 1000 for number in thousandths]})
    table = table.assign(low=table["estimate"] - 0.5, high=table["estimate"] + 0.5)
    found, floor = (
        analysis.differences_with_holm_p_values(table).sort_values("p_normal"),
        0.0,
    )
    for place, row in enumerate(found.itertuples()):
        floor = max(floor, min(1.0, (len(found) - place) * row.p_normal))
        assert row.p_holm == pytest.approx(floor)
    assert analysis.differences_with_holm_p_values(
        table.assign(high=table["low"])
    ).empty  # without intervals, no tests


@pytest.mark.parametrize(
    ("sizes", "larger", "tuned"),
    [
        ({"x-s": 1, "x-m": 4, "x-m-chat": 4, "x-m (chat)": 4, "y-Instruct": 9},
         {("x-m", "x-s")}, {("x-m-chat", "x-m"), ("x-m (chat)", "x-m")}),
        # The next larger one is of the family, and was asked in the same format.
        ({"x-1b (qa)": 1, "x-2B": 2, "x-3b (qa)": 3, "x-3b-it (chat)": 3, "x-4.5B": 4,
          "y-1.5b (qa)": 1.5, "z (qa)": 5, "lab/y": 6},
         {("x-3b (qa)", "x-1b (qa)"), ("x-4.5B", "x-2B")}, None),
        ({"atlas-xs": 1, "atlas-s": 2}, {("atlas-s", "atlas-xs")}, set()),
        ({"m": 1, "m (chat)": 1}, set(), {("m (chat)", "m")}),
        ({"unknown": None}, set(), set()),
    ],
)  # fmt: skip
def test_models_are_paired_like_with_like(sizes, larger, tuned):
    found = analysis.pairs_of_related_models(sizes)
    assert set(found["larger"]) == larger
    assert tuned is None or set(found["tuned"]) == tuned


def _gaps(*rows):
    """Return differences (first, second, measure, estimate, half a width)."""
    table = pd.DataFrame(
        rows, columns=["first", "second", "measure", "estimate", "reach"]
    )
    low, high = table["estimate"] - table["reach"], table["estimate"] + table["reach"]
    return table.assign(low=low, high=high, n=90)


@pytest.mark.parametrize(
    ("rows", "rival", "leads"),
    [
        ([("a", "b", 0.2), ("c", "a", -0.3)], "b", True),
        (
            [("a", "b", -0.2), ("c", "a", -0.3)],
            "b",
            False,
        ),  # b is better on what counts for both
        ([("a", "b", 0.05), ("c", "a", -0.02)], "c", False),
        (
            [("a", "b", 0.11), ("c", "a", -0.3)],
            "b",
            False,
        ),  # one of three may be chance
    ],
)
def test_the_leader_has_to_beat_every_other(rows, rival, leads):
    table = _gaps(
        *((a, b, "right", gap, 0.1) for a, b, gap in [*rows, ("b", "c", 0.0)])
    )
    standing = pd.DataFrame(
        {"model": list("abc"), "measure": "right", "estimate": [0.9, 0.8, 0.7]}
    )
    (row,) = analysis.best_model_by_measure(standing, table).itertuples()
    assert (row.best, row.rival, row.leads) == ("a", rival, leads)
    assert analysis.best_model_by_measure(standing[:1], _gaps()).empty
    assert analysis.best_model_by_measure(
        standing.assign(estimate=[0.5, np.nan, np.nan]), _gaps()
    ).empty


def test_a_tuned_copy_is_no_rival():
    table = _gaps(("a", "a (chat)", "right", 0.0, 0.1), ("a", "c", "right", 0.3, 0.1))
    standing = {
        "model": ["a", "a (chat)", "c"],
        "measure": "right",
        "estimate": [0.9, 0.9, 0.6],
    }
    lead = analysis.best_model_by_measure(
        pd.DataFrame(standing), table, [("a (chat)", "a")]
    )
    assert lead[["best", "rival", "leads"]].to_numpy().tolist() == [["a", "c", True]]
    assert not analysis.best_model_by_measure(pd.DataFrame(standing), table)[
        "leads"
    ].item()


def test_the_better_side_of_a_difference_follows_the_measure():
    table = _gaps(("m", "s", "MONITOR", -0.4, 0.1), ("m", "s", "UR", 0.4, 0.1),
                  ("m", "s", "NCR", -0.4, 0.1), ("m", "s", "coverage", 0.4, 0.1))  # fmt: skip
    found = analysis.differences_with_better_side(table).set_index("measure")["up"]
    assert found.to_dict() == {"MONITOR": True, "UR": True, "NCR": False}
    standing = {"model": list("ms"), "measure": "MONITOR", "estimate": [0.3, 0.7]}
    (row,) = analysis.best_model_by_measure(
        pd.DataFrame(standing), table.head(1)
    ).itertuples()
    assert (row.best, row.leads) == ("m", True)
    assert (row.estimate, row.low, row.high) == pytest.approx((0.4, 0.3, 0.5))
    gaps = pd.concat([GAPS.head(2), GAPS.tail(1).assign(measure="coverage", better="")])
    assert analysis.differences_for_display(gaps)["better"].tolist() == [
        "b",
        "not decided",
        "neither direction",
    ]


def found(folder, *runs):
    """Save runs of one chapter, each a model and what is special; return those found, by label."""
    for name, changes in runs:
        saved_runs.write_made_up_runs(
            folder, name, 0.5, ("latent_knowledge",), **changes
        )
    return analysis.load_comparable_runs(folder).set_index("label")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 3}, "seed 3, not 0"),
        ({"n_facts": 9}, "n_facts 9, not 8"),
        ({"relations": ["P17"]}, 'relations ["P17"], not nothing'),
        ({"versions": {"torch": "1.0", "transformers": "2.0"}}, "torch 1.0, not "),
    ],
)
def test_a_run_made_otherwise_is_set_apart_with_its_reason(tmp_path, changes, reason):
    table = found(tmp_path, ("a", {}), ("b", {}), ("odd", changes))
    assert table["group"].to_dict() == {"a": 0, "b": 0, "odd": 1}
    assert table.loc["odd", "differs"].startswith(reason)
    assert table.loc[["a", "b"], "differs"].eq("").all()
    told = analysis.sentences_on_compared_runs(table.reset_index())
    assert "1 of 3 runs not mixed with the others:" in told
    assert f"- odd, latent_knowledge: {reason}" in told


@pytest.mark.parametrize(
    ("given", "labels"),
    [  # resamples and what only a page shows; builds of torch; models of one name
        ([("a", {"n_bootstrap": 1000, "siblings": True}), ("b", {"n_bootstrap": 300}),
          ("c", {"prompt_format": "chat"})], {"a", "b", "c (chat)"}),
        ([(name, {"versions": {"torch": f"2.13.0+{name}"}}) for name in ("cpu", "cu130")],
         {"cpu", "cu130"}),
        ([("here/m", {}), ("there/m", {})], {"m (here--m)", "m (there--m)"}),
    ],
)  # fmt: skip
def test_what_changes_no_answer_sets_nothing_apart(tmp_path, given, labels):
    table = found(tmp_path, *given)
    assert table["group"].eq(0).all()
    assert set(table.index) == labels
    assert (
        f"All {len(labels)} runs were made alike"
        in analysis.sentences_on_compared_runs(table.reset_index())
    )


def test_other_data_are_told_by_name_or_checksum(tmp_path, monkeypatch):
    found(tmp_path, ("a", {}), ("b", {}))
    monkeypatch.setitem(saved_runs.DATASET, "checksum", "ee")
    found(tmp_path, ("newer", {}))
    monkeypatch.setitem(saved_runs.DATASET, "name", "fktc")
    table = found(tmp_path, ("other", {}))
    assert table.loc[["a", "b"], "group"].tolist() == [0, 0]
    assert set(table.loc[["other", "newer"], "group"]) == {
        1,
        2,
    }  # the latest of two first
    assert table.loc["newer", "differs"].startswith("checksum ee, not cdcd")
    assert table.loc["other", "differs"] == "dataset fktc, not atlas"


def test_formats_of_prompts_are_compared_and_named(tmp_path):
    formats = {"c": "bare", "d": "qa", "e": "shots", "f": "chat"}
    given = [(name, {"prompt_format": each}) for name, each in formats.items()]
    older = {"prompt_format": None}
    table = found(tmp_path, ("a", older), ("b", {**older, "chat": True}), *given)
    assert table["group"].eq(0).all()
    assert set(table.index) == {"a", "b (chat)", "c", "d (qa)", "e (shots)", "f (chat)"}
    sentence = analysis.sentences_on_compared_runs(table.reset_index())
    assert (
        "bare (a, c); chat (b (chat), f (chat)); qa (d (qa)); shots (e (shots))."
        in sentence
    )
    assert "Formats" not in analysis.sentences_on_compared_runs(
        table.reset_index().query("label in ('a', 'c')")
    )


def test_a_model_has_one_name_in_all_chapters(tmp_path):
    saved_runs.write_made_up_runs(tmp_path, "here/m", 0.5)
    saved_runs.write_made_up_runs(tmp_path, "there/m", 0.5, seed=1)
    assert set(found(tmp_path).index) == {"m (here--m)", "m (there--m)"}


def test_a_replaced_model_is_noticed(tmp_path):
    saved_runs.write_made_up_runs(tmp_path, "m", 0.5)
    table = analysis.load_comparable_runs(tmp_path)
    assert "different weights" not in analysis.sentences_on_compared_runs(table)
    table.loc[0, "manifest"]["model"]["weights_sha"] = "another"
    assert (
        "chapters of m were run on different weights"
        in analysis.sentences_on_compared_runs(table)
    )
