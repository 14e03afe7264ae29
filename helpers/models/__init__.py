"""A model by bundled name, folder, hub id or server; device and number format."""

from helpers.models.checkpoints import bundled, slug
from helpers.models.language_model import LanguageModel, Local, Served
from helpers.models.loading import describe, load

__all__ = ["LanguageModel", "Local", "Served", "bundled", "describe", "load", "slug"]
