"""Small saved runs of the four measures' chapters, as their notebooks leave them, without a model.

A model is right where its ability exceeds the difficulty of a fact; the numbers that a
chapter saves for the run are worked out here in numpy, apart from the code under test.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import runs
from helpers.datasets.registry import SOURCES
from helpers.datasets.seen_questions import PUBLISHED_SOURCES
from helpers.runs.panel import panel_answers, panel_asking

DATASET = {"name": "atlas", "checksum": "cd" * 32}
RELATIONS = ("P17", "P36", "P30")


def dataset_with_checksum(name: str) -> dict[str, str]:
    """Return the name of a data set with the checksum of its published files."""
    files = PUBLISHED_SOURCES if name == "seen_qa" else [name]
    return {
        "name": name,
        "checksum": "; ".join(getattr(SOURCES.get(f), "known", "") for f in files),
    }


def made_up_facts(n: int = 8, first: int = 0) -> pd.DataFrame:
    """Return n facts of each relation with a difficulty between 0 and 1."""
    rows = [(f"{r}-{i:04d}", r) for r in RELATIONS for i in range(first, first + n)]
    table = pd.DataFrame(rows, columns=["item", "relation"])
    hard = np.random.default_rng(first).permutation(len(table))
    return table.assign(hard=(hard + 0.5) / len(table))


def write_made_up_runs(
    folder: Path,
    model: str,
    ability: float,
    chapters: tuple[str, ...] = (
        "monitor",
        "knowledge_base",
        "latent_knowledge",
        "multiplicity",
    ),
    size: int = 1_000_000,
    n: int = 8,
    first: int = 0,
    versions: dict[str, str] | None = None,
    heeds: bool = True,
    prompt_format: str | None = "bare",
    panel: int = 0,
    **parameters: object,
) -> None:
    """Save a run of each chapter in folder/model/chapter.

    A model that does not heed the hint has no MONITOR; ``prompt_format`` is how it was
    asked, and None for a run of the time before there were formats. With a `panel` it
    was also asked so many other facts of each relation.
    """
    table, others = made_up_facts(n, first), made_up_facts(panel, first=100)
    right = (table["hard"] < ability).to_numpy()
    makers = {
        "monitor": partial(_monitor, heeds=heeds),
        "knowledge_base": _responses,
        "latent_knowledge": _latent,
        "multiplicity": _choices,
    }
    for chapter in chapters:
        given = {
            "model": model,
            "dataset": "atlas",
            "seed": 0,
            "n_facts": n,
            **parameters,
        }
        extra, answers, metrics = makers[chapter](table, right)
        run = runs.start(
            chapter, given | extra, folder / model.replace("/", "--") / chapter
        )
        about = {"name": model, "n_parameters": size, "weights_sha": f"sha of {model}"}
        about |= {"prompt_format": prompt_format} if prompt_format else {}
        told = {} if versions is None else {"versions": versions}
        if panel:
            besides = makers[chapter](others, (others["hard"] < ability).to_numpy())[1]
            about_panel = {
                "settings": given | extra,
                "version": panel_asking.PANEL_VERSION,
            }
            told["panel"] = panel_answers.save_panel_answers(
                run.folder, besides, about_panel
            )
        source = DATASET | (
            dataset_with_checksum(parameters["dataset"])
            if "dataset" in parameters
            else {}
        )
        saved = {
            "answers": answers,
            "metrics": metrics,
            "model": about,
            "dataset": source,
        }
        runs.save(run, **saved, extra=told)


def _run_rows(**figures: float) -> pd.DataFrame:
    rows = [("run", "all", name, value) for name, value in figures.items()]
    table = pd.DataFrame(rows, columns=["level", "relation", "measure", "estimate"])
    return table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1, n=1)


def _monitor(
    table: pd.DataFrame, right: np.ndarray, heeds: bool
) -> tuple[dict, pd.DataFrame, pd.DataFrame]:
    """Anchors of 0.8 with the hint; 0.6 in both frames; 0.5 after a wrong word: PFD .2, IRD .3."""
    rows, odd = [], np.arange(len(table)) % 5 == 4  # every fifth fact does not count
    for item, relation, good, skipped in zip(
        table["item"], table["relation"], right, odd
    ):
        for variant, p in (
            ("right", 0.8),
            ("frame0", 0.6),
            ("frame1", 0.6),
            ("wrong0", 0.5),
        ):
            said = (
                good
                if variant.startswith("frame")
                else variant == "right" and heeds > skipped
            )
            rows.append(
                (item, relation, variant, [np.log(p)], ["x"], "Fr" if said else "No")
            )
    columns = ["item", "relation", "variant", "logprobs", "tokens", "text"]
    answers = pd.DataFrame(rows, columns=columns).assign(
        object="Fr", continuation=" Fr"
    )
    answers["prompt"] = answers["item"] + " " + answers["variant"]
    deviation = np.sqrt((0.2**2 + 0.3**2 + 0.2 * 0.3) / 3)
    whole = deviation / 0.8 if heeds else np.nan
    metrics = _run_rows(MONITOR=whole, base=right.mean(), average=right.mean() * 2 / 3)
    alphas = [1 / 3, 1 / 3, 1 / 3]
    given = {"match": "exact_match", "anchor_mode": "teacher_forced", "alphas": alphas}
    return given, answers, metrics


def _responses(
    table: pd.DataFrame, right: np.ndarray
) -> tuple[dict, pd.DataFrame, pd.DataFrame]:
    """Half of the questions are unseen, where a good model is silent; Cons .8 right, .4 wrong."""
    seen = np.arange(len(table)) % 2 == 0
    label = np.where(right, np.where(seen, "correct", "uninformative"), "wrong")
    consistency = np.select([label == "correct", label == "wrong"], [0.8, 0.4], np.nan)
    answers = table[["item"]].assign(seen=seen, label=label, consistency=consistency)
    texts = {"correct": "Peru", "wrong": "Chad", "uninformative": "unsure"}
    answers = answers.assign(
        text=[texts[each] for each in label], group=table["relation"]
    )
    answers["kind"] = np.where(label == "uninformative", "unsure", label)
    answers = answers.assign(question="Where is it?", answers=[["Peru"]] * len(answers))
    answers["stratum"] = table["relation"] + np.where(seen, ", seen", ", unseen")
    both = [answers.assign(variant=name) for name in ("zero-shot", "four-shot")]
    net = right[seen].mean() - (1 - right[seen].mean())
    sure, unsure = (
        (0.8 if (label == "correct").any() else np.nan),
        (0.4 if (label == "wrong").any() else np.nan),
    )
    metrics = _run_rows(NCR=net, UR=right[~seen].mean(), Cons_c=sure, Cons_w=unsure)
    return (
        {"setting": "four-shot"},
        pd.concat(both),
        metrics.assign(relation="four-shot"),
    )


def _latent(
    table: pd.DataFrame, right: np.ndarray
) -> tuple[dict, pd.DataFrame, pd.DataFrame]:
    """Of two choices, the true one has probability 0.7 where right, else 0.2."""
    mass = np.where(right, 0.7, 0.2)
    rows = [
        (item, relation, option, name, option == 0, [np.log(p)])
        for item, relation, true in zip(table["item"], table["relation"], mass)
        for option, (name, p) in enumerate((("Peru", true), ("Chad", 1 - true)))
    ]
    columns = ["item", "relation", "option", "choice", "correct", "logprobs"]
    answers = pd.DataFrame(rows, columns=columns).assign(variant="ic", part="lists")
    return {}, answers, _run_rows(right=right.mean(), mass=mass.mean())


def _choices(
    table: pd.DataFrame, right: np.ndarray
) -> tuple[dict, pd.DataFrame, pd.DataFrame]:
    """Every third question is unsteady; of the others some are steadily right, others wrong.

    Of ten prompts a steady answer comes in nine: 36 of 45 pairs agree; an unsteady one
    in five.
    """
    shaky = np.arange(len(table)) % 3 == 0
    hits = np.select([shaky, right], [5, 9], 1)
    rows = [
        (
            item,
            relation,
            kind,
            variation,
            option,
            name,
            option == 0,
            [-0.1 - (option != chosen)],
        )
        for item, relation, good in zip(table["item"], table["relation"], hits)
        for kind in ("frames", "order")
        for variation in range(10)
        for chosen in [0 if variation < good else 1]
        for option, name in enumerate(("Peru", "Chad"))
    ]
    columns = [
        "item",
        "relation",
        "kind",
        "variation",
        "option",
        "text",
        "correct",
        "logprobs",
    ]
    answers = pd.DataFrame(rows, columns=columns).assign(answer=0)
    answers["continuation"] = " " + answers["text"]
    answers["variant"] = answers["kind"] + answers["variation"].astype(str)
    answers["prompt"] = answers["variant"]
    main = _run_rows(
        accuracy=(hits / 10).mean(),
        self_consistency=np.where(shaky, 20 / 45, 36 / 45).mean(),
        factuality=(right & ~shaky).mean(),
        randomness=shaky.mean(),
        error=(~right & ~shaky).mean(),
    )
    return {}, answers, main.assign(kind="frames")
