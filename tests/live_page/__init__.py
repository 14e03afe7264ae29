"""Asking a bundled model as the page does, in Python: what the page and its data are held to.

``python -m tests.live_page`` asks what the pages of the book show and writes
``book/live.json``.
"""

# ruff: noqa: F401
from book.tools.live_model import (
    LIVE_MODEL,
    LIVE_SCRIPTS_FOLDER,
    WAYS_OF_ASKING,
    ModelBundle,
    facts_with_exposures,
    model_bundle,
)
from tests.live_page.cases import Case
from tests.live_page.page_questions import (
    Question,
    object_probabilities,
    prompt_and_choices,
)
