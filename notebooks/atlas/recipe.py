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
        """Return these options with others in their place; of a table, those that are named."""
        whole = {
            key: RecipeOptions(self[key] | value)
            if isinstance(self.get(key), Mapping)
            else value
            for key, value in changes.items()
        }
        return RecipeOptions(self | whole)


@cache
def _tables() -> dict:
    def options(table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        return RecipeOptions({key: options(value) for key, value in table.items()})

    return options(tomllib.loads(RECIPE_FILE.read_text(encoding="utf-8")))


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
    usual = deepcopy(
        {
            key: part
            for key, part in _tables().items()
            if key not in TABLES_OUTSIDE_RECIPE
        }
    )
    named = {
        "size": size,
        "seed": seed,
        "start": start,
        "threads": threads,
        "facts": facts,
    }
    return (
        RecipeOptions(usual | named)
        .changed(**_tables()["sizes"][size])
        .changed(**changes)
    )


def tuning_options(**changes: Any) -> RecipeOptions:
    """Return how a model is tuned."""
    return deepcopy(_tables()["tuning"]).changed(**changes)


def read_recipe_changes(path: Path) -> dict[str, Any]:
    """Read a file of changes of the recipe, and refuse what the recipe does not have."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"The changes in {path} cannot be read: {error}.") from error
    usual = {
        key: part for key, part in _tables().items() if key not in TABLES_OUTSIDE_RECIPE
    }
    named = {
        key: usual[key] if isinstance(usual.get(key), dict) else usual for key in found
    }
    strange = [
        f"{key}.{entry}" if isinstance(part, dict) else key
        for key, part in found.items()
        for entry in (part if isinstance(part, dict) else [key])
        if entry not in named[key]
        or isinstance(part, dict) != isinstance(usual.get(key), dict)
    ]
    if strange:
        raise UserError(
            f"{path} changes {strange[0]}, which recipe.toml does not have."
        )
    return found
