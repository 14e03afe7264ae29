"""A model by bundled name, folder, hub id or server; device and number format."""

from helpers.models.checkpoints import bundled_models, model_slug
from helpers.models.language_model import LanguageModel, Local, Served
from helpers.models.loading import describe_model, load

__all__ = [
    "LanguageModel",
    "Local",
    "Served",
    "bundled_models",
    "describe_model",
    "load",
    "model_slug",
]
