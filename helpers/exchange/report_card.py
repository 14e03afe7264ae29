"""A one-page report of a model's runs, as HTML and as Markdown with the hub's metadata."""

import html
import re
from pathlib import Path
from typing import Any

import jinja2
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from helpers import printable_line, reraise_failed_write
from helpers.exchange.record import Record, measured, record_file_name
from helpers.stats.results import interval
from helpers.studies import STUDIES, Measure, default_settings

TEMPLATES_FOLDER = Path(__file__).parent
ORIGIN_NAMES = {"bundled": "the book's own models", "hub": "the Hugging Face hub"}
ORIGIN_NAMES |= {"folder": "a folder", "server": "a server"}
COMMON_SETTINGS = (
    "prompt_format",
    "dtype",
    "seed",
    "n_bootstrap",
)  # settings of all studies


def write_report_card(record: Record, folder: str | Path) -> list[Path]:
    """Write the card of a record (`helpers.exchange.describe_runs`) and return its two files."""
    page = _page(record)
    metadata = ModelCardData(
        model_name=page["name"], eval_results=hub_evaluation_results(record) or None
    )
    text = f"---\n{metadata.to_yaml()}\n---\n\n{_rendered('card.md.jinja', page, _markdown)}\n"
    texts = {
        "md": str(ModelCard(text)),
        "html": _rendered("card.html.jinja", page, _html),
    }
    paths = [Path(folder) / f"{record_file_name(record)}.{ending}" for ending in texts]
    with reraise_failed_write(paths[0], "give another --folder"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts.values()):
            path.write_text(text, encoding="utf-8")
    return paths


def hub_evaluation_results(record: Record) -> list[EvalResult]:
    """Return the measures as the hub's metadata have them, without those that are undefined."""
    return [
        EvalResult(
            task_type="text-generation",
            task_name=_title(name),
            dataset_type=printable_line(run["dataset"]["name"]),
            dataset_name=printable_line(
                run["dataset"].get("title") or run["dataset"]["name"]
            ),
            dataset_config=name,
            metric_type=measure.name,
            metric_name=measure.title
            + {True: " (higher is better)", False: " (lower is better)"}.get(
                measure.higher, ""
            ),
            metric_value=found["estimate"],
            metric_args={
                key: found[key]
                for key in ("low", "high", "n")
                if found[key] is not None
            },
        )
        for name, run in record["runs"].items()
        for measure, found in measured(name, run)
        if found["estimate"] is not None
    ]


def _page(record: Record) -> Record:
    """Return what the templates show, as texts that nothing has been escaped in."""
    model, runs = record["model"], record["runs"]
    size = model.get("n_parameters")
    about = {
        "from": ORIGIN_NAMES[model["origin"]],
        "revision": model["revision"],
        "adapter of": model.get("base"),
        "architecture": model.get("architecture"),
        "parameters": f"{size:,}" if size else None,
    }
    sums = {"weights": model["weights_sha"] or "not known, the model is on a server"}
    sums |= (
        {"settings, tokenizer, code": model["files_sha"]}
        if model.get("files_sha")
        else {}
    )
    sums |= {
        f"answers, {_title(name)}": run["answers"]["sha256"]
        for name, run in runs.items()
    }
    versions = [run["versions"] or {} for run in runs.values()]
    for run in runs.values():
        sums[f"data set {run['dataset']['name']}"] = (
            run["dataset"]["checksum"] or "none"
        )
    return {
        "name": printable_line(model["name"]),
        "about": {key: value for key, value in about.items() if value},
        "studies": [_study(name, runs[name]) for name in STUDIES if name in runs],
        "missing": [_title(name) for name in STUDIES if name not in runs],
        "sums": sums,
        "versions": sorted({", ".join(map(" ".join, v.items())) for v in versions}),
        "draws": sorted(
            {run["parameters"].get("n_bootstrap", 1000) for run in runs.values()}
        ),
    }


def _study(name: str, run: Record) -> Record:
    given = run["parameters"] | {k: v for k, v in run["model"].items() if v}
    taken = dict.fromkeys([*default_settings(STUDIES[name]), *COMMON_SETTINGS])
    cost, memory = run["cost"], (run.get("peak_memory_mib") or {}).values()
    counts = [
        f"{cost[what]:,} {what}"
        for what in ("prompts", "tokens")
        if cost[what] is not None
    ]
    costs = [
        *(counts or ["prompts and tokens not counted"]),
        "" if run.get("seconds") is None else f"{run['seconds']:,.0f} s",
        f"{max(memory):,.0f} MiB" if memory else "",
        run.get("device") or "",
    ]
    rows = [
        {
            "heading": measure.heading,
            "value": _value(measure, found),
            "n": f"{found['n']:,} {measure.counts}",
            "meaning": measure.meaning,
        }
        for measure, found in measured(name, run)
    ]
    return {
        "title": _title(name),
        "rows": rows,
        "dataset": run["dataset"].get("title") or run["dataset"]["name"],
        "settings": ", ".join(
            f"{key} {_setting(given[key])}"
            for key in taken
            if given.get(key) not in (None, "", [])
        ),
        "answers": f"{run['answers']['rows']:,}",
        "cost": ", ".join(filter(None, costs)),
        "finished": (run["finished"] or "")[:10],
    }


def _value(measure: Measure, found: Record) -> str:
    """Write a measure with its interval, or why it is undefined."""
    if found["estimate"] is None:
        none = f"none of {found['n']} {measure.counts} is of the kind that is averaged"
        return f"undefined: {none if found['n'] else f'none of the {measure.counts} counts'}"
    form = {"digits": 1, "scale": 100} if measure.percent else {"digits": 3}
    return interval(*(found[key] for key in ("estimate", "low", "high")), **form)


def _setting(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_setting, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _title(name: str) -> str:
    title = STUDIES[name].TITLE
    return title[:1].upper() + title[1:]


def _rendered(template: str, page: Record, escaped: Any) -> str:
    """Fill a template in; all that is put into it goes through `escaped`."""
    loader, strict = jinja2.FileSystemLoader(TEMPLATES_FOLDER), jinja2.StrictUndefined
    blocks = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(
        loader=loader, finalize=escaped, undefined=strict, **blocks
    )
    return environment.get_template(template).render(page)


def _html(value: object) -> str:
    return html.escape(printable_line(value))


def _markdown(value: object) -> str:
    r"""Return a text that Markdown takes for nothing else.

    >>> _markdown("<b> n_facts | [x](y)")
    '\\<b\\> n\\_facts \\| \\[x\\](y)'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", printable_line(value))
