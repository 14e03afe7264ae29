"""A choice between models: each rule's winner, by the paired difference on shared facts."""

import pandas as pd
import pytest

from notebooks.analysis import multiplicity_selection as analysis

DRAWS = {"n_resamples": 200, "seed": 0}


def facts(accuracy, classes):
    table = pd.DataFrame({"accuracy": accuracy, "relation": "P17"}, dtype=object)
    table["accuracy"] = table["accuracy"].astype(float)
    for name in ("factuality", "error", "randomness"):
        table[name] = [float(one == name) for one in classes]
    return table.set_axis([f"q{number}" for number in range(len(table))])


BOLD = facts([0.9] * 10, ["factuality"] * 6 + ["error"] * 4)
CAREFUL = facts([0.8] * 10, ["factuality"] * 6 + ["error"] + ["randomness"] * 3)


def test_rules_choose_by_their_own_column():
    rows = analysis.choices_between_models({"bold": BOLD, "careful": CAREFUL}, **DRAWS)
    assert rows["choice"].tolist() == ["bold", "bold", "careful", "bold"]
    assert rows["next"].tolist()[2] == "bold"
    assert rows["ahead"].str.partition(" ")[0].tolist() == [
        "10.0",
        "0.0",
        "30.0",
        "30.0",
    ]
    assert rows["decides"].tolist()[1] == "no"


def test_models_are_compared_on_the_questions_that_all_were_asked():
    fewer = CAREFUL.iloc[4:]
    shares = analysis.class_shares_by_model({"bold": BOLD, "careful": fewer}, **DRAWS)
    assert shares["questions"].tolist() == [6, 6]
    assert shares.loc["bold", "prompt-agnostic error"].startswith("66.7")


@pytest.mark.parametrize("models", [{}, {"bold": BOLD}])
def test_less_than_two_models_leave_no_choice(models):
    assert analysis.choices_between_models(models, **DRAWS).empty
    assert len(analysis.class_shares_by_model(models, **DRAWS)) == len(models)
