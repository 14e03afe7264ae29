"""The recipe is data: sizes differ from it in what they name, and so do changes from a file."""

import json

import pytest

from helpers import UserError
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from notebooks.atlas import recipe, train

LISTS = recipe.RECIPE_FILE.with_name("lists.toml")


@pytest.mark.parametrize("size", ["xs", "s", "m"])
def test_it_is_the_one_that_the_bundled_models_record(size):
    told = json.loads(
        (BUNDLED_MODELS_FOLDER / f"atlas-{size}" / "training.json").read_text(
            encoding="utf-8"
        )
    )
    usual = recipe.load_recipe(size)
    assert usual.shape == told["shape"]
    assert {key: usual[key] for key in told["recipe"]} == told["recipe"]


def test_the_tuning_is_the_one_that_the_tuned_model_records():
    told = json.loads(
        (BUNDLED_MODELS_FOLDER / "atlas-m-chat" / "training.json").read_text(
            encoding="utf-8"
        )
    )
    assert recipe.tuning_options() == told["tuning"]


def test_a_change_leaves_the_rest_and_the_usual_recipe_alone():
    changed = recipe.load_recipe("s", copying={"steps": 5}, rows=3)
    usual = recipe.load_recipe("s")
    assert (changed.copying.steps, changed.rows) == (5, 3)
    assert usual.copying == changed.copying.changed(steps=900)
    assert usual | {"copying": None, "rows": None} == changed | {
        "copying": None,
        "rows": None,
    }


def test_more_lists_are_in_proportion():
    usual = recipe.load_recipe("xs")
    more = recipe.load_recipe("xs", **recipe.read_recipe_changes(LISTS))
    shares, before = more.corpus.mentions, usual.corpus.mentions
    assert sum(shares.values()) == pytest.approx(1)
    for kind in before:
        assert kind == "list" or shares[kind] / before[kind] == pytest.approx(
            0.4 / 0.61
        )
    kinds = more.reading.kinds
    assert sum(kinds.values()) == pytest.approx(1)
    assert kinds["pairs"] == 2 * usual.reading.kinds["pairs"]
    assert more.corpus.text_weight == usual.corpus.text_weight


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[copying]\nstep = 5", "copying.step"),
        ("rate = 0.1", "changes rate"),
        ("seed = 1", "changes seed"),
        ("copying = 5", "changes copying"),
        ("[rows]\nx = 1", "rows.x"),
        ("[copying", "cannot be read"),
    ],
)
def test_a_change_that_means_nothing_is_refused(tmp_path, capsys, text, sentence):
    path = tmp_path / "other.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence):
        recipe.read_recipe_changes(path)
    assert train.main(["--out", str(tmp_path / "out"), "--change", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
