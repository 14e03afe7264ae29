"""Check an archive of runs: form, files, settings, and each measure computed again.

Measures must follow from the answers, and the atlas's answers fit the questions that
the settings name. That they are the answers of that model cannot be shown.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pandas as pd

from helpers import UserError, datasets, first_line_of_error, printable_line, stats
from helpers.exchange import archive, record
from helpers.exchange.record import ARCHIVE_FORMAT_VERSION, Record, SharedRuns
from helpers.studies import STUDIES, member

SCHEMA_FILE = Path(__file__).with_name("schema.json")
MEASURE_TOLERANCE = 1e-9  # sums may be taken in another order on another machine
LONGEST_REASON = 160  # characters of a schema's message


class VerifiedRun(NamedTuple):
    """A run that was checked: its study, how many answers, how many measures hold.

    ``added`` are the study's measures that the archive lacks, computed from its
    answers: it was packed before there were these. ``recomputed`` are those to which
    older definitions gave another figure; that of today replaces it.
    """

    study: str
    answers: int
    measures: int
    added: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()


def verify_archive(path: str | Path) -> tuple[SharedRuns, list[VerifiedRun]]:
    """Return what is in an archive and what of it was verified."""
    name = Path(path).name
    try:
        if name.startswith("."):  # no glob of a shell would have shown it
            raise UserError("its name begins with a dot")
        shared = archive.read_archive(path)
        _check_format(shared.record)
        _check_schema(shared.record)
        _check_files(shared)
        return shared, [_verified_run(shared, study) for study in shared.record["runs"]]
    except UserError as error:
        reason = printable_line(str(error).rstrip("."))
        raise UserError(f"{printable_line(name)} is refused: {reason}.") from error


def shared_runs(place: str | Path) -> SharedRuns:
    """Return what is public of a folder of runs, or what is in a verified archive."""
    if Path(place).is_file():
        return verify_archive(place)[0]
    return record.describe_runs(place)


def _check_format(manifest: Any) -> None:
    """Refuse a manifest that another version of the package has to read."""
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != ARCHIVE_FORMAT_VERSION and isinstance(version, int):
        raise UserError(
            f"it is of format {version}, and this version of the package reads "
            f"{ARCHIVE_FORMAT_VERSION}"
        )


def _check_schema(manifest: Record) -> None:
    """Refuse a manifest that does not fit the schema."""
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(manifest)
    worst = jsonschema.exceptions.best_match(errors)
    if worst is None:
        return
    place = "/".join(map(str, worst.absolute_path)) or "its top"
    reason = worst.message
    if len(reason) >= LONGEST_REASON:
        reason = f"{reason[:LONGEST_REASON]}…"
    raise UserError(f"its manifest does not fit the schema at {place}: {reason}")


def _check_files(shared: SharedRuns) -> None:
    """Compare the manifest's checksum, studies and files with what is there."""
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
        differing = sorted(set(named) ^ set(shared.files)) or named
        raise UserError(
            f"its manifest does not name once what it holds: see {', '.join(differing)}"
        )
    for run in runs.values():
        file = run["answers"]["file"]
        reported = run["answers"]["sha256"]
        digest = hashlib.sha256(shared.files[file]).hexdigest()
        if digest != reported:
            raise UserError(
                f"{file} has the SHA-256 {digest[:8]}…, and its manifest says "
                f"{reported[:8]}…: it is not the file that was packed"
            )


def _verified_run(shared: SharedRuns, study: str) -> VerifiedRun:
    """Compare what the manifest says of one run with its answers.

    The record of the run then has the measures and intervals of today.
    """
    run = shared.record["runs"][study]
    try:
        answers = shared.answers(study)
        _check_columns(study, answers)
        _check_counts(run, answers)
        _check_settings(study, run, shared.record["model"], answers)
        _check_names_of_measures(study, run["measures"])
        computed = record.measures_from_answers(study, run["parameters"], answers)
        recomputed: tuple[str, ...] = ()
        if record.has_older_definitions(study, run):
            recomputed = _names_of_differing_measures(run, computed)
        else:
            _check_measures(run, computed)
    except UserError as error:
        raise UserError(f"{study}: {error}") from error
    except Exception as error:  # a table that is not a study's may fail in any way
        raise UserError(
            f"{study}: its answers cannot be measured "
            f"({type(error).__name__} {first_line_of_error(error)})"
        ) from error
    reported = {measure["measure"] for measure in run["measures"]}
    names = [measure["measure"] for measure in computed]
    added = tuple(name for name in names if name not in reported)
    run["measures"] = computed
    n_holding = len(computed) - len(added) - len(recomputed)
    return VerifiedRun(study, len(answers), n_holding, added, recomputed)


def _check_columns(study: str, answers: pd.DataFrame) -> None:
    """Refuse columns that the study's answers do not have."""
    unknown = set(answers) - set(record.public_columns(study, answers))
    if unknown:
        raise UserError(
            f"its answers have the column {min(unknown)!r:.60}, which those of the "
            "study do not have"
        )


