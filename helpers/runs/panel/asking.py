"""Ask a chapter's questions about the panel's facts, with the settings of the chapter's run."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd

from helpers import datasets, probing, prompts, runs
from helpers.datasets import multiple_choice
from helpers import UserError
from helpers.metrics import accuracy, canonical, responses
from helpers.metrics import knowledge_base as kb
from helpers.models import LanguageModel
from helpers.runs.panel import reading
from helpers.probing import prompt_formats
from helpers.prompts import consistency, lists, shots, variations

VERSION = 2  # of these ways of asking: raise it with every change that changes answers
SETTINGS = {  # what else the answers, or the verdicts on them, depend on
    "monitor": ("prompt_format", "n_frames", "match", "alphas"),
    "knowledge_base": (
        *("prompt_format", "setting", "retriever", "max_new_tokens", "match"),
        *("n_choices", "n_options", "choose_by", "as_of"),
    ),
    "latent_knowledge": ("n_examples", "n_choices", "separator"),
    "multiplicity": (
        *("prompt_format", "n_options", "n_variations"),
        *("rule", "tau", "replacement", "correct_by"),
    ),
}

Asked = tuple[pd.DataFrame, list[dict[str, int]]]


def ask(run: runs.Run, lm: LanguageModel) -> dict[str, Any] | None:
    """Ask the panel as the run's chapter asks, and save the answers in the run's folder."""
    given = run.parameters
    if given["n_panel"] < 0:
        raise UserError(f"n_panel is {given['n_panel']}: give a number of facts, or 0 for none.")
    if not given["n_panel"] or given["dataset"] != "atlas" or datasets.training(lm.name) is None:
        return None
    facts = datasets.panel(given["n_panel"], given["seed"])
    answers, work = WAYS[run.chapter](run, lm, facts)
    total: Counter[str] = Counter()
    for part in work:
        total.update(part)
    used = given | {"prompt_format": lm.prompt_format}
    kept = {name: used[name] for name in (*SETTINGS[run.chapter], "seed")}
    return reading.save(run.folder, answers, {"settings": kept, "version": VERSION, **total})


def _monitor(run: runs.Run, lm: LanguageModel, facts: pd.DataFrame) -> Asked:
    """Score every prompt of MONITOR, and let the model answer where the answer stands before."""
    frames = datasets.frames("atlas", facts["relation"].unique())
    wrap = prompt_formats.wrapper(lm, "atlas", facts, run.parameters["seed"])
    probes = wrap(prompts.monitor(facts, frames, run.parameters["n_frames"]))
    scored = probing.score(lm, probes, cache=run.cache)
    right = probes[probes["variant"] == "right"]
    said = probing.generate(lm, right, cache=run.cache)
    scored["text"] = said["text"].reindex(scored.index)
    return scored, [probing.work(lm, probes), spoken(lm, said)]


def _knowledge_base(run: runs.Run, lm: LanguageModel, facts: pd.DataFrame) -> Asked:
    """Let the model respond in the setting in focus, then ask each response again by choice."""
    given = run.parameters
    bank = datasets.knowledge(
        "atlas", lm.name, as_of=given["as_of"], seed=given["seed"], only=set(facts["fact"])
    )
    asked = shots.ask(
        bank.asked, given["setting"], bank.seen_shots, bank.unseen_shots, given["retriever"]
    )
    length = given["max_new_tokens"]
    said = probing.generate(lm, asked, length, ["\n", "QUESTION"], cache=run.cache)
    said = responses.mark(said, given["match"])
    replies, work = consistency.replies(said), [spoken(lm, said)]
    if len(replies):
        pools = consistency.pools(bank.pool)
        wrong = consistency.distractors(
            replies, pools, seed=given["seed"], spelling=canonical.canonical
        )
        again = consistency.choices(
            replies.assign(distractors=wrong),
            given["n_choices"],
            given["n_options"],
            given["choose_by"],
            given["seed"],
        )
        marked = accuracy.mark_choices(probing.score(lm, again, cache=run.cache))
        said, work = kb.add_consistency(said, marked), [*work, probing.work(lm, again)]
    return said, work


def _latent_knowledge(run: runs.Run, lm: LanguageModel, facts: pd.DataFrame) -> Asked:
    """Put each fact behind a list of its relation that tells of no subject of the panel."""
    given, every = run.parameters, datasets.load("atlas", seed=run.parameters["seed"])
    pool = lists.split(every, seed=given["seed"]).query("role == 'example'")
    subjects = pd.MultiIndex.from_frame(facts[["relation", "subject"]])
    pool = pool[~pd.MultiIndex.from_frame(pool[["relation", "subject"]]).isin(subjects)]
    options = lists.choices(facts, every, given["n_choices"], given["seed"])
    options = datasets.offered(options, facts)
    probes = lists.ic_lke(
        facts, pool, options, given["n_examples"], given["separator"], given["seed"]
    )
    return probing.score(lm, probes, cache=run.cache), [probing.work(lm, probes)]


def _multiplicity(run: runs.Run, lm: LanguageModel, facts: pd.DataFrame) -> Asked:
    """Choose an option in every wording of the question (the kind ``frames``)."""
    given = run.parameters
    bench = multiple_choice.atlas.load(
        "atlas", None, given["seed"], given["n_options"], None, lm.name, set(facts["fact"])
    )
    frames = datasets.frames("atlas")
    ways, *_ = variations.plan(
        bench.items, ["frames"], given["n_variations"], bench.pool, 0, frames
    )
    probes = variations.probes(bench.items, "frames", ways["frames"], frames=frames)
    scored = probing.score(lm, probes, cache=run.cache)
    false = bench.items.set_index("item")["false_object"]
    return scored.assign(false_object=scored["item"].map(false)), [probing.work(lm, probes)]


def spoken(lm: LanguageModel, texts: pd.DataFrame) -> dict[str, int]:
    """Count the tokens that greedy answers took: what was read, and what was said."""
    said = texts["text"].where(texts["text"] != "", "\n")
    rows = texts[["item", "variant", "prompt"]].assign(option=0, continuation=said, correct=True)
    return probing.work(lm, rows)


WAYS: dict[str, Callable[[runs.Run, LanguageModel, pd.DataFrame], Asked]] = {
    "monitor": _monitor,
    "knowledge_base": _knowledge_base,
    "latent_knowledge": _latent_knowledge,
    "multiplicity": _multiplicity,
}
