"""A one-page report of runs: HTML, and Markdown with the hub's metadata."""

import html
import re
from collections.abc import Callable
from pathlib import Path

import jinja2
import yaml
from huggingface_hub import (
    EvalResult,
    EvalResultEntry,
    ModelCard,
    ModelCardData,
    eval_result_entries_to_yaml,
)

from helpers import printable_line, reraise_failed_write
from helpers.datasets.registry import SOURCES
from helpers.exchange.record import Record, record_file_name, reported_measures
from helpers.stats.results import interval
from helpers.studies import STUDIES, Measure, default_settings

TEMPLATES_FOLDER = Path(__file__).parent
ORIGIN_NAMES = {
    "bundled": "the book's own models",
    "hub": "the Hugging Face hub",
    "folder": "a folder",
    "server": "a server",
}
DIRECTION_NAMES: dict[bool | None, str] = {
    True: " (higher is better)",
    False: " (lower is better)",
}
COMMON_SETTINGS = (  # of all studies
    *("prompt_format", "dtype", "seed", "n_bootstrap", "server_differences"),
)


def write_report_card(record: Record, folder: str | Path) -> list[Path]:
    """Write the card of a record (`helpers.exchange.describe_runs`) as two files.

    Runs on data sets of the hub give a third one, for `.eval_results` of the model.
    """
    page = _page(record)
    metadata = ModelCardData(
        model_name=page["name"], eval_results=hub_evaluation_results(record) or None
    )
    body = _rendered("card.md.jinja", page, _markdown)
    card = ModelCard(f"---\n{metadata.to_yaml()}\n---\n\n{body}\n")
    texts = {"md": str(card), "html": _rendered("card.html.jinja", page, _html)}
    stem = record_file_name(record)
    files = {Path(folder) / f"{stem}.{ending}": text for ending, text in texts.items()}
    entries = eval_result_entries_to_yaml(_entries_on_hub_datasets(record))
    if entries:
        path = Path(folder) / ".eval_results" / f"{stem}.yaml"
        files[path] = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    paths = list(files)
    with reraise_failed_write(paths[0], "give another --folder"):
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return paths


def hub_evaluation_results(record: Record) -> list[EvalResult]:
    """Return the measures that are defined as the hub's metadata have them."""
    results = []
    for name, run in record["runs"].items():
        for measure, reported in reported_measures(name, run):
            if reported["estimate"] is not None:
                results.append(_hub_result(name, run, measure, reported))
    return results


def _entries_on_hub_datasets(record: Record) -> list[EvalResultEntry]:
    """Return the measures of runs on data sets of the hub, as `.eval_results` has them.

    A task's id is the study and the measure, such as ``monitor_base``; the hub shows an
    entry if the data set knows this id.
    """
    entries = []
    for name, run in record["runs"].items():
        source = SOURCES.get(run["dataset"]["name"])
        if source is None or not source.hub_id:
            continue
        for measure, reported in reported_measures(name, run):
            if reported["estimate"] is None:
                continue
            entry = EvalResultEntry(
                dataset_id=source.hub_id,
                dataset_revision=source.version,
                task_id=f"{name}_{measure.name}",
                value=reported["estimate"],
                date=run["finished"],
                notes=_entry_note(measure, reported),
            )
            entries.append(entry)
    return entries


def _entry_note(measure: Measure, reported: Record) -> str:
    """Return what a number is, and how sure it is."""
    about = measure.title + DIRECTION_NAMES.get(measure.higher, "")
    if reported["low"] is not None:
        about += f"; interval of 95 %: {reported['low']:.4g} to {reported['high']:.4g}"
    return f"{about}; {reported['n']} {measure.counts}"


def _hub_result(
    name: str, run: Record, measure: Measure, reported: Record
) -> EvalResult:
    """Return a measure of a run as the hub's metadata have it."""
    dataset = run["dataset"]
    details = {}
    for key in ("low", "high", "n"):
        if reported[key] is not None:
            details[key] = reported[key]
    return EvalResult(
        task_type="text-generation",
        task_name=_title(name),
        dataset_type=printable_line(dataset["name"]),
        dataset_name=printable_line(_dataset_title(dataset)),
        dataset_config=name,
        metric_type=measure.name,
        metric_name=measure.title + DIRECTION_NAMES.get(measure.higher, ""),
        metric_value=reported["estimate"],
        metric_args=details,
    )


def _page(record: Record) -> Record:
    """Return what the templates show, as texts that nothing has been escaped in."""
    model = record["model"]
    runs = record["runs"]
    draws = {run["parameters"].get("n_bootstrap", 1000) for run in runs.values()}
    return {
        "name": printable_line(model["name"]),
        "about": _about(model),
        "studies": [_study(name, runs[name]) for name in STUDIES if name in runs],
        "missing": [_title(name) for name in STUDIES if name not in runs],
        "sums": _checksums(model, runs),
        "versions": sorted({_versions(run) for run in runs.values()}),
        "draws": sorted(draws),
    }


