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

from helpers import UserError, datasets, first_line_of_error, printable_line, stats
from helpers.exchange import archive, record
from helpers.exchange.record import ARCHIVE_FORMAT_VERSION, Record, SharedRuns
from helpers.studies import STUDIES, member

SCHEMA_FILE = Path(__file__).with_name("schema.json")
MEASURE_TOLERANCE = 1e-9  # sums may be taken in another order on another machine


class VerifiedRun(NamedTuple):
    """A run that was checked: its study, how many answers it rests on, how many measures hold.

    ``added`` are the study's measures that the archive lacks, computed from its answers:
    it was packed before there were these.
    """

    study: str
    answers: int
    measures: int
    added: tuple[str, ...] = ()


def verify_archive(path: str | Path) -> tuple[SharedRuns, list[VerifiedRun]]:
    """Return what is in an archive and what of it was verified."""
    try:
        if Path(path).name.startswith("."):  # no glob of a shell would have shown it
            raise UserError("its name begins with a dot")
        shared = archive.read_archive(path)
        _form(shared)
        return shared, [_run(shared, name) for name in shared.record["runs"]]
    except UserError as error:
        reason = printable_line(str(error).rstrip("."))
        raise UserError(
            f"{printable_line(Path(path).name)} is refused: {reason}."
        ) from error


def shared_runs(place: str | Path) -> SharedRuns:
    """Return what is public of a folder of runs, or what is in an archive that holds."""
    return (
        verify_archive(place)[0]
        if Path(place).is_file()
        else record.describe_runs(place)
    )


def _form(shared: SharedRuns) -> None:
    """Compare the manifest with the schema, and the files with the manifest."""
    found = shared.record.get("format") if isinstance(shared.record, dict) else None
    if found != ARCHIVE_FORMAT_VERSION and isinstance(found, int):
        raise UserError(
            f"it is of format {found}, and this version of the package reads {ARCHIVE_FORMAT_VERSION}"
        )
    schema = jsonschema.Draft202012Validator(
        json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    )
    if wrong := jsonschema.exceptions.best_match(schema.iter_errors(shared.record)):
        place = "/".join(map(str, wrong.absolute_path)) or "its top"
        said = wrong.message if len(wrong.message) < 160 else f"{wrong.message[:160]}…"
        raise UserError(f"its manifest does not fit the schema at {place}: {said}")
    if shared.record["checksum"] != archive.checksum_of_record(shared.record):
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


def _run(shared: SharedRuns, name: str) -> VerifiedRun:
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
        _names(name, run["measures"])
        found = record.measures_from_answers(name, run["parameters"], answers)
        same = (run["versions"] or {}).get("intervals") == stats.INTERVALS_VERSION
        added = _compare(run["measures"], found, () if same else ("low", "high"))
        run["measures"] = found  # what is shown has the measures and intervals of today
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    except Exception as error:  # a table that is not a study's may fail in any way
        raise UserError(
            f"{name}: its answers cannot be measured ({type(error).__name__} {first_line_of_error(error)})"
        ) from error
    return VerifiedRun(name, len(answers), len(found) - len(added), added)


def _names(name: str, reported: list[Record]) -> None:
    """Refuse a list of measures that is empty, or names one twice or one that the study lacks."""
    known = [measure.name for measure in STUDIES[name].MEASURES]
    named = [each["measure"] for each in reported]
    if not named:
        raise UserError(
            f"its list of measures is empty: name some of {', '.join(known)}"
        )
    for measure in named:
        if measure not in known:
            raise UserError(
                f"{measure!r:.60} is no measure of the study, which has "
                f"{', '.join(known)}"
            )
        if named.count(measure) > 1:
            raise UserError(f"it reports {measure} twice")


def _compare(
    reported: list[Record], found: list[Record], skipped: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse a measure that differs from the one found; return those that are not reported.

    `skipped` are fields that may differ: intervals may be of an older way to draw them.
    """
    by_name = {each["measure"]: each for each in reported}
    added = []
    for computed in found:
        name = computed["measure"]
        if name not in by_name:
            added.append(name)
            continue
        for key, value in computed.items():
            told = by_name[name][key]
            if key not in skipped and not _same(told, value):
                raise UserError(
                    f"{name} is reported with {key} {_figure(told)}, "
                    f"and its answers give {_figure(value)}"
                )
    return tuple(added)


def _same(one: object, other: object) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(
            one, other, rel_tol=MEASURE_TOLERANCE, abs_tol=MEASURE_TOLERANCE
        )
    return one == other


def _figure(value: object) -> str:
    if value is None:
        return "undefined"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _settings(name: str, run: Record, model: Record, answers: pd.DataFrame) -> None:
    """Refuse settings that ask for less than is answered, or draw others, or count others right."""
    study, given = STUDIES[name], run["parameters"]
    if not hasattr(study, "size_settings_of_answers"):
        return
    if "part" in answers:  # of a chapter's run: without the close-ups
        answers = answers[answers["part"] == "lists"]
    for setting, shown in study.size_settings_of_answers(answers).items():
        told = given.get(setting) or math.inf  # 0 takes all
        if shown > told:
            raise UserError(
                f"its settings say {setting}={told}, and its answers hold {shown}"
            )
    if run["dataset"]["checksum"] != datasets.source_record("atlas")["checksum"]:
        return
    drawn = set(
        study.items_drawn_by_settings(
            given, model["name"] if model["origin"] == "bundled" else ""
        )
    )
    asked = set(answers["item"])
    if drawn != asked:
        raise UserError(
            f"its settings draw {len(drawn)} questions from the atlas, and its answers are about "
            f"{len(asked)}, {len(asked - drawn)} of which are not among them"
        )
    objects = datasets.load("atlas").set_index("fact")["object"]
    counted = member(study, "right")(answers)
    for item, text in zip(counted["item"], counted["right"], strict=True):
        if text != objects.get(item, ""):
            raise UserError(
                f"it counts {text!r:.60} as right of {item}, and the atlas another"
            )
