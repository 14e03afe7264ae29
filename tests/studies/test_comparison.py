"""Models compared on the facts that both were asked, from tables that a script holds."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from helpers import UserError, datasets, exchange, models, stats
from helpers.exchange import record
from helpers.studies import STUDIES, compare_models


def facts(right, items="abcdefgh", **others) -> pd.DataFrame:
    rows = {"item": list(items), "relation": "P36", "right": right, "mass": 0.5}
    return pd.DataFrame(rows | {"identity": list(items)} | others)


def rows(found) -> pd.DataFrame:
    return found.set_index(["first", "second", "measure"])


def test_the_difference_is_that_of_the_means_of_shared_facts():
    one = facts([1.0, 0, 0, 0, 0, 0, 0, 0])
    two = facts([1.0, 1, 1, 1, 1, 1], "efghij").sample(frac=1, random_state=0)
    found = rows(
        compare_models(STUDIES["latent_knowledge"], {"one": one, "two": two}, 200)
    )
    gap = found.loc[("two", "one", "right")]
    assert (gap["estimate"], gap["n"]) == (1, 4)
    assert gap[["low", "high", "p"]].isna().all()  # four facts that are all alike
    assert gap["better"] == ""


def test_equal_differences_of_many_facts_decide():
    names = [f"f{k}" for k in range(20)]
    models = {"one": facts(0.0, names), "two": facts(1.0, names)}
    found = rows(compare_models(STUDIES["latent_knowledge"], models, 200))
    assert found["better"].to_dict() == {
        ("two", "one", "right"): "two",
        ("two", "one", "mass"): "",
    }


def test_a_difference_of_rounding_has_no_winner():
    models = {
        "one": facts(0.5, names := [f"f{k}" for k in range(20)]),
        "two": facts(0.5, names),
    }
    models["two"]["right"] += 6e-9
    assert rows(compare_models(STUDIES["latent_knowledge"], models, 200))[
        "better"
    ].tolist() == ["", ""]


def test_every_pair_of_models_is_compared():
    models = {
        name: facts([1.0] * n + [0.0] * (8 - n)) for name, n in zip("xyz", (2, 4, 8))
    }
    found = rows(compare_models(STUDIES["latent_knowledge"], models, 50))
    gaps = found.xs("right", level="measure")["estimate"].to_dict()
    assert gaps == {("y", "x"): 0.25, ("z", "x"): 0.75, ("z", "y"): 0.5}


def test_facts_that_a_measure_leaves_out_for_one_model_do_not_count():
    columns = {"counted_anchor": 0.5, "coverage": 1.0, "base": 1.0, "average": 1.0}
    names = [f"f{k:02d}" for k in range(40)]
    one = facts(1.0, names, counted_deviation=[0.1] * 30 + [0.11] * 10, **columns)
    two = facts(1.0, names, counted_deviation=[np.nan] * 20 + [0.2] * 20, **columns)
    gap = rows(compare_models(STUDIES["monitor"], {"one": one, "two": two}, 50)).loc[
        "two", "one"
    ]
    assert gap.loc["MONITOR", "n"] == 20
    assert gap.loc["MONITOR", "estimate"] == pytest.approx(0.2 / 0.5 - 0.105 / 0.5)
    assert gap.loc["MONITOR", "better"] == "one"  # lower is better
    assert gap.loc["base", "n"] == 40


def test_the_bootstrap_draws_within_strata():
    # Within strata of nearly equal rows little varies; within relations more does.
    names = [f"f{k}" for k in range(20)]
    one, two = facts([1.0] * 9 + [0.0] * 10 + [1.0], names), facts(0.0, names)
    strata = {"stratum": ["s"] * 10 + ["t"] * 10}
    study = STUDIES["latent_knowledge"]
    loose = rows(compare_models(study, {"two": two, "one": one})).loc[
        "one", "two", "right"
    ]
    tight = {"two": two.assign(**strata), "one": one.assign(**strata)}
    tight = rows(compare_models(study, tight)).loc["one", "two", "right"]
    assert loose["high"] - loose["low"] > 0.3
    assert 0 < tight["high"] - tight["low"] < 0.7 * (loose["high"] - loose["low"])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"one": facts(1.0)}, "two models or more, not 1"),
        (
            {"one": facts(1.0), "two": facts(1.0).drop(columns=["right", "mass"])},
            "facts of two lacks .* right, mass",
        ),
        (
            {"one": facts(1.0), "two": facts(1.0, "ijklmnop")},
            "one and two share no fact",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(models, message):
    with pytest.raises(UserError, match=message):
        compare_models(STUDIES["latent_knowledge"], models)


LKE = STUDIES["latent_knowledge"]


def test_facts_are_paired_by_what_they_are_and_not_by_their_names():
    one = facts([1.0, 0, 0, 0, 1, 1, 0, 0])
    renamed = one.sample(frac=1, random_state=1).assign(item=list("stuvwxyz"))
    renamed["right"] = 1.0
    by_name = compare_models(LKE, {"one": one, "two": one.assign(right=1.0)})
    by_fact = compare_models(LKE, {"one": one, "two": renamed})
    pd.testing.assert_frame_equal(by_name, by_fact)
    with pytest.raises(UserError, match="one and two share no fact"):
        compare_models(LKE, {"one": one, "two": facts(1.0, identity=list("stuvwxyz"))})


def test_names_that_mean_other_facts_elsewhere_pair_none():
    one = facts([1.0, 0, 0, 0, 1, 1, 0, 0])
    two = facts(1.0, identity=list("efghijkl"))
    gap = rows(compare_models(LKE, {"one": one, "two": two})).loc["two", "one", "right"]
    assert (gap["n"], gap["estimate"]) == (4, 0.5)  # e, f, g, h: 1, 1, 0, 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"dataset_checksum": "b" * 64}, "data sets of one and two differ .* 8 facts"),
        ({"wordings": list("xbcdefgh")}, "asked 1 of 8 facts in other wordings"),
        ({"wrong_words": "z"}, "asked 8 of 8 facts with other wrong words"),
    ],
)
def test_what_differs_between_two_results_is_said(columns, said):
    usual = {"dataset_checksum": "a" * 64, "wordings": list("abcdefgh")}
    one = facts(1.0, **usual, wrong_words="w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_models(LKE, {"one": one, "two": one})
    with pytest.warns(UserWarning, match=said):
        compare_models(LKE, {"one": one, "two": one.assign(**columns)})


def test_a_fact_that_a_table_has_twice_counts_once_and_is_said():
    one = facts([1.0, 0, 0, 0, 1, 1, 0, 0])
    two = facts(1.0)
    once = compare_models(LKE, {"one": one, "two": two})
    with pytest.warns(UserWarning, match="two repeats 8 of its facts"):
        twice = compare_models(LKE, {"one": one, "two": pd.concat([two, two])})
    pd.testing.assert_frame_equal(once, twice)


def test_tables_of_older_versions_are_paired_by_name_and_labelled(root):
    shared = exchange.read_archive(root / "results" / "atlas-xs.zip")
    for name, study in STUDIES.items():
        parameters = shared.record["runs"][name]["parameters"]
        table = record.facts_from_answers(name, parameters, shared.answers(name))
        if "identity" in table:  # their answers name subject and object
            assert name in ("monitor", "latent_knowledge")
            assert table["identity"].is_unique
            assert table["identity"][0].startswith('["p')
            continue
        with pytest.warns(UserWarning, match="paired by the names of their rows"):
            found = compare_models(study, {"one": table, "two": table})
        assert found["n"].max() == len(table)


def test_results_of_asking_are_paired_by_their_facts(tmp_path):
    lm = models.load("atlas-xs")
    multiplicity = STUDIES["multiplicity"]
    quiz = pd.DataFrame(
        {
            "question": ["Which country is Lyon in?", "Which country is Kyoto in?"],
            "options": ["France|Spain|Italy", "China|Japan|Korea"],
            "answer": ["France", "Japan"],
            "paraphrases": ["In what country is Lyon?", "In what country is Kyoto?"],
        }
    )
    others = quiz.assign(question=["Where is Lima?", "Where is Oslo?"])
    shuffled = quiz[::-1].assign(options=["Korea|japan|China", "Spain|Italy|France"])
    shuffled["answer"] = ["japan", "France"]
    tables = {}
    for name, rows_of_quiz in {"a": quiz, "b": shuffled, "c": others}.items():
        rows_of_quiz.to_csv(tmp_path / f"{name}.csv", index=False)
        answers = multiplicity.ask(lm, dataset=str(tmp_path / f"{name}.csv"))
        tables[name] = multiplicity.facts(answers).set_index("identity", drop=False)
    assert set(tables["a"].index) == set(tables["b"].index)
    both = tables["a"]["accuracy"] - tables["b"]["accuracy"]
    with pytest.warns(UserWarning, match="data sets of b and a differ"):
        found = compare_models(multiplicity, {"b": tables["b"], "a": tables["a"]})
    gap = rows(found).loc["a", "b", "accuracy"]
    assert (gap["n"], gap["estimate"]) == (2, pytest.approx(both.mean()))
    with pytest.raises(UserError, match="share no fact"):
        compare_models(multiplicity, {"a": tables["a"], "c": tables["c"]})


@pytest.mark.parametrize("name", ["multiplicity", "knowledge_base"])
def test_facts_named_as_others_of_a_data_set_are_refused(tmp_path, name):
    own = datasets.load("atlas", relations=["P36"], n=2).assign(subject="Nowhere")
    with pytest.raises(UserError, match="is another one in atlas"):
        STUDIES[name].ask(models.load("atlas-xs"), own)


def binary_facts(shares, n, correlation, seed) -> dict[str, pd.DataFrame]:
    """Draw zeros and ones of models; medians of a normal copula correlate as said."""
    random = np.random.default_rng(seed)
    of_normals = np.sin(np.pi / 2 * correlation)
    hardness = np.sqrt(of_normals) * random.standard_normal(n)
    names = [f"f{k:03d}" for k in range(n)]
    tables = {}
    for number, share in enumerate(shares):
        own = np.sqrt(1 - of_normals) * random.standard_normal(n)
        right = (hardness + own < scipy.stats.norm.ppf(share)).astype(float)
        tables[f"m{number}"] = facts(right, names)
    return tables


def test_p_values_are_corrected_for_all_pairs_in_a_measure():
    tables = binary_facts([0.3, 0.5, 0.6, 0.9], 60, 0.4, 0)
    tables = {name: table.assign(mass=table["right"]) for name, table in tables.items()}
    found = compare_models(LKE, tables)
    assert set(found["intervals"]) == {"not adjusted"}
    for _, group in found.groupby("measure"):
        p = [stats.expanded_p_value(value, ["P36"] * 60) for value in group["p"]]
        order = np.argsort(p)
        largest = 0.0
        for place, k in enumerate(order):  # Holm: times 6, 5, ..., and never falling
            largest = max(largest, min(1, p[k] * (6 - place)))
            assert group["p_holm"].iloc[k] == pytest.approx(largest)
        named = group["better"] != ""
        assert (group.loc[named, "p_holm"] <= 0.05).all()
        assert 0 < named.sum() < 6


def test_resamples_suffice_for_many_pairs():
    tables = binary_facts([0.1] * 7 + [0.9], 60, 0.0, 0)
    found = compare_models(LKE, tables, n_resamples=50)
    right = found[found["measure"] == "right"]
    assert right["better"].value_counts().to_dict() == {"": 21, "m7": 7}


@pytest.mark.slow
def test_equal_models_have_no_winner_and_a_lead_of_15_points_is_found():
    """Eight models; 300 facts, base accuracy .5, answers correlated .4."""
    n_winners = 0
    n_found = 0
    for seed in range(20):
        equal = compare_models(LKE, binary_facts([0.5] * 8, 300, 0.4, seed))
        n_winners += (equal["better"] != "").any()
    for seed in range(5):
        leading = binary_facts([0.65, *[0.5] * 7], 300, 0.4, seed)
        n_found += "m0" in set(compare_models(LKE, leading)["better"])
    assert n_winners <= 1
    assert n_found >= 4
