"""What is computed of others' answers, by hand and against least squares."""

import io

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st

from notebooks.analysis import public_answers as analysis
from notebooks.kit.public_answers import load_counts

DRAWS = {"n_resamples": 50, "seed": 0}


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3)),
        min_size=12,
        max_size=40,
    )
)
def test_means_within_groups_are_those_of_least_squares(drawn):
    # Each level and group once more, so that all are there and can be compared.
    for level in range(3):
        for group in range(4):
            drawn.append((level + group, level, group))
    table = pd.DataFrame(drawn, columns=["value", "level", "group"]).astype(float)
    means = analysis.means_by_level_within_groups(table.to_numpy())
    fit = smf.ols("value ~ C(level) + C(group)", table).fit()
    differences = means[1:] - means[0]
    expected = fit.params[["C(level)[T.1.0]", "C(level)[T.2.0]"]]
    np.testing.assert_allclose(differences, expected, atol=1e-8)
    sizes = table["level"].value_counts().sort_index()
    average = (means * sizes).sum() / sizes.sum()
    assert average == pytest.approx(table["value"].mean())


def test_means_of_several_samples_are_those_of_each():
    rng = np.random.default_rng(0)
    samples = np.stack(
        [
            rng.random((5, 30)),
            rng.integers(3, size=(5, 30)),
            rng.integers(4, size=(5, 30)),
        ],
        axis=-1,
    )
    samples[:, :3, 1] = [0, 1, 2]
    samples[:, 0, 2] = 3
    together = analysis.means_by_level_within_groups(samples)
    for sample, means in zip(samples, together, strict=True):
        np.testing.assert_allclose(
            analysis.means_by_level_within_groups(sample), means, atol=1e-10
        )


def test_a_level_that_only_easy_relations_have_gains_nothing():
    """Easy relations are at the second level more often; within relations all is alike."""
    facts = pd.DataFrame(
        {
            "relation": ["hard"] * 6 + ["easy"] * 6,
            "occurrences": [0] * 5 + [9] + [0] + [9] * 5,
            "kept": [0.0] * 6 + [1.0] * 6,
        }
    )
    curve = analysis.means_by_occurrences(facts, "kept", **DRAWS)
    assert curve["estimate"].tolist() == pytest.approx([0.5, 0.5])
    assert curve["pooled"].tolist() == pytest.approx([1 / 6, 5 / 6])
    assert curve["n"].tolist() == [6, 6]


def table(text: str) -> pd.DataFrame:
    """Read a table in columns of text."""
    return pd.read_csv(io.StringIO(text), sep=r"\s+")


# Of frequent subjects' facts half of the answers stay in one relation, of rare ones
# none; the last relation has no rare subject.
CONTRADICTIONS = table("""
model    relation  occurrences  asked  kept  neither  facts
Phi-1_5  capital             0      2     0        0     10
Phi-1_5  capital        100000      2     1        0     10
Phi-1_5  language          100      2     0        1     10
Phi-1_5  language       100000      2     0        0     10
Phi-1_5  religion       100000      2     2        0     10
""")


def test_ends_are_compared_where_a_relation_has_both():
    (row,) = analysis.difference_of_ends_by_model(CONTRADICTIONS, **DRAWS).itertuples()
    assert row.model == "Phi 1.5"
    assert row.pooled == pytest.approx(0.5)  # (0.5 + 0 + 1) / 3 less 0
    assert row.estimate == pytest.approx(0.25)  # the mean of 0.5 and 0
    assert (row.relations, row.n) == (2, 40)
    assert (row.least, row.without) == (pytest.approx(0), "capital")


def test_changes_are_paired_with_asking_again():
    counts = table("""
model  change  answers  reruns  reruns_changed  prompts  prompts_changed  questions
1b     typo    all           2               0        6                3         30
1b     typo    all           2               1        6                3         10
""")
    (row,) = analysis.changes_by_prompt(counts, **DRAWS).itertuples()
    assert (row.model, row.change) == ("Llama 3.2 1B", "a typo")
    assert row.changed.estimate == pytest.approx(0.5)
    assert row.added.estimate == pytest.approx(0.375)
    assert row.sampling == pytest.approx(0.25)


def test_changes_by_confidence_take_the_mean_over_prompts():
    rows = []
    for confidence, changes in (("own", (40, 0)), ("other models", (25, 15))):
        for prompt in ("base", "task"):
            for fifth, changed in zip((1, 5), changes, strict=True):
                more = 20 if prompt == "task" and changed else 0
                rows.append(("m", prompt, confidence, fifth, changed + more, 100))
    columns = ["model", "prompt", "confidence", "fifth", "changed", "questions"]
    by_model = analysis.changes_by_confidence(pd.DataFrame(rows, columns=columns))
    own = by_model[by_model["confidence"] == "own"]
    assert own["estimate"].tolist() == pytest.approx([0.5, 0])
    assert own["low"].iloc[0] == pytest.approx(0.404, abs=0.001)  # Wilson: 50 of 100
    falls = analysis.falls_by_confidence(by_model)
    assert falls.loc["m"].to_dict() == pytest.approx({"own": 0.5, "other models": 0.1})
    medians = analysis.median_changes_by_confidence(by_model)
    assert medians["low"].tolist() == medians["estimate"].tolist()  # one model


