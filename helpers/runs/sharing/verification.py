"""Check an archive of runs: its form, its files, its settings, and each measure computed again.

Measures must follow from the answers, and the atlas's answers fit the questions that
the settings name. That they are the answers of that model cannot be shown.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pandas as pd

from helpers import UserError, datasets, first_line, printable, stats
from helpers.runs.sharing import archive, record
from helpers.runs.sharing.record import FORMAT, Record, Shared
from helpers.studies import STUDIES

SCHEMA = Path(__file__).with_name("schema.json")
CLOSE = 1e-9  # sums may be taken in another order on another machine


class Verified(NamedTuple):
    """A run that was checked: its study, how many answers it rests on, how many measures hold."""

    study: str
    answers: int
    measures: int


def verify(path: str | Path) -> tuple[Shared, list[Verified]]:
    """Return what is in an archive and what of it was verified."""
    try:
        if Path(path).name.startswith("."):  # no glob of a shell would have shown it
            raise UserError("its name begins with a dot")
        shared = archive.read(path)
        _form(shared)
        return shared, [_run(shared, name) for name in shared.record["runs"]]
    except UserError as error:
        reason = printable(str(error).rstrip("."))
        raise UserError(
            f"{printable(Path(path).name)} is refused: {reason}."
        ) from error


def shared(place: str | Path) -> Shared:
    """Return what is public of a folder of runs, or what is in an archive that holds."""
    return verify(place)[0] if Path(place).is_file() else record.describe(place)


def _form(shared: Shared) -> None:
    """Compare the manifest with the schema, and the files with the manifest."""
    found = shared.record.get("format") if isinstance(shared.record, dict) else None
    if found != FORMAT and isinstance(found, int):
        raise UserError(
            f"it is of format {found}, and this version of the package reads {FORMAT}"
        )
    schema = jsonschema.Draft202012Validator(
        json.loads(SCHEMA.read_text(encoding="utf-8"))
    )
    if wrong := jsonschema.exceptions.best_match(schema.iter_errors(shared.record)):
        place = "/".join(map(str, wrong.absolute_path)) or "its top"
        said = wrong.message if len(wrong.message) < 160 else f"{wrong.message[:160]}…"
        raise UserError(f"its manifest does not fit the schema at {place}: {said}")
    if shared.record["checksum"] != archive.checksum(shared.record):
        raise UserError(
            "its manifest was edited after it was packed: its checksum is another's"
        )
    runs = shared.record["runs"]
    for name in runs:
        if name not in STUDIES:
            raise UserError(f"it holds a run of {name!r}, which is no study here")
    named = sorted(run["answers"]["file"] for run in runs.values())
    if named != sorted(shared.files):
        odd = sorted({*named} ^ {*shared.files}) or named
        raise UserError(
            f"its manifest does not name once what it holds: see {', '.join(odd)}"
        )
    for told in (run["answers"] for run in runs.values()):
        digest = hashlib.sha256(shared.files[file := told["file"]]).hexdigest()
        if digest != told["sha256"]:
            raise UserError(
                f"{file} has the SHA-256 {digest[:8]}…, and its manifest says "
                f"{told['sha256'][:8]}…: it is not the file that was packed"
            )


def _run(shared: Shared, name: str) -> Verified:
    """Compare what the manifest says of one run with its answers."""
    run = shared.record["runs"][name]
    try:
        answers = shared.answers(name)
        if len(answers) != (told := run["answers"]["rows"]):
            raise UserError(
                f"its manifest says {told} answers, and it holds {len(answers)}"
            )
        if len({run["seed"], run["parameters"].get("seed")}) > 1:
            raise UserError("its manifest gives two seeds")
        _settings(name, run, shared.record["model"], answers)
        found = record.measures(name, run["parameters"], answers)
        same = (run["versions"] or {}).get("intervals") == stats.VERSION
        _compare(run["measures"], found, () if same else ("low", "high"))
        run["measures"] = found  # what is shown has the intervals of today
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    except Exception as error:  # a table that is not a study's may fail in any way
        raise UserError(
            f"{name}: its answers cannot be measured ({type(error).__name__} {first_line(error)})"
        ) from error
    return Verified(name, len(answers), len(found))


def _compare(
    reported: list[Record], found: list[Record], skipped: tuple[str, ...]
) -> None:
    """Refuse measures that are not those found; intervals may be of an older way to draw them."""
    names = [each["measure"] for each in found]
    if names != [each["measure"] for each in reported]:
        raise UserError(
            f"its measures are not the study's, which are {', '.join(names)}"
        )
    for name, told, each in zip(names, reported, found):
        for key in each:
            one, other = told[key], each[key]
            same = one == other
            if isinstance(one, float | int) and isinstance(other, float | int):
                same = math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
            if key not in skipped and not same:
                raise UserError(
                    f"{name} is reported with {key} {_figure(one)}, "
                    f"and its answers give {_figure(other)}"
                )


def _figure(value: object) -> str:
    if value is None:
        return "undefined"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _settings(name: str, run: Record, model: Record, answers: pd.DataFrame) -> None:
    """Refuse settings that ask for less than is answered, or draw others, or count others right."""
    study, given = STUDIES[name], run["parameters"]
    if not hasattr(study, "sizes"):
        return
    if "part" in answers:  # of a chapter's run: without the close-ups
        answers = answers[answers["part"] == "lists"]
    for setting, shown in study.sizes(answers).items():
        told = given.get(setting) or math.inf  # 0 takes all
        if shown > told:
            raise UserError(
                f"its settings say {setting}={told}, and its answers hold {shown}"
            )
    if run["dataset"]["checksum"] != datasets.source("atlas")["checksum"]:
        return
    drawn = set(
        study.drawn(given, model["name"] if model["origin"] == "bundled" else "")
    )
    asked = set(answers["item"])
    if drawn != asked:
        raise UserError(
            f"its settings draw {len(drawn)} questions from the atlas, and its answers are about "
            f"{len(asked)}, {len(asked - drawn)} of which are not among them"
        )
    true = datasets.load("atlas").set_index("fact")["object"]
    for item, said in _right(name, answers):
        if said != true.get(item, ""):
            raise UserError(
                f"it counts {said!r:.60} as right of {item}, and the atlas another"
            )


def _right(name: str, answers: pd.DataFrame) -> set[tuple[str, str]]:
    """Return each question with what counts as right; "" where nothing is."""
    if "answers" in answers:
        found = answers.explode("answers")
        return set(zip(found["item"], found["answers"].fillna("")))
    found = answers[answers["correct"].astype(bool) | (name == "monitor")]
    texts = found["text" if name == "multiplicity" else "continuation"].str.strip()
    return {
        *zip(found["item"], texts),
        *((i, "") for i in {*answers["item"]} - {*found["item"]}),
    }
