"""Measure a model that the book does not show as its chapters would, without their notebooks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from book.tools import settings
from helpers import UserError, models
from helpers.models import checkpoints
from helpers.runs import measuring


def values(template: Path, words: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a run: the chapter's, and what the study takes of the words."""
    taken = measuring.declared(template.stem)
    given = settings.read(template, settings.fitting(template, words))
    own = {name: value for name, value in given.items() if name in taken}
    return taken | settings.free(template) | own


def run(
    model: str, templates: Sequence[Path], words: Sequence[str], runs: Path
) -> list[Path]:
    """Measure a model by several studies; one that cannot be done stops no other."""
    each = {
        template.stem: values(template, settings.fitting(template, words))
        for template in templates
    }
    first = next(iter(each.values()))
    lm = models.load(
        model, dtype=first["dtype"], trust_remote_code=first["trust_remote_code"]
    )
    folders, failed = [], []
    for name, given in each.items():
        folder = runs / checkpoints.slug(model) / name
        try:
            folders.append(measuring.measure_one(name, lm, given, folder).folder)
        except UserError as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise UserError(" ".join(failed))
    return folders
