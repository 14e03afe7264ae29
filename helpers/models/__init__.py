"""A model by bundled name, folder, hub id or server; device and number format."""

from helpers.models.checkpoints import bundled, slug
from helpers.models.language_model import LanguageModel
from helpers.models.loading import describe, load

__all__ = ["LanguageModel", "bundled", "describe", "load", "slug"]