def _check_counts(run: Record, answers: pd.DataFrame) -> None:
    """Refuse a number of answers that is not theirs or 0, and two seeds."""
    n_reported = run["answers"]["rows"]
    if answers.empty:
        raise UserError("it holds no answers")
    if len(answers) != n_reported:
        raise UserError(
            f"its manifest says {n_reported} answers, and it holds {len(answers)}"
        )
    seeds = {run["seed"], run["parameters"].get("seed")}
    if len(seeds) > 1:
        raise UserError("its manifest gives two seeds")


def _check_names_of_measures(study: str, reported: list[Record]) -> None:
    """Refuse a list that is empty, or has a name twice or one that the study lacks."""
    known = [measure.name for measure in STUDIES[study].MEASURES]
    names = [measure["measure"] for measure in reported]
    if not names:
        raise UserError(
            f"its list of measures is empty: name some of {', '.join(known)}"
        )
    for name in names:
        if name not in known:
            raise UserError(
                f"{name!r:.60} is no measure of the study, which has {', '.join(known)}"
            )
        if names.count(name) > 1:
            raise UserError(f"it reports {name} twice")


def _names_of_differing_measures(
    run: Record, computed: list[Record]
) -> tuple[str, ...]:
    """Return the names of the measures that have another estimate or number today."""
    reported = {measure["measure"]: measure for measure in run["measures"]}
    names = []
    for measure in computed:
        older = reported.get(measure["measure"], measure)
        for key in ("estimate", "n"):
            if not _same(older[key], measure[key]):
                names.append(measure["measure"])
                break
    return tuple(names)


def _check_measures(run: Record, computed: list[Record]) -> None:
    """Refuse a measure that differs from the one computed from the answers."""
    # Intervals of an older way to draw them differ.
    skipped: tuple[str, ...] = ("low", "high")
    if (run["versions"] or {}).get("intervals") == stats.INTERVALS_VERSION:
        skipped = ()
    reported = {measure["measure"]: measure for measure in run["measures"]}
    for measure in computed:
        name = measure["measure"]
        if name not in reported:
            continue
        for key, value in measure.items():
            reported_value = reported[name][key]
            if key not in skipped and not _same(reported_value, value):
                raise UserError(
                    f"{name} is reported with {key} {_figure(reported_value)}, "
                    f"and its answers give {_figure(value)}"
                )


def _same(reported: object, computed: object) -> bool:
    """Return whether two values of a measure are equal, numbers within a tolerance."""
    if isinstance(reported, float | int) and isinstance(computed, float | int):
        return math.isclose(
            reported, computed, rel_tol=MEASURE_TOLERANCE, abs_tol=MEASURE_TOLERANCE
        )
    return reported == computed


def _figure(value: object) -> str:
    """Return a value as an error shows it."""
    if value is None:
        return "undefined"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _check_settings(
    name: str, run: Record, model: Record, answers: pd.DataFrame
) -> None:
    """Refuse settings that other answers would follow from, and other right answers."""
    study: Any = STUDIES[name]  # two of these members are not every study's
    if not hasattr(study, "size_settings_of_answers"):
        return
    settings = run["parameters"]
    if "part" in answers:  # of a chapter's run: without the close-ups
        answers = answers[answers["part"] == "lists"]
    _check_sizes(settings, study.size_settings_of_answers(answers))
    atlas = datasets.source_record("atlas")
    if run["dataset"]["checksum"] != atlas["checksum"]:
        return
    name_in_atlas = model["name"] if model["origin"] == "bundled" else ""
    items = study.items_drawn_by_settings(settings, name_in_atlas)
    _check_items(set(answers["item"]), set(items))
    _check_right_answers(member(study, "right")(answers))


def _check_sizes(settings: Record, shown: dict[str, int]) -> None:
    """Refuse settings that ask for less than the answers show."""
    for name, size in shown.items():
        most = settings.get(name) or math.inf  # 0 takes all
        if size > most:
            raise UserError(
                f"its settings say {name}={most}, and its answers hold {size}"
            )


def _check_items(answered: set[str], items: set[str]) -> None:
    """Refuse answers about other items of the atlas than the settings draw."""
    if items != answered:
        raise UserError(
            f"its settings draw {len(items)} questions from the atlas, and its answers "
            f"are about {len(answered)}, {len(answered - items)} of which are not "
            "among them"
        )


def _check_right_answers(counted: pd.DataFrame) -> None:
    """Refuse texts that are counted as right, and that the atlas has not."""
    objects = datasets.load("atlas").set_index("fact")["object"]
    for item, text in zip(counted["item"], counted["right"], strict=True):
        if text != objects.get(item, ""):
            raise UserError(
                f"it counts {text!r:.60} as right of {item}, and the atlas another"
            )
