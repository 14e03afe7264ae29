"""Hidden tests catch wrong solutions: some that the visible test lets through, and all mutants."""

import re
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from book.tools import render
from book.tools.course import checks, exercises
from book.tools.jobs import TEMPLATES
from notebooks.analysis import hidden_tests
from tests.tools.course.memorised import memorised
from tests.tools.course.mutants import mutants

# Mutants that no test can tell from the solution, or that do what the exercise leaves open.
SAME = {
    "ex-real-exact": {
        "6: a -> b": "of the same length",
        "9: b -> a": "both are rankings of the same models",
        "9: a -> b": "both are rankings of the same models",
    },
    "ex-atlas-n": {
        "9: (found.high - found.low) / 2 <= reach -> (found.high - found.low) / 2 < reach": (
            "no interval is just as wide"
        ),
    },
    "ex-monitor-ratio": {"4: rows -> facts": "pandas leaves out what only one column has"},
    "ex-kb-k": {"8: share -> chosen": "of the same length"},
    "ex-kb-even": {"4: more_right / more_wrong -> more_right * more_wrong": "of the same sign"},
    "ex-latent-floor": {
        "9: random.random((2, n)) < [[first], [second]] -> "
        "random.random((2, n)) <= [[first], [second]]": "no number drawn is just as large"
    },
    "ex-latent-end": {"3: begins -> ends": "with the same choices"},
    "ex-multiplicity-lazy": {
        "6: places -> chosen": "of the same length",
        "6: places -> lines": "of the same length",
        "6: places -> options": "of the same length",
        "6: places -> prompts": "of the same length",
        "6: 0 -> 1": "each prompt has the same number of options",
        "6: 0 -> -1": "each prompt has the same number of options",
    },
    "ex-calibration-kappa": {
        "3: ((both + first) / n, (both + second) / n) -> "
        "((both + second) / n, (both + first) / n)": "kappa is symmetric"
    },
    "ex-published-grim": {
        "4: abs(100 * nearest / n - percent) <= 0.005 + 1e-09 -> "
        "abs(100 * nearest / n - percent) < 0.005 + 1e-09": "exact halves are left open",
        "4: 0.005 + 1e-09 -> 0.005 - 1e-09": "exact halves are left open",
        "4: 0.005 + 1e-09 -> 0.005": "exact halves are left open",
    },
    "ex-comparison-paired": {
        "5: (np.asarray(a, dtype=float), np.asarray(b, dtype=float)) -> "
        "(np.asarray(b, dtype=float), np.asarray(a, dtype=float))": "the errors are symmetric",
        "5: np.asarray(a, dtype=float) -> np.asarray(a)": "the variance is the same",
        "5: np.asarray(b, dtype=float) -> np.asarray(b)": "the variance is the same",
        "6: a -> b": "of the same length",
        "6: b -> a": "of the same length",
        "7: a -> b": "of the same length",
    },
    "ex-comparison-holm": {
        "5: np.asarray(p, dtype=float) -> np.asarray(p)": "p-values are no whole numbers",
        "7: p -> order": "of the same length",
        "8: p -> factors": "of the same length",
        "8: p -> order": "of the same length",
    },
    "ex-comparison-facts": {
        "6: round(4 * (apart - d ** 2) / d ** 2, 9) -> 4 * (apart - d ** 2) / d ** 2": (
            "guards against the last digit"
        ),
        "6: 9 -> 10": "guards against the last digit",
        "6: 9 -> 8": "guards against the last digit",
    },
}
WRONG = [
    ("ex-atlas-count", "line.endswith(stated)", "line in stated"),
    ("ex-atlas-count", "endswith(stated)", "startswith(stated)"),
    ("ex-atlas-n", "(found.high - found.low) / 2", "found.high - found.low"),
    ("ex-atlas-half", "sorted(curve)", "list(curve)"),
    (
        "ex-atlas-half",
        "2 ** (math.log2(low) + share * math.log2(high / low))",
        "low + share * high",
    ),
    ("ex-calibration-kappa", "(both + second) / n", "(both - second) / n"),
    (
        "ex-comparison-facts",
        "ceil(round(4 * (apart - d**2) / d**2, 9))",
        "round(4 * (apart / d**2 - 1))",
    ),
    ("ex-comparison-facts", "ceil(round(4 * (apart - d**2) / d**2, 9))", "ceil(4 * apart / d**2)"),
    ("ex-comparison-holm", "np.maximum.accumulate(p[order] * factors)", "p[order] * factors"),
    ("ex-comparison-holm", "adjusted[order] =", "adjusted[:] ="),
    ("ex-comparison-paired", "(a - b).std()", "(a - b).std(ddof=1)"),
    ("ex-comparison-paired", "b.var() / len(b)", "b.var()"),
    ("ex-kb-even", "more_right / more_wrong < 0", "more_right < 0"),
    ("ex-kb-hidden", "table.CR[b] + gain", "table.CR[b] - gain"),
    ("ex-kb-k", "ddof=1", "ddof=0"),
    ("ex-kb-k", "chosen[:, :k]", "chosen"),
    ("ex-latent-commonest", "o.mode()[0]", "o.iloc[0]"),
    ("ex-latent-commonest", "examples.groupby", "tests.groupby"),
    ("ex-latent-end", "value / sum(both.values())", "value"),
    ("ex-latent-floor", "known[0], known[1]", "known[1], known[0]"),
    ("ex-monitor-ratio", 'facts[facts["counted"]]', "facts"),
    ("ex-monitor-readings", "after.get(token, 0)", "after.get(token, 1)"),
    ("ex-monitor-reversals", '"avg"] >', '"avg"] >='),
    ("ex-multiplicity-bounds", "min(a, 1 - b) + min(1 - a, b)", "a + b"),
    ("ex-multiplicity-lazy", "range(len(options[0]))", "sorted(set(places))"),
    ("ex-multiplicity-rarefy", "combinations(choices, r)", "combinations(set(choices), r)"),
    ("ex-published-bounds", "max(0.0, a + b - 1)", "a + b - 1"),
    ("ex-published-fisher", "math.sqrt(n - 3)", "math.sqrt(n)"),
    ("ex-published-grim", "0.005", "0.05"),
    ("ex-real-exact", "abs(one - middle) >= away", "one - middle >= away"),
    ("ex-real-partial", "ab - ac * bc", "ab - ac * ac"),
    ("ex-real-smollm2", 'facts["none"] == 1', 'facts["none"] >= 0'),
]
RIGHT = re.findall(  # written in another way
    r"^## (\S+)\n\n```python\n(.*?)^```",
    Path(__file__).with_name("right.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


def in_code(chapter):
    found = exercises.read(TEMPLATES / f"{chapter}.ipynb")
    return [exercise for exercise in found if exercise.kind == "code"]


@pytest.fixture
def fails():
    """Return a function that tells whether code fails a test in so many seconds of a processor."""

    def stop(*words):
        raise TimeoutError

    def run(code, test, label, seconds):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            return checks.run(code, test, label) is not None
        except TimeoutError:
            return True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    before = signal.signal(signal.SIGVTALRM, stop)
    yield run
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize(("label", "old", "new"), WRONG)
def test_a_wrong_solution_fails(label, old, new):
    found = {exercise.label: exercise for name in render.chapters() for exercise in in_code(name)}
    exercise = found[label]
    assert old in exercise.solution
    wrong = exercise.solution.replace(old, new)
    failures = [checks.run(wrong, test, label) for test in (exercise.test, exercise.hidden())]
    failure = next(filter(None, failures))
    assert isinstance(failure, AssertionError)
    assert "expected:" in str(failure)


@pytest.mark.parametrize(("label", "code"), RIGHT)
def test_another_right_solution_passes(label, code):
    found = {exercise.label: exercise for name in render.chapters() for exercise in in_code(name)}
    assert checks.run(code, found[label].test, label) is None
    assert checks.run(code, found[label].hidden(), label) is None


@pytest.mark.parametrize("chapter", render.chapters())
def test_the_visible_tests_own_values_do_not_pass(chapter):
    for exercise in in_code(chapter):
        code = memorised(exercise)
        assert checks.run(code, exercise.test, exercise.label) is None
        assert checks.run(code, exercise.hidden(), exercise.label) is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chapter", render.chapters())
def test_no_mutant_of_a_solution_passes(chapter, fails):
    for exercise in in_code(chapter):
        label, counts, left = exercise.label, [0, 0], set()
        began = time.process_time()
        for test in (exercise.test, exercise.hidden()):
            assert checks.run(exercise.solution, test, label) is None
        enough = 0.3 + 4 * (time.process_time() - began)  # what takes longer goes on for ever
        for what, code in mutants(exercise.solution):
            if fails(code, exercise.test, label, enough):
                counts[0] += 1
            elif fails(code, exercise.hidden(), label, enough):
                counts[1] += 1
            else:
                left.add(what)
        print(f"{label}: {counts[0]} caught by the visible test, {counts[1]} by the hidden one")
        assert sum(counts) > len(left)
        assert left == set(SAME.get(label, ())), label


def test_a_mutant_has_one_change():
    source = 'def f(a, b):\n    """Add."""\n    if a > 0:\n        return a + b\n    return -1\n'
    found = dict(mutants(source))
    assert {
        "3: a > 0 -> a >= 0",
        "4: a + b -> a - b",
        "4: a + b -> a",
        "5: 1 -> 2",
        "5: -1 -> 1",
    } <= set(found)
    assert "if not a > 0:\n        return a + b" in "\n".join(found.values())
    assert all('"""Add."""' in code and code != source for code in found.values())


@pytest.mark.parametrize(
    ("found", "right", "same"),
    [
        (1.95e-5, 0.0, True),
        (10_001, 10_000, False),  # whole numbers are counts
        (None, 0.5, False),
        (0.5, None, False),
        (pd.Series({"a": 0.5}), {"a": 0.5}, True),
        (pd.Series({"a": 0.5}), {"a": 0.5, "b": 1.0}, False),
        (np.array([0.1, 0.2]), [0.1, 0.2], True),
        ([0.2, 0.1], [0.1, 0.2], False),
        ([("b", "a")], [("a", "b")], False),
        (([0.1], [0.2]), [[0.1], [0.2]], True),
        (np.True_, True, True),
    ],
)
def test_results_agree(found, right, same):
    assert hidden_tests.agree(found, right) is same


def test_inputs_are_a_functions_own():
    """One that changes its argument does not spoil the solution's."""
    with pytest.raises(AssertionError, match=r"pop\(\[1, 2\]\) returns 2; expected: 1"):
        hidden_tests.compare([_pop], [lambda values: values[0]], lambda random: [[1, 2]])


def _pop(values):
    return values.pop()


def test_a_chapter_without_inputs_is_refused(chapter):
    path = chapter()
    (path.parent / "hidden" / "made_up.py").unlink()
    with pytest.raises(exercises.UserError, match=r"ex_code_1\(random\) in .*made_up.py"):
        exercises.read(path)
    (path.parent / "hidden" / "made_up.py").write_text("def ex_code_1(random) return 1")
    with pytest.raises(exercises.UserError, match=r"made_up\.py is not Python"):
        exercises.read(path)
