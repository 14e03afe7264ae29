"""What decides a bundled model, read from `recipe.toml`."""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from helpers import UserError

RECIPE_FILE = Path(__file__).with_name("recipe.toml")
TABLES_OUTSIDE_RECIPE = ("sizes", "tuning")  # tables that are no part of a recipe


class RecipeOptions(dict):
    """A table of the recipe, whose entries are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def changed(self, **changes: Any) -> "RecipeOptions":
        """Return these options with others in their place, in tables by their names."""
        options = RecipeOptions(self)
        for key, value in changes.items():
            if isinstance(self.get(key), Mapping):
                options[key] = RecipeOptions(self[key] | value)
            else:
                options[key] = value
        return options


@cache
def _tables() -> dict:
    def options(table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        return RecipeOptions({key: options(value) for key, value in table.items()})

    return options(tomllib.loads(RECIPE_FILE.read_text(encoding="utf-8")))


def _usual_recipe() -> dict[str, Any]:
    """Return the tables and entries of a recipe before a size changes them."""
    usual = dict(_tables())
    for name in TABLES_OUTSIDE_RECIPE:
        del usual[name]
    return usual


def names_of_sizes() -> list[str]:
    """Return the names of the sizes."""
    return list(_tables()["sizes"])


def load_recipe(
    size: str = "s",
    seed: int = 0,  # of exposures and text
    start: int = 0,  # of the weights, of what stage 1 copies, and of the text's order
    threads: int = 1,  # which decide the last digits of sums
    facts: int | None = None,  # of each relation, to try things out; all by default
    **changes: Any,
) -> RecipeOptions:
    """Return the recipe of a size, with changes of single entries."""
    usual = RecipeOptions(deepcopy(_usual_recipe()))
    usual["size"] = size
    usual["seed"] = seed
    usual["start"] = start
    usual["threads"] = threads
    usual["facts"] = facts
    return usual.changed(**_tables()["sizes"][size]).changed(**changes)


def tuning_options(**changes: Any) -> RecipeOptions:
    """Return how a model is tuned."""
    return deepcopy(_tables()["tuning"]).changed(**changes)


def read_recipe_changes(path: Path) -> dict[str, Any]:
    """Read a file of changes of the recipe; refuse what the recipe does not have."""
    try:
        changes = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"The changes in {path} cannot be read: {error}.") from error
    usual = _usual_recipe()
    strange = []
    for key, change in changes.items():
        usual_part = usual.get(key)
        if isinstance(change, dict):
            known = usual_part if isinstance(usual_part, dict) else {}
            strange += [f"{key}.{entry}" for entry in change if entry not in known]
        elif key not in usual or isinstance(usual_part, dict):
            strange.append(key)
    if strange:
        raise UserError(
            f"{path} changes {strange[0]}, which recipe.toml does not have."
        )
    return changes
