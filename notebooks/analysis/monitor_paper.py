"""What the MONITOR paper shows beside its score, of the chapter's model."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import prompts, stats
from helpers.metrics import anchors, monitor
from notebooks.kit import published
from notebooks.kit.plots import result_tables, style

FEWER_FRAMES = 4  # of the seven, in the paper's ablation (section 6.5)
SOLID = 0.8  # what Figure 5 calls a solid probability lies above
STRENGTHS = {  # of anchors: from the strongest, with the colour of the bar
    "above 0.8": "#0173b2",
    "0.6 to 0.8": "#56a0cc",
    "0.4 to 0.6": "#9cc6e0",
    "0.2 to 0.4": "#d3e4ef",
    "up to 0.2": "#de8f05",
}
STRENGTH_BOUNDS = (np.inf, SOLID, 0.6, 0.4, 0.2, -np.inf)
ANCHOR_PROMPTS = {
    "right": "right answer first",
    "none": "nothing first",
    "wrong": "wrong answer first",
}
FIGURE_5_RELATION = "P37"
TABLE_2_COLUMNS = ("WP", "QA", "FC-pos", "FC-neg")
MOST_ALIKE = 0.7  # prompts of the paper are less alike than this (section 5.1)
BLEU_ORDER = 4
WORD_OR_MARK = re.compile(r"\[[XY]\]|\w+|[^\w\s]")


# Four wordings in place of seven: Figures 9 and 10.


def monitor_in_four_and_all_frames(
    scores: pd.DataFrame,
    distances: pd.DataFrame,
    alphas: Sequence[float] = monitor.EQUAL_WEIGHTS,
) -> pd.DataFrame:
    """Return MONITOR of each relation, and of all, in all wordings and in four.

    ``four`` is in the first four; ``low, high`` are the ends over all choices of four,
    and ``others`` is in the wordings beyond the first four. `distances` is from
    `helpers.metrics.monitor.distances_by_frame`. Empty without a fifth wording.
    """
    columns = ["all wordings", "four", "low", "high", "others"]
    frames = list(distances.columns)
    if len(frames) <= FEWER_FRAMES:
        return pd.DataFrame(columns=columns, dtype=float).rename_axis("relation")
    choices = monitor.scores_of_frame_subsets(scores, distances, FEWER_FRAMES, alphas)
    table = {"four": choices.iloc[0], "low": choices.min(), "high": choices.max()}
    for name, chosen in (("all wordings", frames), ("others", frames[FEWER_FRAMES:])):
        score = monitor.scores_of_frame_subsets(
            scores, distances[chosen], len(chosen), alphas
        )
        table[name] = score.iloc[0]
    return pd.DataFrame(table)[columns].rename_axis("relation")


def draw_monitor_in_four_and_all_frames(table: pd.DataFrame) -> Axes:
    """Draw MONITOR in four wordings against all, a dot a relation (Figure 10)."""
    rows = table.drop(index="all", errors="ignore").dropna()
    if rows.empty:
        return style.empty_panel(None, f"It takes more than {FEWER_FRAMES} wordings.")
    _, ax = plt.subplots(figsize=(style.FIGURE_WIDTH, 3.6))
    x = rows["all wordings"]
    bar = {"color": style.SKY, "lw": 2, "zorder": 1}
    ax.vlines(x, rows["low"], rows["high"], label="all choices of four", **bar)
    ax.plot(x, rows["four"], "o", color=style.BLUE, ms=4, label="the first four")
    ax.axline((x.iloc[0], x.iloc[0]), slope=1, color=style.GREY, lw=1, zorder=0)
    ax.set_aspect("equal")
    ax.set(xlabel="MONITOR in all wordings", ylabel="MONITOR in four")
    style.put_legend_above(ax)
    return ax


# The distribution of anchors: Figure 5.


def shares_by_anchor_strength(
    answers: pd.DataFrame, scores: pd.DataFrame, column: str, **draws: Any
) -> pd.DataFrame:
    """Return how many anchors of the facts that count are how strong, by prompt.

    A row for each kind of prompt of the relation of Figure 5, if it was asked, and of
    all; the first share with its interval, a bootstrap over facts within relations.
    """
    counted = scores.loc[scores["counted"], "item"]
    table = anchors.anchor_probabilities(answers, column)
    table = table[table["item"].isin(counted)]
    is_of_figure = table["relation"] == FIGURE_5_RELATION
    rows = {}
    for name, part in ((FIGURE_5_RELATION, table[is_of_figure]), ("all", table)):
        for context, title in ANCHOR_PROMPTS.items():
            of_kind = part[part["context"] == context]
            if len(of_kind):
                rows[f"{name}: {title}"] = _shares_of_strengths(of_kind, **draws)
    first = next(iter(STRENGTHS))
    columns = [*STRENGTHS, f"{first}_low", f"{first}_high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _shares_of_strengths(table: pd.DataFrame, **draws: Any) -> list[float]:
    """Return the share of each strength, facts counted alike, the first bounded."""
    bounds = STRENGTH_BOUNDS[::-1]
    names = list(STRENGTHS)[::-1]
    strengths = pd.cut(table["probability"], bounds, labels=names)
    by_prompt = pd.get_dummies(strengths)[list(STRENGTHS)].astype(float)
    by_fact = by_prompt.groupby([table["relation"], table["item"]]).mean()
    relations = by_fact.index.get_level_values("relation")
    first = stats.bootstrap(by_fact.iloc[:, 0], strata=relations, **draws)
    return [*by_fact.mean(), first.low, first.high]


# Formats of one fact, and accuracy by format and wording: Tables 1, 2, 7, Figure 11.


def formats_of_one_fact(fact: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Return one fact's prompt in each format of Table 1, and what counts as right."""
    kinds = set(frames.loc[frames["relation"].isin(fact["relation"]), "kind"])
    parts = []
    if "wp" in kinds:
        gaps = prompts.question_probes(fact, frames, "wp", n_frames=1)
        parts.append(gaps.assign(format="WP"))
    contexts = ("none", "right", "wrong")
    questions = prompts.question_probes(fact, frames, "qa", contexts, n_frames=1)
    names = {"none": "QA", "right": "[Y]. QA", "wrong": "[Y_]. QA"}
    parts.append(questions.assign(format=questions["context"].map(names)))
    if "fc" in kinds:
        statements = prompts.fact_check_probes(fact, frames, 1)
        names = {"right": "FC-pos", "wrong": "FC-neg"}
        parts.append(statements.assign(format=statements["context"].map(names)))
    table = pd.concat(parts)
    table = table[table["correct"]].drop_duplicates("format")
    table = table.rename(columns={"continuation": "counts as right"})
    return table[["format", "prompt", "counts as right"]]


