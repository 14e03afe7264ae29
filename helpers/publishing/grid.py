"""Which chapter runs on which models when the book is made, and with which settings.

A chapter tells by its parameters what it is. One that declares no ``model`` is a *synthesis*: it
reads finished runs, or published tables, and runs once. One that declares ``models`` compares
models itself and runs on the book's model alone. Every other chapter is a *measure*: it runs on
the book's model and on all others of the grid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.models import checkpoints
from helpers.models.checkpoints import slug
from helpers.publishing import settings
from helpers.runs import ROOT, SYNTHESIS

TEMPLATES = ROOT / "notebooks"
PARTS = ("notebook.ipynb", "answers.parquet", "metrics.parquet", "run.json")
LIGHT = ("attribution=no", "siblings=no", "n_grid=1", "n_close=1")  # the same facts, asked as well


@dataclass(frozen=True)
class Job:
    """One run that is to be made.

    Attributes
    ----------
    name : str
        Its folder below that of the runs: ``<slug>/<chapter>``.
    chapter : str
    model : str
        Empty where the chapter asks none.
    words : tuple of str
        The settings given, as ``name=value``.
    early : bool
        Whether it is begun before the others.
    more : tuple of str
        Further folders that it leaves, below that of the runs.
    """

    name: str
    chapter: str
    model: str = ""
    words: tuple[str, ...] = ()
    early: bool = False
    more: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """Return all folders that it leaves."""
        return (self.name, *self.more)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the files that make its run whole."""
        if self.more:  # the noise floor asks without a notebook
            return PARTS[1:]
        return PARTS if self.model else tuple(part for part in PARTS if "answers" not in part)


def kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return what a chapter is: ``"synthesis"``, ``"single"`` or ``"measure"``.

    >>> kind("monitor"), kind("atlas")
    ('measure', 'single')
    """
    declared = settings.declared(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    return "single" if "models" in declared else "measure"


def family(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the models of the grid by the names of their folders, the book's model last.

    >>> family("org/mine", ["atlas-s", "org/mine"])
    {'atlas-s': 'atlas-s', 'org--mine': 'org/mine'}
    """
    names = [name for name in others or checkpoints.bundled() if slug(name) != slug(shown)]
    return {slug(name): name for name in [*names, shown]}


def jobs(
    chapters: Iterable[str],
    shown: str,
    others: Sequence[str] = (),
    given: Iterable[str] = (),
    *,
    alike: bool = False,
) -> list[Job]:
    """Return the runs of chapters on the models of a grid, those that ask models first.

    >>> [job.name for job in jobs(["atlas", "monitor"], "atlas-m", ["atlas-s"])]
    ['atlas-s/monitor', 'atlas-m/atlas', 'atlas-m/monitor']
    """
    kinds = {chapter: kind(chapter) for chapter in chapters}
    given, found = list(given), []
    for folder, model in family(shown, others).items():
        own = folder == slug(shown)
        asked = given if alike else words(model, shown, given)
        for chapter, what in kinds.items():
            if what == "measure" or (what == "single" and (own or alike)):
                taken = tuple(fitting(chapter, asked))
                found.append(Job(f"{folder}/{chapter}", chapter, model, taken, not (own or alike)))
    syntheses = [chapter for chapter, what in kinds.items() if what == "synthesis"]
    made = {chapter: tuple(fitting(chapter, given)) for chapter in syntheses}
    return found + [Job(f"{SYNTHESIS}/{name}", name, "", taken) for name, taken in made.items()]


def fitting(chapter: str, given: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone."""
    declared = settings.declared(TEMPLATES / f"{chapter}.ipynb")
    return [word for word in given if "=" not in word or word.partition("=")[0] in declared]


def reads_runs(chapter: str) -> bool:
    """Return whether a chapter is made from finished runs."""
    return "runs_dir" in settings.declared(TEMPLATES / f"{chapter}.ipynb")


def words(name: str, shown: str, given: Iterable[str]) -> list[str]:
    """Return the settings for the runs of one model.

    The book's model takes what is given. The others are asked the same facts in the same way, each
    in its own prompt format, with as many bootstrap draws, but spare themselves close-ups
    (``LIGHT``), unless those are given too.

    >>> words("atlas-m", "atlas-m", ["n_facts=5"])
    ['n_facts=5']
    >>> words("atlas-s", "atlas-m", ["n_facts=5", "attribution=yes", "prompt_format=chat"])
    ['attribution=yes', 'siblings=no', 'n_grid=1', 'n_close=1', 'n_facts=5']
    """
    if slug(name) == slug(shown):
        return list(given)
    taken = {word.partition("=")[0]: word for word in (*LIGHT, *given)}
    return [word for parameter, word in taken.items() if parameter != "prompt_format"]
