"""Reliability as a knowledge base: identities, bounds, empty cases, and the published tables."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from helpers import UserError, stats
from helpers.metrics import knowledge_base as kb
from notebooks.kit import published

SETTINGS = ("zero-shot", "four-shot", "four-two")
# Cells of Table 11 that do not follow from Tables 9 and 10 by rounding, as printed:
# CWR, and the NCCR that is made from it. One is off by 7.24, the other by 0.04.
OFF = {
    ("four-shot", "Gemma-Instruct 7B", "CWR"): 4.46,
    ("four-shot", "Gemma-Instruct 7B", "NCCR"): 7.55,
    ("zero-shot", "Llama 2 7B", "CWR"): 6.37,
    ("zero-shot", "Llama 2 7B", "NCCR"): 9.39,
}

row = st.tuples(
    st.booleans(), st.sampled_from(kb.RESPONSE_LABELS), st.integers(0, 20) | st.none()
).filter(lambda r: r[0] or r[1] != "correct")


def table(rows):
    found = pd.DataFrame(rows, columns=["seen", "label", "consistency"])
    return found.assign(consistency=found["consistency"].astype(float) / 20)


def by_hand(rows):
    """Count with exact fractions and plain loops."""
    seen = [r for r in rows if r[0]]
    unseen = [r for r in rows if not r[0]]

    def share(part, label):
        return Fraction(sum(r[1] == label for r in part), len(part)) if part else None

    def cons(part, label):
        picks = [r[2] for r in part if r[1] == label and r[2] is not None]
        return Fraction(sum(picks), 20 * len(picks)) if picks else None

    def times(rate, mean):
        if rate is None or (rate != 0 and mean is None):
            return None
        return 0 if rate == 0 else rate * mean

    def minus(a, b):
        return None if a is None or b is None else a - b

    cr, wr, ur = (
        share(seen, "correct"),
        share(seen, "wrong"),
        share(unseen, "uninformative"),
    )
    c, ws, wu = cons(seen, "correct"), cons(seen, "wrong"), cons(unseen, "wrong")
    both = [x for x in (ws, wu) if x is not None]
    ccr, cwr = times(cr, c), times(wr, ws)
    cons_w = sum(both) / Fraction(len(both)) if both else None
    iur = minus(1, times(minus(1, ur), wu))
    return (
        cr,
        wr,
        minus(cr, wr),
        ur,
        c,
        ws,
        wu,
        cons_w,
        ccr,
        cwr,
        minus(ccr, cwr),
        iur,
    )


@given(st.lists(row, max_size=25))
def test_measures_are_those_counted_by_hand(rows):
    expected = [np.nan if value is None else float(value) for value in by_hand(rows)]
    np.testing.assert_allclose(
        kb.measures_of_responses(table(rows)).to_numpy(), expected, atol=1e-12
    )
    found = kb.measures_of_indicators(kb.response_indicators(table(rows)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
def test_table_11_follows_from_tables_9_and_10(setting):
    factual, steady, printed = (
        published.load_published_table(f"kb_table{n}") for n in (9, 10, 11)
    )
    given_ = factual.filter(like=setting) / 100, steady.filter(like=setting) / 100
    columns = {
        name.split()[1]: column for part in given_ for name, column in part.items()
    }
    names = ("CR", "WR", "UR", "Cons_c", "Cons_w_seen", "Cons_w_unseen")
    found = (
        pd.DataFrame(
            kb.measures_from_rates(*(columns[name] for name in names)),
            index=printed.index,
        )
        * 100
    )
    target = pd.concat([factual, steady, printed], axis=1).filter(like=setting)
    off = {}
    for column in target:
        name = column.split()[1]
        gap = (found[name] - target[column]).abs()
        # Each printed figure is off by at most 0.005: a difference by 0.01, a product
        # by the same.
        for model in gap[gap > 0.0151].index:
            off[setting, model, name] = target.loc[model, column]
        assert (found[name].isna() == target[column].isna()).all()
    assert off == {key: value for key, value in OFF.items() if key[0] == setting}


def test_without_responses_nothing_is_defined():
    assert kb.measures_of_responses(table([(True, "wrong", 3)])[:0]).isna().all()
    assert (
        kb.measures_of_responses(pd.DataFrame(columns=["seen", "label"])).isna().all()
    )
    asked = pd.DataFrame({"item": [], "right": []})
    said = pd.DataFrame({"item": ["a"], "text": [" unsure"]})
    steady = kb.add_consistency(said, asked)
    assert steady[["consistency", "n_choices"]].isna().all(axis=None)
    assert set(steady.dtypes[["consistency", "n_choices"]].astype(str)) == {"float64"}


@pytest.mark.parametrize(
    ("responses", "sentence"),
    [
        (pd.DataFrame({"label": ["wrong"]}), "lacks the column seen"),
        (pd.DataFrame({"seen": [True], "label": ["maybe"]}), '"maybe" is none'),
        (pd.DataFrame({"seen": [False], "label": ["correct"]}), "no known answer"),
    ],
)
def test_bad_tables_are_refused(responses, sentence):
    with pytest.raises(UserError, match=sentence):
        kb.measures_of_responses(responses)


@pytest.mark.parametrize("name", kb.RATE_MARKS)
@pytest.mark.parametrize("seed", range(5))
def test_a_rate_is_the_mean_of_its_marks(name, seed):
    chance = np.random.default_rng(seed)
    seen = chance.random(30) < 0.5
    label = np.where(
        seen,
        chance.choice(kb.RESPONSE_LABELS, 30),
        chance.choice(kb.RESPONSE_LABELS[1:], 30),
    )
    values = kb.response_indicators(pd.DataFrame({"seen": seen, "label": label}))
    statistic = kb.measure_statistic(name)
    assert statistic.marks(values).mean() == pytest.approx(statistic(values))
    assert len(statistic.marks(values)) == (~seen if name == "UR" else seen).sum()


def test_rates_that_cannot_vary_have_intervals_with_a_width():
    """Of forty unseen questions, all or none; twenty seen ones beside them do not count."""
    seen = [True] * 20 + [False] * 40
    said = ["correct"] * 20, ["wrong"] * 40
    wrong = kb.response_indicators(
        pd.DataFrame({"seen": seen, "label": said[0] + said[1]})
    )
    silent = kb.response_indicators(
        pd.DataFrame({"seen": seen, "label": said[0] + ["uninformative"] * 40})
    )
    w = (z := norm.ppf(0.975) ** 2) / (40 + z)
    found = stats.bootstrap(silent, kb.measure_statistic("UR"), seen, n_resamples=20)
    assert found[:3] == pytest.approx((1, 1 - w, 1))
    gap = stats.paired_difference(
        silent, wrong, kb.measure_statistic("UR"), seen, n_resamples=20
    )
    assert gap[:3] == pytest.approx((1, 1 - np.sqrt(2) * w, 1))
    assert np.isnan(
        stats.bootstrap(silent, kb.measure_statistic("NCR"), seen, n_resamples=20).low
    )