def _about(model: Record) -> dict[str, str]:
    """Return what is known of a model."""
    n_parameters = model.get("n_parameters")
    about = {
        "from": ORIGIN_NAMES[model["origin"]],
        "revision": model["revision"],
        "adapter of": model.get("base"),
        "architecture": model.get("architecture"),
        "parameters": f"{n_parameters:,}" if n_parameters else None,
    }
    return {key: value for key, value in about.items() if value}


def _checksums(model: Record, runs: Record) -> dict[str, str]:
    """Return the checksums of a model, of its answers and of their data sets."""
    sums = {"weights": model["weights_sha"] or "not known, the model is on a server"}
    if model.get("files_sha"):
        sums["settings, tokenizer, code"] = model["files_sha"]
    for name, run in runs.items():
        sums[f"answers, {_title(name)}"] = run["answers"]["sha256"]
    for run in runs.values():
        dataset = run["dataset"]
        sums[f"data set {dataset['name']}"] = dataset["checksum"] or "none"
    return sums


def _versions(run: Record) -> str:
    """Return the packages of a run with their versions."""
    return ", ".join(map(" ".join, (run["versions"] or {}).items()))


def _study(name: str, run: Record) -> Record:
    """Return what the templates show of one study's run."""
    rows = []
    for measure, reported in reported_measures(name, run):
        row = {
            "heading": measure.heading,
            "value": _value(measure, reported),
            "n": f"{reported['n']:,} {measure.counts}",
            "meaning": measure.meaning,
        }
        rows.append(row)
    return {
        "title": _title(name),
        "rows": rows,
        "dataset": _dataset_title(run["dataset"]),
        "settings": _settings(name, run),
        "answers": f"{run['answers']['rows']:,}",
        "cost": _cost(run),
        "finished": (run["finished"] or "")[:10],
    }


def _settings(name: str, run: Record) -> str:
    """Return the settings of a study that are not empty."""
    settings = dict(run["parameters"])
    for key, value in run["model"].items():
        if value:
            settings[key] = value
    texts = []
    for key in dict.fromkeys([*default_settings(STUDIES[name]), *COMMON_SETTINGS]):
        if settings.get(key) not in (None, "", []):
            texts.append(f"{key} {_setting(settings[key])}")
    return ", ".join(texts)


def _cost(run: Record) -> str:
    """Return the prompts, tokens, seconds and memory of a run, and its device."""
    costs = []
    for unit in ("prompts", "tokens"):
        count = run["cost"][unit]
        if count is not None:
            costs.append(f"{count:,} {unit}")
    if not costs:
        costs.append("prompts and tokens not counted")
    if run.get("seconds") is not None:
        costs.append(f"{run['seconds']:,.0f} s")
    memory = run.get("peak_memory_mib")
    if memory:
        costs.append(f"{max(memory.values()):,.0f} MiB")
    if run.get("device"):
        costs.append(run["device"])
    return ", ".join(costs)


def _value(measure: Measure, reported: Record) -> str:
    """Return a measure with its interval, or why it is undefined."""
    if reported["estimate"] is not None:
        digits, scale = (1, 100) if measure.percent else (3, 1)
        return interval(
            reported["estimate"],
            reported["low"],
            reported["high"],
            digits=digits,
            scale=scale,
        )
    if reported["n"]:
        return (
            f"undefined: none of {reported['n']} {measure.counts} is of the kind that "
            "is averaged"
        )
    return f"undefined: none of the {measure.counts} counts"


def _setting(value: object) -> str:
    """Return a setting as text, a list with spaces between its parts."""
    if isinstance(value, list):
        return " ".join(map(_setting, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _title(name: str) -> str:
    """Return a study's title with a capital letter."""
    title = STUDIES[name].TITLE
    return title[:1].upper() + title[1:]


def _dataset_title(dataset: Record) -> str:
    """Return a data set's title, or its name."""
    return dataset.get("title") or dataset["name"]


def _rendered(template: str, page: Record, escape: Callable[[object], str]) -> str:
    """Return a filled template; all that is put into it goes through `escape`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES_FOLDER),
        finalize=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(page)


def _html(value: object) -> str:
    """Return a text that HTML takes for nothing else."""
    return html.escape(printable_line(value))


def _markdown(value: object) -> str:
    r"""Return a text that Markdown takes for nothing else.

    >>> _markdown("<b> n_facts | [x](y)")
    '\\<b\\> n\\_facts \\| \\[x\\](y)'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", printable_line(value))
