"""Asking a bundled model as the page does, in Python: what the page and its data are held to.

``python -m tests.live_page`` asks what the pages of the book show and writes ``book/live.json``.
"""

# ruff: noqa: F401
from book.tools.live import ANSWERED, MODEL, SCRIPTS, WAYS, Bundle, bundle, catalogue, facts
from tests.live_page.asking import Question, answers, ask
from tests.live_page.cases import Case, case
from tests.live_page.front import fact as front_fact
from tests.live_page.stills import still
