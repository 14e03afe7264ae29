"""Which chapter runs on which models when the book is made, and with which settings.

A chapter tells by its parameters what it is. One that declares no ``model`` is a *synthesis*: it
reads finished runs, or published tables, and runs once. One that declares ``models`` compares
models itself and runs on the book's model alone. Every other chapter is a *measure*: it runs on
the book's model and on all others of the grid.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from helpers import checkpoints, settings
from helpers.checkpoints import slug
from helpers.runs import ROOT, SYNTHESIS

TEMPLATES = ROOT / "notebooks"
LIGHT = ("n_bootstrap=300", "attribution=no", "siblings=no")  # the same facts, asked as well


def kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return what a chapter is: ``"synthesis"``, ``"single"`` or ``"measure"``.

    Parameters
    ----------
    chapter : str
        The notebook's name in ``templates``.
    templates : Path
        The folder of the notebooks.

    Raises
    ------
    UserError
        If there is no such notebook.

    Examples
    --------
    >>> kind("monitor"), kind("atlas")
    ('measure', 'single')
    """
    declared = settings.declared(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    return "single" if "models" in declared else "measure"


def family(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the models of the grid by the names of their folders, the book's model last.

    Parameters
    ----------
    shown : str
        The model whose chapters the book shows: bundled name, folder or hub id.
    others : sequence of str
        Further models; empty: all that come with the book.

    Returns
    -------
    dict
        Slug to name.

    Examples
    --------
    >>> family("org/mine", ["atlas-s", "org/mine"])
    {'atlas-s': 'atlas-s', 'org--mine': 'org/mine'}
    """
    names = [name for name in others or checkpoints.bundled() if slug(name) != slug(shown)]
    return {slug(name): name for name in [*names, shown]}


def folders(chapters: Iterable[str], shown: str, others: Sequence[str] = ()) -> list[str]:
    """Return where runs of chapters go, seen from the folder of the runs: ``<slug>/<chapter>``.

    Parameters
    ----------
    chapters : iterable of str
        Names of chapters.
    shown, others : str, sequence of str
        As for ``family``.

    Examples
    --------
    >>> folders(["atlas", "monitor"], "atlas-m", ["atlas-s"])
    ['atlas-s/monitor', 'atlas-m/atlas', 'atlas-m/monitor']
    """
    kinds = {chapter: kind(chapter) for chapter in chapters}
    runs = [
        f"{folder}/{chapter}"
        for folder in family(shown, others)
        for chapter, what in kinds.items()
        if what == "measure" or (what == "single" and folder == slug(shown))
    ]
    return runs + [f"{SYNTHESIS}/{name}" for name, what in kinds.items() if what == "synthesis"]


def words(name: str, shown: str, given: Iterable[str]) -> list[str]:
    """Return the settings for the runs of one model.

    The book's model takes what is given. The others are asked the same facts in the same way, but
    spare themselves close-ups and bootstrap draws (``LIGHT``), unless that is given too.

    Parameters
    ----------
    name, shown : str
        The model; the book's model.
    given : iterable of str
        Settings, as ``name=value``.

    Examples
    --------
    >>> words("atlas-m", "atlas-m", ["n_facts=5"])
    ['n_facts=5']
    >>> words("atlas-s", "atlas-m", ["n_facts=5", "attribution=yes"])
    ['n_bootstrap=300', 'siblings=no', 'n_facts=5', 'attribution=yes']
    """
    given = list(given)
    own = {word.partition("=")[0] for word in given}
    spare = [word for word in LIGHT if word.partition("=")[0] not in own]
    return given if slug(name) == slug(shown) else spare + given
