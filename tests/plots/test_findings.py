"""The mechanism of findings: deciding, wording, showing, saving."""

import json

import pytest
from hypothesis import given, strategies

from helpers import UserError, stats
from notebooks.kit import findings

WORDS = {
    "holds": "More, by {size}.",
    "opposite": "Less, by {size}.",
    "undecided": "{n} facts: {value}.",
}
nan = float("nan")


POINTS = "20.0 [{}] points."


@pytest.mark.parametrize(
    ("result", "decision", "sentence"),
    [
        ((0.2, 0.1, 0.3, 90), "holds", f"More, by {POINTS.format('10.0, 30.0')}"),
        ((-0.2, -0.3, -0.1, 90), "opposite", f"Less, by {POINTS.format('10.0, 30.0')}"),
        (
            (0.2, -0.1, 0.5, 1090),
            "undecided",
            f"1,090 facts: {POINTS.format('-10.0, 50.0')}",
        ),
        (
            (0.2, 0.0004, 0.3, 90),
            "undecided",
            f"90 facts: {POINTS.format('0.0, 30.0')}",
        ),
        ((0.2, 0.0006, 0.3, 90), "holds", f"More, by {POINTS.format('0.1, 30.0')}"),
        ((0.2, nan, nan, 1), "undecided", "1 facts: 20.0 points."),
        ((1.0, 1.0, 1.0, 2000), "undecided", "2,000 facts: 100.0 points."),
        ((nan, nan, nan, 0), "undefined", "Is more: undefined for this run."),
    ],
)
def test_what_is_written_decides(result, decision, sentence):
    finding = findings.finding_of_claim("is_more", result, **WORDS)
    assert (finding.decision, finding.sentence) == (decision, sentence)


def test_a_difference_gives_its_number_of_pairs():
    difference = stats.paired_difference([1, 1, 1, 0] * 9, [0, 0, 1, 0] * 9, seed=0)
    assert findings.finding_of_claim("is_more", difference, **WORDS).n == 36


def test_an_interval_that_cannot_vary_decides_nothing_that_is_compared():
    kept = findings.Findings()
    kept.compare("all alike", (1.0, 1.0, 1.0, 2000))
    assert kept.compared()["decision"].tolist() == [findings.UNDECIDED]


def test_another_null_moves_the_size():
    finding = findings.finding_of_claim(
        "is_more", (0.3, 0.2, 0.4, 9), null=0.5, digits=2, scale=1, unit="", **WORDS
    )
    assert finding.sentence == "Less, by 0.20 [0.10, 0.30]."


@given(strategies.lists(strategies.floats(-1, 1), min_size=3, max_size=3).map(sorted))
def test_turning_the_estimate_round_turns_the_decision_round(ends):
    low, estimate, high = ends
    one = findings.finding_of_claim(
        "is_more", (estimate, low, high, 9), **WORDS
    ).decision
    other = findings.finding_of_claim(
        "is_more", (-estimate, -high, -low, 9), **WORDS
    ).decision
    turned = {"holds": "opposite", "opposite": "holds"}
    assert other == turned.get(one, one)


def test_what_a_model_is_called_is_escaped():
    words = WORDS | {"holds": "{who}: more."}
    finding = findings.finding_of_claim(
        "is_more", (0.2, 0.1, 0.3, 9), who="<script>{n}", **words
    )
    assert "&lt;script&gt;{n}: more." in finding._repr_html_()
    assert "<script>" not in finding._repr_html_()


def test_a_run_keeps_them(tmp_path):
    found = findings.Findings()
    first = found(findings.finding_of_claim("is_more", (0.2, 0.1, 0.3, 9), **WORDS))
    undefined = found(findings.finding_of_claim("is_less", (nan, nan, nan, 0), **WORDS))
    assert found(first) is first
    shown = found.summary(tmp_path).data
    assert shown.index(first.sentence) < shown.index(undefined.sentence)
    saved = json.loads((tmp_path / findings.FINDINGS_FILE).read_text())
    assert [row["claim"] for row in saved] == ["is_more", "is_less"]
    assert saved[1]["estimate"] is None
    assert findings.load_findings(tmp_path)[0] == first
    assert findings.load_findings(tmp_path / "none") == []


def test_the_summary_shows_all_findings_behind_a_fold(tmp_path):
    found = findings.Findings()
    first = found(
        findings.finding_of_claim("is_more", (0.2, 0.1, 0.3, 9), **WORDS), main=True
    )
    second = found(findings.finding_of_claim("is_less", (-0.2, -0.3, -0.1, 9), **WORDS))
    view, fold = found.summary(tmp_path).data.split("<summary>All 2 findings</summary>")
    assert [first.sentence in view, second.sentence in view] == [False, False]
    assert [first.sentence in fold, second.sentence in fold] == [True, True]


@pytest.mark.parametrize(("low", "noted"), [(0.1, False), (-0.1, True)])
def test_a_dotted_bar_is_explained_where_there_is_one(
    tmp_path, monkeypatch, low, noted
):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda html, **_: shown.append(html.data)
    )
    found = findings.Findings()
    found(findings.finding_of_claim("is_more", (0.2, low, 0.3, 90), **WORDS), main=True)
    found(findings.finding_of_claim("is_less", (0.2, -0.3, 0.3, 90), **WORDS))
    found.summary(tmp_path)
    assert ["Dotted bar: we cannot tell." in html for html in shown] == [noted]


def test_one_name_is_one_finding():
    found = findings.Findings()
    found(findings.finding_of_claim("is_more", (0.2, 0.1, 0.3, 9), **WORDS))
    with pytest.raises(UserError, match='Two findings are called "is_more"'):
        found(findings.finding_of_claim("is_more", (0.1, 0.0, 0.3, 9), **WORDS))
