"""What the audit of the papers found: every finding in all its wordings, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from helpers.published import checks, claims, correlations
from helpers.published import findings as told

nan = float("nan")
MEANS = ("Table 8: mean over all 49 models", "Table 8: mean over the 35 base models")


def audited(*verdicts):
    """Return sentences of one paper; what is contradicted is so in substance first."""
    rows = [("MONITOR", f"{number}", verdict) for number, verdict in enumerate(verdicts)]
    table = pd.DataFrame(rows, columns=["paper", "section", "verdict"])
    wrong = table.index[table["verdict"] == "contradicted"]
    return table.assign(severity="").assign(
        severity=pd.Series(dict(zip(wrong, claims.reading.SEVERITIES)), dtype=str)
    )


def cells(*rows):
    """Return checked cells of one paper from their differences; the tolerance is 1."""
    table = pd.DataFrame({"difference": rows, "tolerance": 1.0}, dtype=float)
    return table.assign(paper="MONITOR", check="sum", agrees=table["difference"].abs() <= 1)


def check(name, right, n=2):
    rows = pd.DataFrame(
        {"row": range(n), "published": 0.617, "recomputed": 0.627, "agrees": [right] * n}
    )
    return checks.Check(name, "", ("monitor_table4",), rows)


def divisors(mean, other):
    return [check("Table 4: mean of relations", mean), check("Table 4: sum over 21", other)]


def two_means(whole, base):
    return [check(name, right) for name, right in zip(MEANS, (whole, base))]


def trial(**explains):
    return pd.DataFrame({"model": list(explains), "explains": list(explains.values())})


def rates(printed):
    return pd.DataFrame({"printed": printed, "first": [0.4, 0.4], "second": [0.8, 0.8]})


def both(*pairs):
    return pd.DataFrame(pairs, columns=["Table 7", "Table 10"], index=[f"m{p}" for p in pairs])


def measured(pair, low, high, rank_low=nan, rank_high=nan, **more):
    row = {"pair": pair, "n": 12, "estimate": (low + high) / 2, "low": low, "high": high}
    row |= {"spearman": (rank_low + rank_high) / 2, "rank_low": rank_low, "rank_high": rank_high}
    return pd.DataFrame([row | {"least": low, "most": high} | more])


def relations(*ends):
    return pd.DataFrame(ends, columns=["low", "high"])


def planted(noticed, n):
    return pd.DataFrame({"noticed": [noticed], "planted": [n]})


ACCURACY, LIMITS = "MONITOR, accuracy", "NCR, UR (four-two)"
SPREAD = "deviation, ambiguity (Wiki)"
CASES = [  # a finding, what it is told, its decision, and words of its sentence
    (told.sentences_hold, [audited("supported", "supported", "partly")], "holds", "of 3 that"),
    (told.sentences_hold, [audited("contradicted", "partly")], "opposite", "1 partly and 1"),
    (told.sentences_hold, [audited("supported", "partly")], "undecided", "Half of"),
    (told.sentences_hold, [audited("not decided"), "MONITOR"], "undefined", "on MONITOR can"),
    (told.none_contradicted, [audited("supported")], "holds", "No sentence is"),
    (told.none_contradicted, [audited("supported", "contradicted")], "opposite", "(MONITOR 1)"),
    (
        *(told.none_contradicted, [audited("contradicted", "contradicted", "contradicted")]),
        *("opposite", "1 in substance (MONITOR 0), 1 by exceptions and 1 in a description. We"),
    ),
    (told.none_contradicted, [audited("supported", "partly")], "undecided", "in part only"),
    (told.none_contradicted, [audited()], "undefined", "undefined"),
    (told.numbers_agree, [cells(0, 1)], "holds", "all 2 comparisons"),
    (told.numbers_agree, [cells(0, 9)], "opposite", "The rest, by paper: MONITOR (1)"),
    (told.numbers_agree, [cells(0, 9), "MONITOR"], "opposite", "by check: sum (1)"),
    (told.numbers_agree, [cells(0, 1.5)], "undecided", "less than twice"),
    (told.numbers_agree, [cells(), "MONITOR"], "undefined", "on MONITOR was checked"),
    (told.divisor, [divisors(False, True)], "holds", "over 21, not over 20, for all 2"),
    (told.divisor, [divisors(True, False)], "opposite", "is the mean"),
    (told.divisor, [divisors(False, False)], "undecided", "for 0 of 2 models"),
    (told.divisor, [[]], "undefined", "undefined"),
    (told.one_cell, [trial(a=True, b=False), "a"], "holds", "of no other model"),
    (told.one_cell, [trial(a=False, b=True), "a"], "opposite", "for 1 of 2 models (b)"),
    (told.one_cell, [trial(a=True, b=True), "a"], "undecided", "so does another of b"),
    (told.one_cell, [trial(), "a"], "undefined", "undefined"),
    (told.base_models, [two_means(False, True)], "holds", "not over all 49"),
    (told.base_models, [two_means(True, False)], "opposite", "over all 49 models: its"),
    (told.base_models, [two_means(True, True)], "undecided", "do not decide"),
    (told.base_models, [[]], "undefined", "undefined"),
    (told.subsumption, [rates([0.5, 0.6])], "holds", "defines them, 2 of 2"),
    (told.subsumption, [rates([0.9, 0.3])], "undecided", "do not decide"),
    (told.subsumption, [rates([0.9, 0.9])], "undecided", "0 of 2"),
    (
        *(told.subsumption, [rates([0.5, 0.5]).assign(first=0.8, second=0.4)]),
        *("opposite", "0 of 2 subsumption rates lie below what two unrelated models would"),
    ),
    (told.subsumption, [rates([0.5, 0.5])[:0]], "undefined", "undefined"),
    (told.twins, [both((0.1, 0.2), (-0.1, -0.1))], "holds", "all 2 bases"),
    (told.twins, [both((0.1, -0.1), (0.1, 0.1))], "opposite", "for 1 of 2 bases"),
    (told.twins, [both((0.01, -0.01))], "undecided", "no more than the tables"),
    (told.twins, [both()], "undefined", "undefined"),
    (told.sizes, [{"a": [1221, 2442]}, 4000], "holds", "all 1 benchmarks fit"),
    (told.sizes, [{"a": [], "b": [20, 21]}, 40], "opposite", "none of 2"),
    (told.sizes, [{"a": [20], "b": [20, 21]}, 40], "undecided", "alone (a 20)"),
    (told.sizes, [{}, 40], "undefined", "undefined"),
    (told.monitor_and_accuracy, [measured(ACCURACY, 0.1, 0.5)], "holds", "rises with"),
    (told.monitor_and_accuracy, [measured(ACCURACY, -0.9, -0.5)], "opposite", "r = -0.70 ["),
    (told.monitor_and_accuracy, [measured(ACCURACY, -0.5, 0.5)], "undecided", "12 models do not"),
    (told.monitor_and_accuracy, [measured(ACCURACY, nan, nan)], "undefined", "undefined"),
    (told.knowing_and_limits, [measured(LIMITS, 0.1, 0.5, 0.2, 0.4)], "holds", "a higher UR"),
    (told.knowing_and_limits, [measured(LIMITS, -0.5, -0.1, -0.4, -0.2)], "opposite", "a lower"),
    (
        told.knowing_and_limits,
        [measured(LIMITS, 0.1, 0.5, -0.1, 0.5)],
        "undecided",
        "do not both decide",
    ),
    (told.deviation_and_ambiguity, [measured(SPREAD, 0.1, 0.5, 0.1, 0.5)], "holds", "on all 1"),
    (told.deviation_and_ambiguity, [measured(SPREAD, -0.5, 0, -0.5, 0)], "opposite", "none of 1"),
    (told.deviation_and_ambiguity, [measured(SPREAD, 0.1, 0.5, -0.1, 0.5)], "undecided", "on Wiki"),
    (told.deviation_and_ambiguity, [measured(SPREAD, 0.1, 0.5, 0.002, 0.8)], "undecided", "none."),
    (told.deviation_and_ambiguity, [measured("other", 0, 1)], "undefined", "undefined"),
    (told.relations, [relations((-0.9, -0.1))], "holds", "all 1 relations"),
    (told.relations, [relations((-0.9, -0.1), (0.1, 0.2))], "opposite", "lies above 0"),
    (told.relations, [relations((-0.9, -0.1), (-0.1, 0.2))], "undecided", "on 1 of 2"),
    (told.relations, [relations()], "undefined", "undefined"),
    (told.noticed, [planted(90, 100)], "holds", "notice most of 100"),
    (told.noticed, [planted(10, 100)], "opposite", "miss most of 100"),
    (told.noticed, [planted(5, 10)], "undecided", "10 planted digits do not decide"),
    (told.noticed, [planted(0, 0)], "undefined", "No wrong digit"),
]


@pytest.mark.parametrize(("finding", "given", "decision", "words"), CASES)
def test_each_finding_in_all_its_wordings(finding, given, decision, words):
    found = finding(*given)
    assert found.decision == decision
    assert words in found.sentence
    assert "{" not in found.sentence
    assert not {"nan", "nan%"} & set(found.sentence.split())


def test_every_finding_is_tried():
    public = {one for name, one in vars(told).items() if callable(one) and not name.startswith("_")}
    assert {one for one in public if one.__module__ == told.__name__} == {case[0] for case in CASES}


def test_many_checks_that_differ_are_not_all_named():
    parts = [cells(9).assign(check=f"check {number}") for number in range(7)]
    found = told.numbers_agree(pd.concat(parts), "MONITOR")
    assert "and 3 more checks" in found.sentence


def test_the_papers_as_they_are():
    every = checks.every()
    named = {
        "sentences": told.sentences_hold(claims.audit()),
        "divisor": told.divisor(every),
        "means": told.base_models(every),
        "accuracy": told.monitor_and_accuracy(correlations.table(n_resamples=20)),
    }
    decisions = [found.decision for found in named.values()]
    assert decisions == ["holds", "holds", "holds", "opposite"]
    assert np.isclose(named["accuracy"].estimate, -0.847, atol=1e-3)