def accuracy_by_format_and_frame(by_kind: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return ``format, frame, accuracy`` of the close-up (Figure 11)."""
    parts = []
    for kind in TABLE_2_COLUMNS:
        if kind in by_kind:
            marks = by_kind[kind].drop(columns=["item", "relation"])
            rates = marks.mean().rename_axis("frame").rename("accuracy")
            parts.append(rates.reset_index().assign(format=kind))
    return pd.concat(parts, ignore_index=True)


def accuracy_beside_table_2(
    by_frame: pd.DataFrame, who: str, *, other_questions: bool
) -> pd.DataFrame:
    """Put the mean over wordings of each format above the paper's Table 2."""
    ours = 100 * by_frame.groupby("format")["accuracy"].mean()
    return result_tables.our_row_above_published_table(
        ours.reindex(TABLE_2_COLUMNS).to_dict(),
        published.load_published_table("monitor_table2"),
        who,
        digits=2,
        other_questions=other_questions,
    )


def probabilities_beside_table_7(asked: pd.DataFrame, who: str) -> pd.DataFrame:
    """Put the object's probability in three prompts of one fact above Table 7.

    `asked` are prompts of one fact with ``context, context_index, frame, probability``.
    """
    rows = {
        "anchor": asked["context"] == "right",
        "in-context": (asked["context"] == "wrong") & (asked["context_index"] == 0),
        "framing": (asked["context"] == "none") & (asked["frame"] == 1),
    }
    ours = {}
    for column, is_prompt in rows.items():
        ours[column] = asked.loc[is_prompt, "probability"].mean()
    paper = published.load_published_table("monitor_table7")
    return result_tables.our_row_above_published_table(
        ours, paper, who, other_questions=True
    )


# Wordings that are too alike: the filter of section 5.1.


def sentence_bleu(
    candidate: Sequence[str], reference: Sequence[str], order: int = BLEU_ORDER
) -> float:
    """Compute BLEU of one sentence against one other, without smoothing, in [0, 1].

    The geometric mean of the shares of runs of 1 to `order` words that the reference
    has, too, each as often as it has it, times the brevity penalty (Papineni et al.
    2002). 0 if the two have no run of `order` words in common.

    >>> round(sentence_bleu("a b c d e".split(), "a b c d f".split()), 4)
    0.6687
    """
    logs = []
    for n in range(1, order + 1):
        runs = _runs_of_words(candidate, n)
        n_shared = (runs & _runs_of_words(reference, n)).total()
        if not n_shared:
            return 0.0
        logs.append(math.log(n_shared / runs.total()))
    brevity = min(0.0, 1 - len(reference) / len(candidate))
    return math.exp(brevity + sum(logs) / order)


def _runs_of_words(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the runs of n words."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def similarity_of_wordings(frames: pd.DataFrame, n_frames: int) -> pd.DataFrame:
    """Return pairs of question frames of one relation with their BLEU, highest first.

    Each of the two is the reference once; the larger value counts. A slot and a
    punctuation mark are words.
    """
    columns = ["relation", "one wording", "another", "BLEU"]
    rows = []
    questions = frames[frames["kind"] == "qa"].sort_values("frame")
    for relation, part in questions.groupby("relation"):
        templates = part["template"].head(n_frames)
        for one, other in combinations(templates, 2):
            first = WORD_OR_MARK.findall(one)
            second = WORD_OR_MARK.findall(other)
            both = (sentence_bleu(first, second), sentence_bleu(second, first))
            rows.append((relation, one, other, max(both)))
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("BLEU", ascending=False, ignore_index=True)


def sentence_on_similar_wordings(table: pd.DataFrame) -> str:
    """Say how many pairs of wordings the paper's filter would refuse."""
    n_refused = int((table["BLEU"] >= MOST_ALIKE).sum())
    verb = "has" if n_refused == 1 else "have"
    return (
        f"Of {len(table)} pairs of wordings of one relation, {n_refused} {verb} a BLEU "
        f"of {MOST_ALIKE} or more.\n"
    )


def comparisons_for_appendix(
    table: pd.DataFrame, similar: pd.DataFrame
) -> Iterator[tuple[str, Any, float]]:
    """Yield what is compared of wordings: a label, its statistic, no effect."""
    rows = table.drop(index="all", errors="ignore")
    for other, name in (("all wordings",) * 2, ("others", "the other wordings")):
        r = stats.correlation(rows["four"], rows[other])
        yield f"MONITOR over relations: the first four wordings and {name}, r", r, 0.0
    is_alike = (similar["BLEU"] >= MOST_ALIKE).mean()
    label = f"pairs of wordings with a BLEU of {MOST_ALIKE} or more"
    yield label, (is_alike, np.nan, np.nan, len(similar)), 0.0
