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
    return pairs([joint.NCCR], [nan], p=nan, x=x)


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


def at_one_size(*rhos):
    return pairs(joint.KNOWING[: len(rhos)], rhos)


def related(k):
    return pd.DataFrame({"p": [0.01] * k + [0.5] * (100 - k)})


SHUFFLED = np.repeat(np.arange(11), 20)  # pairs of 100 that are related by chance

ALIKE = [
    (
        told.order_alike,
        (pairs(joint.KNOWING, [0.9] * 8 + [0.7]),),
        "holds",
        "order 15 models clearly alike on all 9 measures of knowing: ρ is 0.70 to 0.90, median "
        "0.90; over base models alone, 0.70 to 0.90.",
    ),
    (told.order_alike, (pairs(joint.KNOWING, [-0.9] + [0.1] * 8),), "opposite", "opposite ways"),
    (
        told.order_alike,
        (pairs(joint.KNOWING, [0.9] * 8 + [0.1]).assign(base=0.85),),
        "undecided",
        "clearly alike on 8 of 9 measures: ρ is 0.10 to 0.90, median 0.90; tuning breaks it: over "
        "base models alone, 0.85 to 0.85.",
    ),
    (told.order_alike, (pairs(joint.KNOWING, [0.1] * 9),), "undecided", "on 0 of 9 measures"),
    (told.order_alike, (none(),), "undefined", "fewer than six"),
    (
        told.benchmarks,
        (pairs(joint.ACCURACIES, [0.9] * 6),),
        "holds",
        "All 6 multiplicity benchmarks",
    ),
    (told.benchmarks, (pairs(joint.ACCURACIES, [-0.9] * 6),), "opposite", "against IC-LKE"),
    (told.benchmarks, (pairs(joint.ACCURACIES, [0.9] * 6, p=0.1),), "undecided", "clear on 0."),
    (
        told.benchmarks,
        (pairs(joint.ACCURACIES, [0.9, -0.9]),),
        "undecided",
        "over 15 models, ρ is -0.90 to 0.90, median 0.00, clear on 1 (TruthfulQA).",
    ),
    (told.benchmarks, (none(),), "undefined", "fewer than six"),
    (told.not_only_size, (at_one_size(0.9, 0.8),), "holds", "is 0.40 to 0.45, median 0.4"),
    (told.not_only_size, (at_one_size(-0.9, 0.4),), "opposite", "opposite ways"),
    (told.not_only_size, (at_one_size(0.4, 0.9),), "undecided", "above 0 for 1 of 2 measures"),
    (told.not_only_size, (none(),), "undefined", "Too few models"),
    (told.ambiguity, (pairs(joint.AMBIGUITIES, [-0.9] * 6),), "holds", "clear are 6 below 0"),
    (told.ambiguity, (pairs(joint.AMBIGUITIES, [0.9] * 6),), "opposite", "and 6 above"),
    (
        told.ambiguity,
        (pairs(joint.AMBIGUITIES, [0.4, -0.5], p=0.1),),
        "undecided",
        "(TruthfulQA) over 15 models; clear are 0 below 0 and 0 above.",
    ),
    (told.ambiguity, (none(),), "undefined", "fewer than six"),
    (
        told.monitor_agrees,
        (pairs(joint.MONITOR[:1], [-1.0]), 4, "same family"),
        "undecided",
        "15 models of 4 families, 4 of them probably the same weights",
    ),
    (told.monitor_agrees, (pairs(joint.MONITOR, [-0.9]), 15, "probably"), "holds", "15 of them"),
    (told.monitor_agrees, (pairs(joint.MONITOR, [0.9]), 15, "probably"), "opposite", "worse"),
    (told.monitor_agrees, (pairs(joint.MONITOR, [-0.9], 0.1), 15, ""), "undecided", "not decided"),
    (told.monitor_agrees, (none(), 4, "probably"), "undefined", 'at "probably"'),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [0.9, 0.8], x=joint.NCCR),),
        "holds",
        "order models alike",
    ),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [-0.9, -0.8], x=joint.NCCR),),
        "opposite",
        "ρ is -0.90 to -0.80, median -0.85 on 2 benchmarks",
    ),
    (
        told.third_pair,
        (pairs(joint.ACCURACIES, [0.9, -0.8], p=0.2, x=joint.NCCR),),
        "undecided",
        "is not decided",
    ),
    (told.third_pair, (none(),), "undefined", "fewer than six"),
    (told.doubtful, (doubted(0.1, 0.01, 0.04),), "holds", "without Gemma 2B, by 0.10"),
    (told.doubtful, (doubted(0.1, 0.01, 0.06),), "opposite", "p across 0.05 for a × b"),
    (told.doubtful, (doubted(0.1, 0.2, 0.3, 0.04),), "opposite", "p across 0.05 for a × b"),
    (told.doubtful, (doubted(0.1, 0.01, 0.04, sure=0.2),), "undecided", "all together do"),
    (told.doubtful, (doubted(nan, 0.01, nan, nan),), "undefined", "No pair rests"),
    (
        told.many_pairs,
        (related(12), SHUFFLED),
        "holds",
        "5 do, 95 % of the time 0 to 10.",
    ),
    (told.many_pairs, (related(0), SHUFFLED + 1), "opposite", "Fewer pairs"),
    (told.many_pairs, (related(9), SHUFFLED), "undecided", "of 100 pairs of measures, 9 have"),
    (told.many_pairs, (pd.DataFrame({"p": [nan]}), SHUFFLED), "undefined", "No two measures"),
    (told.size_orders, (sized([-0.9, 0.9], 0.01),), "holds", "2 of 2 measures"),
    (told.size_orders, (sized([0.9, -0.9], 0.01),), "opposite", "0 of 2 measures"),
    (told.size_orders, (sized([0.9, 0.9], 0.01),), "undecided", "clearly: NCCR, zero-shot."),
    (told.size_orders, (sized([-0.9, 0.9], 0.06),), "undecided", "We cannot tell"),
    (told.size_orders, (sized([-0.1, 0.1], 0.01),), "undecided", "We cannot tell"),
    (told.size_orders, (sized([nan, nan], nan),), "undefined", "undefined for this run"),
    (told.apart, (far(0.9), joint.LKE, joint.NCCR, "same"), "holds", "none of 2 models"),
    (
        told.apart,
        (far(1.1, "tuned"), joint.LKE, joint.NCCR, "same"),
        "opposite",
        "apart (rank in each): one (1 and 2; tuned).",
    ),
    (
        told.apart,
        (far(1.1, "match in IC-LKE: probably"), joint.LKE, joint.NCCR, "same"),
        "undecided",
        "all with doubtful matches",
    ),
    (told.apart, (far(1).head(0), joint.LKE, joint.NCCR, "same"), "undefined", "undefined"),
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
    said = told.apart(many, joint.LKE, joint.NCCR, "same").sentence
    assert said.count("tuned") == told.MOST
    assert said.endswith("and 1 more.")


def test_a_correlation_is_clear_by_its_corrected_p_and_its_interval():
    """Families may leave open what single models seem to decide, and the other way round."""
    rows = pairs(joint.ACCURACIES, [0.9] * 6)
    rows.loc[0, "p_holm"] = 0.05
    rows.loc[1, "low"] = 0.004  # written 0.00
    rows.loc[2, "low"] = nan  # below three families
    assert told.benchmarks(rows).sentence.endswith("clear on 3 (CommonsenseQA, FEVER, True-False).")
    assert told.benchmarks(rows).decision == "undecided"