def test_recall_has_a_row_a_fact():
    counts = table("""
model  relation  occurrences  facts  right
m      P17                 0     10      1
m      P17                 4     20     10
m      P36                 0     30      3
m      P36                 4     10      5
""")
    curve = analysis.recall_by_occurrences(counts, "m", {"right": "right"}, **DRAWS)
    assert curve["n"].tolist() == [40, 30]
    assert curve["pooled"].tolist() == pytest.approx([0.1, 0.5])
    low, high = curve["estimate"]
    assert high - low == pytest.approx(0.4)  # in both relations


def answers_kept(model: str) -> list[float]:
    """Return the share of kept answers by level, of the tables that are kept."""
    counts = load_counts("contradictions").query("model == @model")
    kept = (counts["kept"] * counts["facts"]).groupby(counts["occurrences"]).sum()
    asked = (counts["asked"] * counts["facts"]).groupby(counts["occurrences"]).sum()
    return (kept / asked).round(3).tolist()


def test_kept_tables_give_what_the_publishers_files_give():
    """Worked out from the publishers' files without this code, rows being answers."""
    assert answers_kept("EleutherAI_pythia-1.4b") == [0.012, 0.015, 0.038, 0.133, 0.471]
    assert answers_kept("Meta-Llama-3-8B") == [0.004, 0.004, 0.018, 0.038, 0.055]
    recall = load_counts("recall").query("model == 'GPT-2, Wikipedia alone'")
    by_level = recall.groupby("occurrences")[["right", "facts"]].sum()
    shares = (by_level["right"] / by_level["facts"]).round(3).tolist()
    assert shares == [0.134, 0.165, 0.159, 0.2, 0.201, 0.234, 0.359, 0.549, 0.802]


def test_recall_is_compared_at_both_ends():
    counts = table("""
model  relation  occurrences  facts  right
m      P17                 0     10      1
m      P17                 4     10     10
m      P17                16     10      6
m      P36                 0     10      5
m      P36                16     10      8
m      P38                16      5      5
""")
    (row,) = analysis.recall_difference_by_model(counts, **DRAWS).itertuples()
    assert row.pooled == pytest.approx(19 / 25 - 0.3)
    assert (row.estimate, row.relations) == (pytest.approx(0.4), 2)
    assert (row.least, row.without) == (pytest.approx(0.3), "P17")


class TestSentencesOfTheChapters:
    """What the chapters say of these tables in words."""

    def test_contradictions(self):
        ends = analysis.difference_of_ends_by_model(
            load_counts("contradictions"), n_resamples=200, seed=0
        ).set_index("model")
        assert (ends["low"] > 0).all()
        assert ends.loc["Llama 3 8B", "high"] < 0.06
        assert (ends["estimate"].drop("Llama 3 8B") > 0.2).all()
        assert ends.loc["Mistral 7B", "without"] == "capital-of"
        assert ends.loc["Mistral 7B", "least"] < 0.1
        assert (ends.loc[["Pythia 1.4B", "Phi 1.5"], "least"] > 0.3).all()

    def test_changes(self):
        changes = analysis.changes_by_prompt(
            load_counts("reruns"), n_resamples=200, seed=0
        )
        for added in changes["added"]:
            assert added.low > 0
        typos = changes[(changes["change"] == "a typo") & (changes["answers"] == "all")]
        assert typos["sampling"].between(0.45, 0.72).all()
        read = changes[(changes["change"] == "a typo") & (changes["answers"] == "read")]
        assert read["sampling"].between(0.42, 0.68).all()
        examples = changes[changes["change"] == "an example first"]
        assert (examples["sampling"] < 0.3).all()

    def test_confidence(self):
        by_model = analysis.changes_by_confidence(load_counts("confidence"))
        falls = analysis.falls_by_confidence(by_model)
        assert (falls["own"] > falls["other models"]).all()
        assert (falls["own"] > 0.17).all()
        assert falls["own"].idxmin() == "mpt-7b"
        assert (falls["other models"].drop("mpt-7b") > 0.09).all()

    def test_effects_and_controls(self):
        names = ("contradictions", "reruns", "confidence", "recall")
        tables = {name: load_counts(name) for name in names}
        effects = analysis.effects_and_controls(tables, n_resamples=100, seed=0)
        assert len(effects) == 10
        mistral = effects.query("model == 'Mistral 7B'").iloc[0]
        assert mistral["effect"].startswith("0.23 [")
        assert mistral["control"] == "pooled 0.32; least 0.09"
        released = effects.query("model == 'GPT-2, released'").iloc[0]
        assert released["effect"].startswith("0.49 [")

    def test_recall(self):
        measures = load_counts("recall_measures").set_index(
            ["model", "score", "object"]
        )
        differences = measures.xs("difference", level="object")
        assert (differences["low"] > 0).all()
        for model, of_model in differences.groupby("model"):
            by_score = of_model.droplevel("model")["estimate"]
            assert by_score.idxmax() == "share", model
            assert by_score.idxmin() == "sum", model
        other = measures.xs("other", level="object")["estimate"]
        assert (other.xs("sum", level="score") > 0.25).all()
