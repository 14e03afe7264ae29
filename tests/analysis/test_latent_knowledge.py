"""Statistics of the chapter on latent knowledge, by hand and against plain means."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.calibration import calibration_curve

from helpers import UserError, datasets, stats
from helpers.metrics import subsumption
from helpers.models import LanguageModel
from notebooks.analysis import latent_knowledge as analysis
from notebooks.analysis import latent_subsumption

SETTINGS = {
    "dataset": "atlas",
    "relations": ["P17", "P36"],
    "left_out": [],
    "separator": "",
    "separators": ["space"],
    "n_close": 2,
    "n_examples": 500,
    "seed": 0,
}


def table(n=40, ways=("list", "prompt"), seed=0):
    """Return facts of four relations asked in some ways, right or not by the toss of a coin."""
    random = np.random.default_rng(seed)
    rows = [(f"f{i}", f"r{i % 4}", way) for i in range(n) for way in ways]
    made = pd.DataFrame(rows, columns=["item", "relation", "way"])
    return made.assign(right=random.integers(0, 2, len(made)).astype(float))


def test_examples_and_tests_are_of_other_subjects():
    facts, pool, asked, close, n_examples = analysis.facts_by_role(SETTINGS)
    assert len(pool) + len(asked) <= len(facts)
    assert not set(pool["subject"][pool["relation"] == "P17"]) & set(
        asked["subject"][asked["relation"] == "P17"]
    )
    assert close.groupby("relation").size().tolist() == [2, 2]
    assert n_examples == pool["relation"].value_counts().max() == 100
    with pytest.raises(UserError, match="no separator"):  # before anything is loaded
        analysis.facts_by_role(SETTINGS | {"separators": ["tab"], "dataset": "nowhere"})
    chosen, tried = analysis.chosen_separator_and_trial(
        LanguageModel, {"separator": "space"}
    )
    assert (chosen, tried.empty) == ("space", True)


def test_the_commonest_object_is_that_of_the_examples():
    pool = pd.DataFrame({"relation": list("aaab"), "object": list("yxyz")})
    tests = pd.DataFrame(
        {"fact": list("stuv"), "relation": list("aabb"), "object": list("yxzw")}
    )
    assert analysis.has_commonest_object(tests, pool).to_dict() == {
        "s": 1,
        "t": 0,
        "u": 1,
        "v": 0,
    }
    even = analysis.has_commonest_object(tests, pool[:2])
    assert even.to_dict() == {
        "s": 0,
        "t": 1,
        "u": 0,
        "v": 0,
    }  # x is before y; b has no examples


def test_ways_are_compared_on_the_facts_that_both_were_asked():
    rows = table()
    found = analysis.paired_accuracy_difference(
        rows, "way", "list", "prompt", n_resamples=50
    )
    wide = rows.pivot_table("right", "item", "way")
    assert found.estimate == pytest.approx((wide["list"] - wide["prompt"]).mean())
    assert found.n == 40
    assert (
        analysis.paired_accuracy_difference(
            rows, "way", "prompt", "list", n_resamples=50
        ).low
        == -found.high
    )
    half = rows.drop(
        rows[(rows["way"] == "prompt") & rows["item"].isin(["f0", "f1"])].index
    )
    assert (
        analysis.paired_accuracy_difference(
            half, "way", "list", "prompt", n_resamples=50
        ).n
        == 38
    )
    percent = 100 * wide.drop(index=["f0", "f1"]).mean()
    said = analysis.accuracies_in_words(half, "way", one="list", other="prompt")
    assert said == {
        "one": f"{percent['list']:.1f}",
        "other": f"{percent['prompt']:.1f}",
    }
    for one, other in (("list", "list"), ("list", "gap")):  # was not asked
        found = analysis.paired_accuracy_difference(
            rows, "way", one, other, n_resamples=50
        )
        assert (np.isnan(found.estimate), found.n) == (True, 0)
    assert (
        analysis.accuracies_in_words(rows, "way", one="list", other="gap")["one"]
        == "undefined"
    )


def test_a_fact_asked_twice_counts_once_with_its_mean():
    rows = pd.concat([table(seed=1), table(seed=2)])
    found = analysis.accuracy_by_way_of_asking(rows, "way", n_resamples=50).set_index(
        "way"
    )
    assert found["estimate"].to_dict() == pytest.approx(
        rows.groupby("way")["right"].mean().to_dict()
    )
    assert found["n"].tolist() == [40, 40]
    paired = analysis.paired_accuracy_difference(
        rows, "way", "list", "prompt", n_resamples=50
    )
    assert paired.estimate == pytest.approx(
        found["estimate"]["list"] - found["estimate"]["prompt"]
    )


def test_generations_count_whole_words():
    texts = pd.DataFrame(
        {
            "text": ["It is PARIS.", "Parisian", "Guinea-Bissau, then", "", "Oman"],
            "object": ["Paris", "Paris", "Guinea-Bissau", "Paris", "."],
        }
    )
    assert analysis.mark_generations(texts)["right"].tolist() == [1, 0, 1, 0, 0]


def test_ranked_and_written_are_of_the_same_prompts():
    ways = table(ways=(1, 2)).rename(columns={"way": "template"}).assign(way="HGP")
    texts = ways[ways["template"] == 1].assign(right=1.0)
    both = analysis.ranked_and_written_answers(ways, texts, "HGP")
    assert set(both["template"]) == {1}
    found = analysis.paired_accuracy_difference(
        both, "by", "written", "ranked", n_resamples=50
    )
    assert found.estimate == 1 - ways.loc[ways["template"] == 1, "right"].mean()


def test_writing_after_a_list_stands_beside_writing_after_a_sentence():
    items = {"relation": "P1", "item": list("abcd")}
    made = {"IC-LKE": ([1, 1, 1, 0], [1, 0, 0, 0]), "HGP": ([1, 1, 0, 0], [1, 1, 1, 0])}
    ways, texts = (
        pd.concat([pd.DataFrame({**items, "way": way, "template": 1, "right": marks[place]})
                   for way, marks in made.items()]) for place in (0, 1))  # fmt: skip
    said = analysis.ranking_and_writing_in_words(ways, texts, n_resamples=50)
    assert (said["ranked"], said["written"]) == ("75.0", "25.0")
    assert [said[name].split()[0] for name in ("control", "list")] == ["-25.0", "-50.0"]


def test_accuracy_is_told_of_facts_never_stated_and_often():
    truth = pd.DataFrame(
        {"exposures": [0, 0, 4, 8, 16, 256], "right": [1.0, 0, 1, 1, 1, 1]}
    )
    assert analysis.accuracy_by_exposure_in_words(truth) == {
        "never": "50.0",
        "stated": "100.0",
    }
    assert analysis.accuracy_by_exposure_in_words(truth[1:2]) == {
        "never": "0.0",
        "stated": "undefined",
    }


def confident(n=200, seed=0):
    random = np.random.default_rng(seed)
    scores = table(n, ["ic"], seed).assign(top=random.uniform(0.01, 0.99, n))
    return scores.assign(chance=0.01)


def test_reliability_is_that_of_scikit_learn():
    scores = confident()
    found = analysis.accuracy_by_confidence(scores)
    accuracy, confidence = calibration_curve(scores["right"], scores["top"], n_bins=10)
    np.testing.assert_allclose(found["estimate"], accuracy)
    np.testing.assert_allclose(found["confidence"], confidence)
    assert found["n"].sum() == 200
    assert (
        (found["low"] <= found["estimate"]) & (found["estimate"] <= found["high"])
    ).all()
    assert analysis.accuracy_by_confidence(scores[:0]).empty


def test_figures_draw_what_the_tables_hold():
    scores = confident()
    ax = analysis.draw_reliability_diagram(scores)
    brier = ((scores["top"] - scores["right"]) ** 2).mean()
    assert ax.get_title(loc="left") == f"Brier score {brier:.3f}"
    assert analysis.draw_reliability_diagram(scores[:0]).texts
    rows = pd.DataFrame(
        {"examples": [0, 1], "estimate": [0.1, 0.4], "low": 0.0, "high": 0.5}
    )
    named = pd.DataFrame(
        {"separator": ["space"], "estimate": 0.3, "low": 0.2, "high": 0.4}
    )
    ax = analysis.draw_accuracy_in_groups(
        {"number": rows, "separator": named}, 0.05, "space"
    )
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["0 examples", "1 example", "space (chosen)"]
    assert ax.get_lines()[-1].get_xdata() == [0.05, 0.05]
    plt.close("all")


def test_the_sure_ones_are_compared_with_the_others():
    scores = confident()
    sure = scores["top"] > 0.5
    means = scores["right"].groupby(sure).mean()
    found = analysis.group_mean_difference(
        scores["right"], sure, scores["relation"], n_resamples=50
    )
    assert found.estimate == pytest.approx(means[True] - means[False])
    some = scores[sure]
    alone = analysis.group_mean_difference(
        some["right"], sure[sure], some["relation"], n_resamples=50
    )
    assert np.isnan(alone.estimate)


def test_two_draws_differ_as_often_as_pairs_of_them():
    curve = pd.DataFrame(
        {"item": "a", "relation": "r", "examples": 1, "right": [1.0, 0, 0]}
    )
    pairs = [one != other for one, other in permutations(curve["right"], 2)]
    assert analysis.disagreement_between_draws(curve)["right"].item() == pytest.approx(
        np.mean(pairs)
    )
    assert analysis.disagreement_between_draws(curve[:1]).empty


def test_facts_never_read_are_compared_with_a_guess():
    truth = pd.DataFrame(
        {"exposures": [0, 0, 4], "right": [1.0, 0.0, 1.0], "chance": 0.1}
    )
    found, whole = (
        analysis.share_of_unread_facts_known(truth),
        stats.wilson_interval(1, 2),
    )
    assert found == (whole.estimate - 0.1, whole.low - 0.1, whole.high - 0.1, 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_no_rate_is_below_the_least_that_the_accuracies_allow(pairs):
    small, large = np.array(pairs).T
    least = latent_subsumption.least_subsumption_rate(small.mean(), large.mean())
    assert not subsumption.subsumption_rate(small, large) < least - 1e-12
    assert np.isnan(least) != small.any()
    apart = np.sort(small), np.sort(large)[::-1]  # as little in common as can be
    assert subsumption.subsumption_rate(*apart) == pytest.approx(least, nan_ok=True)


def test_chance_within_relations_is_taken_off():
    relations = [0, 0, 0, 1, 1]
    small, large = np.array([1.0, 1, 0, 0, 1]), np.array([1.0, 0, 1, 1, 1])
    orders = [
        [*first, *second]
        for first in permutations(range(3))
        for second in permutations((3, 4))
    ]
    groups = np.array(
        [
            latent_subsumption.shared_knowledge_by_group(
                small, large[order], np.array(relations)
            )
            for order in orders
        ]
    )
    beyond_chance = latent_subsumption.subsumption_beyond_chance(groups)
    assert beyond_chance.mean() == pytest.approx(0)
    # As they stand two of three are shared. In the first relation the small model knows
    # two facts, and of the other two the large one knows 1/2 and 2/2; in the second it
    # knows one, and the large one knows the other.
    assert groups[0].tolist() == [[3, 2, 1, 1.5], [2, 1, 1, 1]]
    assert beyond_chance[0] == pytest.approx((2 - 2.5) / 3)


def test_shared_exposure_is_no_shared_knowledge():
    """Both know what they read often: by chance 3/5 are shared, of equal exposure all."""
    often, never = list("abcd"), list("ef")
    known = pd.DataFrame(
        {"small": [1.0] * 4 + [0] * 2, "large": [1.0] * 4 + [0] * 2},
        index=often + never,
    )
    scores = pd.DataFrame({"item": known.index, "relation": "r"})
    groups = scores["relation"].to_numpy(dtype=str)
    counts = latent_subsumption.shared_knowledge_by_group(
        known["small"].to_numpy(), known["large"].to_numpy(), groups
    )
    # Of each known fact's five others the large model knows three.
    assert latent_subsumption.subsumption_beyond_chance(counts) == pytest.approx(0.4)
    groups = np.array(["read"] * 4 + ["never"] * 2)
    counts = latent_subsumption.shared_knowledge_by_group(
        known["small"].to_numpy(), known["large"].to_numpy(), groups
    )
    assert latent_subsumption.subsumption_beyond_chance(counts) == 0


def test_exposure_is_that_of_both_models_or_of_none():
    training = datasets.training_exposure("atlas-m")
    often = training.index[(training["exposures"] == 64) & training["plain"]][0]
    never = training.index[(training["exposures"] == 0) & training["plain"]][0]
    false = training.index[training["false_exposures"] > 0][0]
    groups = latent_subsumption.exposure_group_of_each_fact(
        [often, never, false], ("atlas-xs", "atlas-m")
    )
    names = ["17 times or more", "never", "stated falsely"]
    assert groups.tolist() == [f"{name}, {name}" for name in names]
    for pair in (("atlas-m", "smollm2"), ("small", "large")):
        assert latent_subsumption.exposure_group_of_each_fact([often], pair) is None, (
            pair
        )
    assert (
        latent_subsumption.exposure_group_of_each_fact(["x"], ("atlas-m", "atlas-s"))
        is None
    )


def test_the_control_of_two_bundled_models_reads_as_often():
    training = datasets.training_exposure("atlas-m")
    plain = training[training["plain"]]
    items = [
        *plain.index[plain["exposures"] == 64][:4],
        *plain.index[plain["exposures"] == 0][:4],
    ]
    marks = [1.0] * 4 + [0.0] * 4
    known = pd.DataFrame({"atlas-xs": marks, "atlas-m": marks}, index=items)
    scores = pd.DataFrame({"item": items, "relation": "r"})
    pair = ("atlas-xs", "atlas-m")
    beyond, words = latent_subsumption.subsumption_of_pair(
        known, scores, pair, n_resamples=50
    )
    assert (beyond.estimate, beyond.n) == (0, 8)
    assert words["cause"].startswith("relation, among facts that both read about")
    by_relation, words = latent_subsumption.subsumption_of_pair(
        known, scores, pair, same_exposure=False, n_resamples=50
    )
    assert by_relation.estimate == pytest.approx(1 - 3 / 7)
    assert words == {"rate": "1.00", "chance": "0.43", "cause": "relation"}


@pytest.mark.slow
def test_models_that_share_their_exposure_alone_are_not_called_overlapping(capsys):
    """Of 400 pairs, unrelated within relation and exposure, at most 28 are: 7 %.

    What a model knows depends on the relation and on the group of exposure, as often as
    it is in atlas-xs and atlas-m, and on nothing else. Within relations alone all 400
    pairs would be called overlapping.
    """
    facts = datasets.load("atlas")
    training = datasets.training_exposure("atlas-m")
    facts = facts[facts["fact"].isin(training.index)]
    relations = facts["relation"].unique()[:24]
    facts = facts[facts["relation"].isin(relations)]
    facts = facts.groupby("relation").sample(8, random_state=0)
    items = facts["fact"].to_numpy()
    groups = latent_subsumption.exposure_group_of_each_fact(items, ("atlas-m",) * 2)
    group = groups.str.partition(", ")[0]
    shares = {
        "never": (0.05, 0.05),
        "1 to 4 times": (0.15, 0.17),
        "5 to 16 times": (0.3, 0.65),
        "17 times or more": (0.7, 0.9),
        "stated falsely": (0.2, 0.3),
    }
    codes, _ = pd.factorize(facts["relation"])
    scores = pd.DataFrame({"item": items, "relation": facts["relation"].to_numpy()})
    rng = np.random.default_rng(0)
    n_overlapping = n_by_relation = 0
    for seed in range(400):
        ease = rng.normal(size=codes.max() + 1)[codes]
        marks = {}
        for place, name in enumerate(("atlas-xs", "atlas-m")):
            share = group.map(lambda label, place=place: shares[label][place])
            p = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + ease)))
            marks[name] = (rng.random(len(items)) < p).to_numpy(dtype=float)
        known = pd.DataFrame(marks, index=items)
        draws = {"n_resamples": 200, "seed": seed}
        beyond, _ = latent_subsumption.subsumption_of_pair(
            known, scores, ("atlas-xs", "atlas-m"), **draws
        )
        n_overlapping += beyond.low > 0
        if seed < 20:
            by_relation, _ = latent_subsumption.subsumption_of_pair(
                known, scores, ("atlas-xs", "atlas-m"), same_exposure=False, **draws
            )
            n_by_relation += by_relation.low > 0
    with capsys.disabled():
        print(f"\ncalled overlapping: {n_overlapping} of 400")
    assert n_overlapping <= 28
    assert n_by_relation == 20


def test_shared_knowledge_of_two_models():
    scores = pd.DataFrame({"item": list("abcde"), "relation": list("rrrss")})
    known = pd.DataFrame(
        {"small": [1.0, 1, 0, 0, 1], "large": [1.0, 0, 1, 1, 1]}, index=list("abcde")
    )
    found, words = latent_subsumption.subsumption_of_pair(
        known, scores, ("small", "large"), n_resamples=50
    )
    assert found.estimate == pytest.approx((2 - 2.5) / 3)
    assert words == {"rate": "0.67", "chance": "0.83", "cause": "relation"}
    alone, words = latent_subsumption.subsumption_of_pair(
        known, scores, ("small", "small"), n_resamples=50
    )
    assert np.isnan(alone.estimate)
    assert words["rate"] == "undefined"
    pairs = latent_subsumption.subsumption_by_model_pair(known, scores, n_resamples=50)
    row = pairs.loc["small, large"]
    assert (row["η at least"], row["one alone"], row["exact p"]) == (
        "0.67",
        "1 : 2",
        "1.000",
    )
    assert latent_subsumption.subsumption_by_model_pair(known[["small"]], scores).empty
    board = latent_subsumption.accuracy_by_model(known, scores, n_resamples=50)
    assert board["estimate"].to_dict() == {"small": 0.6, "large": 0.8}
    # Ten facts differ; at most 2 or at least 8 heads of ten: 2 (1 + 10 + 45) / 1024.
    known = pd.DataFrame(
        {"one": [1.0] * 8 + [0, 0, 1, 0], "two": [0.0] * 8 + [1, 1, 1, 0]}
    )
    pairs = latent_subsumption.subsumption_by_model_pair(
        known, pd.DataFrame({"item": known.index, "relation": "r"}), n_resamples=50
    )
    assert pairs.loc["one, two", ["one alone", "exact p"]].tolist() == [
        "8 : 2",
        "0.109",
    ]
