"""What the four papers show together: every finding in all its wordings, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from helpers.published import joint
from helpers.published import joint_findings as told

nan = float("nan")


def pairs(ys, rhos, p=0.001, x=joint.LKE, **more):
    """Return compared pairs with given correlations, all with the same p after Holm."""
    rows = []
    for y, rho in zip(ys, rhos):
        row = {"x": x, "y": y, "pair": f"{joint.short(x)} × {joint.short(y)}", "n": 15}
        row |= {"families": 4, "rho": rho, "p": p, "p_holm": p, "low": rho - 0.2}
        row |= {"high": rho + 0.2, "least": rho - 0.1, "most": rho + 0.1, "base": rho}
        row |= {"given_size": rho / 2, "given_low": rho / 2 - 0.3, "given_high": rho / 2 + 0.3}
        rows.append(row | more)
    return pd.DataFrame(rows)


def none(x=joint.LKE):
    """Return a pair over too few models."""
    return pairs(joint.KNOWING[:1], [nan], p=nan, x=x)


def doubted(before, p, largest, smallest=0.0, sure=None):
    surely = p if sure is None else sure
    row = {"pair": "a × b", "doubtful": 2, "p, probably": p, "p, same weights": surely}
    row |= {"largest": largest, "smallest": smallest, "doubt": "Gemma 2B", "moved": before}
    return pd.DataFrame([row])


def sized(rhos, p):
    rows = pd.DataFrame({"measure": joint.MAIN[:2], "estimate": rhos, "p_holm": p})
    rows = rows.assign(low=rows["estimate"] - 0.2, high=rows["estimate"] + 0.2)
    return rows  # MONITOR's score is better where it is lower


def far(gap, known=""):
    rows = {"rank_x": [1, 2], "rank_y": [2, 1], "gap": [gap, -0.1], "known": [known, ""]}
    return pd.DataFrame(rows, index=["one", "two"])


def at_one_size(rho, *others):
    """Return the main measures with one correlation, and those of other settings."""
    settings = joint.ALL_KNOWING[: len(others)]
    return pairs(joint.KNOWING, [rho] * 3), pairs(settings, list(others))


ALIKE = [
    (
        told.order_alike,
        (pairs(joint.KNOWING, [0.9, 0.8, 0.7]), pairs(joint.ALL_KNOWING, [0.9] * 9)),
        "holds",
        "(smallest ρ: 0.70 [0.50, 0.90] for IC-LKE accuracy × CR, four-shot, exact p = 0.001; "
        "without one family, 0.60 to 0.80); the order is clearly alike on all 9 measures",
    ),
    (told.order_alike, (pairs(joint.KNOWING, [0.9, -0.8, 0.7]), none()), "opposite", "opposite"),
    (
        told.order_alike,
        (pairs(joint.KNOWING, [0.9, 0.8, 0.1]), pairs(joint.ALL_KNOWING[:2], [0.3, 0.2], p=0.4)),
        "undecided",
        "on 2 of 2 measures of knowing it is not clearly alike "
        "(ρ of NCR, zero-shot is 0.20 [0.00, 0.40]).",
    ),
    (told.order_alike, (none(), none()), "undefined", "fewer than six"),
    (told.every_setting, (pairs(joint.ALL_KNOWING, [0.9] * 9),), "holds", "9 of 9 measures"),
    (told.every_setting, (pairs(joint.ALL_KNOWING, [0.1] * 9, p=0.4),), "opposite", "0 of 9"),
    (
        told.every_setting,
        (
            pd.concat(
                [pairs(joint.KNOWING[:1], [0.9]), pairs(joint.KNOWING[1:2], [0.2], p=0.4)],
                ignore_index=True,
            ),
        ),
        "undecided",
        "1 of 2 measures",
    ),
    (told.every_setting, (none(),), "undefined", "fewer than six"),
    (
        told.benchmarks,
        (pairs(joint.ACCURACIES, [0.9] * 6),),
        "holds",
        "All 6 multiplicity benchmarks",
    ),
    (told.benchmarks, (pairs(joint.ACCURACIES, [0.9] * 6, p=0.1),), "opposite", "clear on 0."),
    (
        told.benchmarks,
        (pairs(joint.ACCURACIES, [0.9, -0.9]),),
        "undecided",
        "Only 1 of 2 multiplicity benchmarks clearly orders models as IC-LKE does: ρ with IC-LKE "
        "accuracy, over 15 models, is above 0 on 1 of 2, median 0.00; after Holm's correction it "
        "is clear on 1 (TruthfulQA)",
    ),
    (told.benchmarks, (none(),), "undefined", "fewer than six"),
    (told.not_only_size, at_one_size(0.9, 0.9, 0.4), "holds", "is 0.45 [0.15, 0.75]"),
    (told.not_only_size, at_one_size(0.9, 0.9, 0.4), "holds", "lies above 0 for 1 of 2."),
    (told.not_only_size, at_one_size(-0.9, 0.9), "opposite", "opposite ways"),
    (told.not_only_size, at_one_size(0.4, 0.9), "undecided", "0.20 [-0.10, 0.50]"),
    (told.not_only_size, (none(), none()), "undefined", "Too few models"),
    (told.ambiguity, (pairs(joint.AMBIGUITIES, [-0.9] * 6),), "holds", "6 are clearly below"),
    (told.ambiguity, (pairs(joint.AMBIGUITIES, [0.9] * 6),), "opposite", "and 6 above"),
    (
        told.ambiguity,
        (pairs(joint.AMBIGUITIES, [0.4, -0.5], p=0.1),),
        "undecided",
        "(TruthfulQA) over 15 models on 2 benchmarks; after Holm's correction none is clearly",
    ),
    (told.ambiguity, (none(),), "undefined", "fewer than six"),
    (
        told.monitor_agrees,
        (pairs(joint.MONITOR[:1], [-1.0]), 4, "same family"),
        "holds",
        'Only 4 of them are at least "probably"',
    ),
    (
        told.monitor_agrees,
        (pairs(joint.MONITOR, [0.9]), 15, "probably"),
        "opposite",
        "All of these",
    ),
    (told.monitor_agrees, (pairs(joint.MONITOR, [-0.9], 0.1), 4, ""), "undecided", "not decided"),
    (told.monitor_agrees, (none(), 4, "probably"), "undefined", 'at "probably"'),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [0.9, 0.8], x=joint.KNOWING[0]),),
        "holds",
        "order models alike",
    ),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [-0.9, -0.8], x=joint.KNOWING[0]),),
        "opposite",
        "ρ runs from -0.90 to -0.80 on 2 benchmarks",
    ),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [0.9, -0.8], p=0.2, x=joint.KNOWING[0]),),
        "undecided",
        "is not decided",
    ),
    (told.third_pair, (none(),), "undefined", "fewer than six"),
    (told.doubtful, (doubted(0.1, 0.01, 0.04),), "holds", "without Gemma 2B, by 0.10"),
    (told.doubtful, (doubted(0.1, 0.01, 0.06),), "opposite", "p across 0.05 for a × b"),
    (told.doubtful, (doubted(0.1, 0.2, 0.3, 0.04),), "opposite", "p across 0.05 for a × b"),
    (told.doubtful, (doubted(0.1, 0.01, 0.04, sure=0.2),), "undecided", "all together do"),
    (told.doubtful, (doubted(nan, 0.01, nan, nan),), "undefined", "No pair rests"),
    (told.many_pairs, (pd.DataFrame({"p": [0.01] * 30 + [0.5] * 70}),), "holds", "30 have"),
    (told.many_pairs, (pd.DataFrame({"p": [0.5] * 200}),), "opposite", "Fewer pairs"),
    (told.many_pairs, (pd.DataFrame({"p": [0.01] * 5 + [0.5] * 95}),), "undecided", "about 5"),
    (told.many_pairs, (pd.DataFrame({"p": [nan]}),), "undefined", "No two measures"),
    (told.size_orders, (sized([-0.9, 0.9], 0.01),), "holds", "families instead, it is 2 of 2."),
    (told.size_orders, (sized([0.9, -0.9], 0.01),), "opposite", "0 of 2 measures"),
    (told.size_orders, (sized([0.9, 0.9], 0.01),), "undecided", "correction: NCCR, zero-shot. "),
    (told.size_orders, (sized([nan, nan], nan),), "undefined", "undefined for this run"),
    (told.apart, (far(0.9), joint.LKE, joint.KNOWING[0], "same"), "holds", "none of 2 models"),
    (
        told.apart,
        (far(1.1, "tuned"), joint.LKE, joint.KNOWING[0], "same"),
        "opposite",
        "apart (rank in each): one (1 and 2; tuned).",
    ),
    (
        told.apart,
        (far(1.1, "match in IC-LKE: probably"), joint.LKE, joint.KNOWING[0], "same"),
        "undecided",
        "all with doubtful matches",
    ),
    (told.apart, (far(1).head(0), joint.LKE, joint.KNOWING[0], "same"), "undefined", "undefined"),
]


@pytest.mark.parametrize(("finding", "tables", "decision", "words"), ALIKE)
def test_every_wording(finding, tables, decision, words):
    found = finding(*tables)
    assert (found.decision, words in found.sentence) == (decision, True), found.sentence
    assert "{" not in found.sentence
    assert "nan" not in found.sentence
    assert found.sentence.endswith(".")


def test_a_sentence_names_a_few_models_of_many():
    many = pd.concat([far(2.0, "tuned")] * 5)
    said = told.apart(many, joint.LKE, joint.KNOWING[0], "same").sentence
    assert said.count("tuned") == told.MOST
    assert said.endswith("and 1 more.")


def test_a_correlation_is_clear_by_its_corrected_p_alone():
    rows = pairs(joint.ACCURACIES, [0.9] * 6)
    rows.loc[0, "p_holm"] = 0.05
    assert told.benchmarks(rows).sentence.count("clear on 5") == 1
    assert np.isnan(told.benchmarks(rows).low)
