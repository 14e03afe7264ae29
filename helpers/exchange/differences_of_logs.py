"""Two models' logs compared on the same documents: a difference with its interval."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers import UserError, printable_line
from helpers.datasets.fact_identity import folded_text
from helpers.exchange import logs, multiplicity_of_logs, planning
from helpers.exchange.logs.chat_templates import text_without_template
from helpers.exchange.logs.log import Log
from helpers.exchange.logs.logged_documents import (
    best_pairs,
    document_identity,
    example_of_question,
    with_items_of_first,
)
from helpers.io import files
from helpers.stats import clusters as clustered
from helpers.stats import holm_adjusted_p_values

# Fields of a document that name its cluster, the first that is there first.
CLUSTER_FIELDS = ("passage", "passage_id", "template", "template_id", "subject")
NO_CLUSTERS = "none"
# Columns of scored logs, by the names of their measures.
MEASURE_COLUMNS = {
    "accuracy": "accuracy",
    "ambiguity": "ambiguous",
    "ambiguity, right or wrong": "ambiguous_binary",
    "self-consistency": "self_consistency",
}
N_EXAMPLES = 3  # documents that a note names


class ComparedLogs(NamedTuple):
    """Differences of two models or more, and what is to be known of them."""

    table: pd.DataFrame
    notes: list[str]


@dataclass(frozen=True)
class Task:
    """A model's logs of one task: `items` are the documents that all of them hold."""

    model: str
    logs: list[Log]
    items: list[str]
    scores: pd.DataFrame
    notes: list[str]

    @property
    def name(self) -> str:
        """Return the name of the task in the first log."""
        return self.logs[0].task

    def keys(self) -> dict[str, list[str]]:
        """Return who each document is, once in each wording."""
        keys = {}
        for item in self.items:
            identities = [document_identity(log.rows[item]) for log in self.logs]
            keys[item] = list(dict.fromkeys(identities))
        return keys

    def questions(self, item: str) -> set[str]:
        """Return the questions of a document, without differences of spelling."""
        return {folded_text(log.rows[item]["question"]) for log in self.logs}

    def prompts(self, item: str) -> set[str]:
        """Return the prompts of a document."""
        return {log.rows[item]["prompt"] for log in self.logs}

    def about(self, item: str) -> Mapping[str, Any]:
        """Return what else the log says of a document."""
        return self.logs[0].rows[item]["about"]


class Pairs(NamedTuple):
    """Two models' logs of one task, and the documents that both hold."""

    first: Task
    second: Task
    items: list[str]
    items_of_second: list[str]


def differences_of_logs(
    paths: Sequence[str | Path],
    beside: Sequence[Sequence[str | Path]],
    *,
    rule: str = "sum",
    metric: str = "",
    cluster: str = "",
    margin: float = 0.0,
    prompts: str = "same",
) -> ComparedLogs:
    """Compare a model's logs with those of others, document by document.

    Parameters
    ----------
    paths : sequence of path
        The first model's logs, of one task or several, with one prompt or several.
    beside : sequence of sequences of path
        The logs of each other model.
    rule, metric : str
        As for :func:`helpers.exchange.multiplicity_of_logs.from_logs`.
    cluster : str
        The field of a document that names its cluster, "none" for no clusters; by
        default the first of passage, template and subject that the log has.
    margin : float
        Within which a difference is as good as none; 0 for no such question.
    prompts : str
        "same", where prompts may differ by their chat template alone, or "any".

    Returns
    -------
    ComparedLogs
        A row for each other model, task and measure: both models' means, their
        difference (first minus the other) with its 95 % interval and p, ``holm`` (p
        adjusted for the rows of the measure), ``mcnemar`` (exact, of zeros and ones
        without clusters), ``detectable`` (the difference that as many documents show in
        four of five samples), ``n``, ``clusters`` (0 without) and ``equivalent``
        (whether the interval lies within the margin; left out without one).

    Raises
    ------
    UserError
        If the logs have fewer than two documents in common, or other prompts.
    """
    if not margin >= 0:
        raise UserError(f"margin is {margin:g}: give a difference above 0.")
    if prompts not in ("same", "any"):
        raise UserError(f"prompts is same or any, not {prompts!r}.")
    notes: list[str] = []
    with files.reraise_as_malformed_file("One of the logs"):
        sides = [_tasks_of_side(paths, "first", rule, metric)]
        for number, others in enumerate(beside, 1):
            sides.append(_tasks_of_side(others, f"beside {number}", rule, metric))
        sides = _with_different_names(sides)
        _check_sides(sides)
        rows = _rows_of_sides(sides, cluster, prompts, notes)
    table = pd.DataFrame(rows)
    by_measure = table.groupby("measure", sort=False)["p"]
    holm = by_measure.transform(holm_adjusted_p_values)
    table.insert(table.columns.get_loc("p") + 1, "holm", holm)
    if margin:
        is_within = (table["low"] > -margin) & (table["high"] < margin)
        table["equivalent"] = np.where(is_within, "yes", "no")
    return ComparedLogs(table, list(dict.fromkeys(notes)))


def _rows_of_sides(
    sides: list[list[Task]], cluster: str, prompts: str, notes: list[str]
) -> list[dict[str, Any]]:
    """Return the differences of the first model from each other one, and add notes."""
    for side in sides:
        for task in side:
            notes.extend(f"{task.model}: {note}" for note in task.notes)
    rows = []
    for side in sides[1:]:
        for first, second in _tasks_in_common(sides[0], side, notes):
            pairs = _paired_documents(first, second, notes)
            _refuse_other_marks(first, second)
            _compare_prompts(pairs, prompts, notes)
            rows.extend(_rows_of_pairs(pairs, cluster, notes))
    return rows


def _tasks_of_side(
    paths: Sequence[str | Path], name: str, rule: str, metric: str
) -> list[Task]:
    """Return a model's logs by task: those that share documents are one task's."""
    groups: list[list[Log]] = []
    for log in logs.load_logs(paths, rule, metric):
        for group in groups:
            if _share_documents(group[0], log):
                group.append(log)
                break
        else:
            groups.append([log])
    models = {group[0].model for group in groups} - {""}
    if len(models) > 1:
        raise UserError(
            f"The logs of {name} are of different models ({', '.join(sorted(models))}):"
            " give each its own --beside."
        )
    tasks = []
    for group in groups:
        group = with_items_of_first(group)
        joined = logs.join_logs(group)
        if len(group) > 1:
            scores = multiplicity_of_logs.scored_log(joined).table
        else:
            scores = joined.table.assign(accuracy=joined.table["right"])
        model = printable_line(next(iter(models), name))
        items = list(scores["item"])
        scores = scores.set_index("item")
        tasks.append(Task(model, group, items, scores, joined.notes))
    return tasks


def _share_documents(log: Log, other: Log) -> bool:
    """Return whether two logs of a model are of one task."""
    identities = {document_identity(row) for row in log.rows.values()}
    if not identities.isdisjoint(map(document_identity, other.rows.values())):
        return True
    return log.task == other.task and not set(log.rows).isdisjoint(other.rows)


def _with_different_names(sides: list[list[Task]]) -> list[list[Task]]:
    """Return tasks whose models have different names, numbered where they have not."""
    names = [side[0].model for side in sides]
    if len(set(names)) == len(names):
        return sides
    renamed = []
    for number, side in enumerate(sides, 1):
        tasks = []
        for task in side:
            name = f"{task.model} ({number})"
            tasks.append(Task(name, task.logs, task.items, task.scores, task.notes))
        renamed.append(tasks)
    return renamed


def _check_sides(sides: list[list[Task]]) -> None:
    """Refuse a log that is on two sides, and logs of different tools."""
    every_log: list[Log] = []
    for side in sides:
        earlier = {log.path.resolve() for log in every_log}
        for task in side:
            for log in task.logs:
                if log.path.resolve() in earlier:
                    raise UserError("A log is on both sides: name each file once.")
            every_log.extend(task.logs)
    logs.check_same_tool(every_log)


def _tasks_in_common(
    first: list[Task], second: list[Task], notes: list[str]
) -> list[tuple[Task, Task]]:
    """Return tasks of two models that hold the same documents."""
    tasks_of_key = defaultdict(list)
    for task in second:
        for keys in task.keys().values():
            for key in keys:
                tasks_of_key[key].append(task)
    matched = []
    for task in first:
        for key in chain.from_iterable(task.keys().values()):
            if key in tasks_of_key:
                matched.append((task, tasks_of_key[key][0]))
                break
        else:
            other = second[0].model
            notes.append(
                f"{task.name} of {task.model} has no document in common with the logs "
                f"of {other}: it is left out."
            )
    if not matched:
        raise UserError(
            f"The logs of {first[0].model} and {second[0].model} have no document in "
            "common, by its question, options and correct answer: give runs of one "
            "task on the same data."
        )
    return matched


def _paired_documents(first: Task, second: Task, notes: list[str]) -> Pairs:
    """Pair the documents of two tasks, and note those that are in one alone."""
    pair_of_item = best_pairs(first.keys(), second.keys())
    taken = set(pair_of_item.values())
    alone = [item for item in first.items if item not in pair_of_item]
    alone_in_second = [item for item in second.items if item not in taken]
    notes.extend(_notes_on_unpaired(first, alone, second))
    notes.extend(_notes_on_unpaired(second, alone_in_second, first))
    if len(pair_of_item) < 2:
        raise UserError(
            f"{first.name}: the logs of {first.model} and {second.model} have "
            f"{len(pair_of_item)} documents in common, and two are needed at least."
        )
    return Pairs(first, second, list(pair_of_item), list(pair_of_item.values()))


def _refuse_other_marks(first: Task, second: Task) -> None:
    """Refuse to compare answers that different metrics or filters have marked."""
    marks = _marks_of_task(first)
    other_marks = _marks_of_task(second)
    if marks != other_marks:
        raise UserError(
            f"{first.name}: the answers of {first.model} are marked by {marks}, and "
            f"those of {second.model} by {other_marks}: name a metric that all logs "
            "have with --metric, and give answers of one filter."
        )


def _marks_of_task(task: Task) -> str:
    """Return by what the generated answers of a task are marked; "" for options."""
    marks: dict[str, None] = {}
    for log in task.logs:
        for row in log.rows.values():
            if "metric" not in row:
                continue
            mark = row["metric"]
            if row.get("filter", "none") != "none":
                mark += f" behind the filter {row['filter']}"
            marks[mark] = None
    return printable_line(", ".join(sorted(marks)))


def _notes_on_unpaired(task: Task, items: list[str], other: Task) -> list[str]:
    """Return notes that name documents of a task that the other does not hold."""
    questions: set[str] = set()
    for item in other.items:
        questions.update(other.questions(item))
    changed = []
    absent = []
    for item in items:
        if task.questions(item) & questions:
            changed.append(item)
        else:
            absent.append(item)
    notes = []
    for unpaired, cause in (
        (changed, "have other options, or another correct answer, in"),
        (absent, "are not in"),
    ):
        if unpaired:
            rows = [task.logs[0].rows[item] for item in unpaired[:N_EXAMPLES]]
            examples = "; ".join(map(example_of_question, rows))
            notes.append(
                f"{task.name}: {len(unpaired)} of {len(task.items)} documents of "
                f"{task.model} {cause} the logs of {other.model}, and are left out, "
                f"such as {examples}."
            )
    return notes


def _compare_prompts(pairs: Pairs, prompts: str, notes: list[str]) -> None:
    """Note prompts that differ by their chat template; refuse others, unless any do."""
    n_by_template = 0
    n_others = 0
    for item, other in zip(pairs.items, pairs.items_of_second, strict=True):
        first = pairs.first.prompts(item)
        second = pairs.second.prompts(other)
        if first == second:
            continue
        if set(map(text_without_template, first)) == set(
            map(text_without_template, second)
        ):
            n_by_template += 1
        else:
            n_others += 1
    n = len(pairs.items)
    models = f"{pairs.first.model} and {pairs.second.model}"
    if n_by_template:
        notes.append(
            f"{pairs.first.name}: the prompts of {n_by_template} of {n} documents of "
            f"{models} differ by their chat template, or its system text, alone."
        )
    if not n_others:
        return
    difference = (
        f"{pairs.first.name}: the prompts of {n_others} of {n} documents of {models} "
        "differ by more than a chat template"
    )
    if prompts == "same":
        raise UserError(
            f"{difference}: give runs with the same shots, seed, wording and number of "
            "prompts, or --set prompts=any to compare them all the same."
        )
    notes.append(f"{difference}: the difference is that of models with their prompts.")


def _rows_of_pairs(
    pairs: Pairs, cluster: str, notes: list[str]
) -> list[dict[str, Any]]:
    """Return the difference of each measure of two models' logs of a task."""
    labels = _cluster_labels(pairs, cluster, notes)
    several_prompts = len(pairs.first.logs) > 1
    measures = list(MEASURE_COLUMNS)
    if len(pairs.first.logs) != len(pairs.second.logs):
        notes.append(
            f"{pairs.first.name}: {pairs.first.model} has {len(pairs.first.logs)} "
            f"prompts and {pairs.second.model} {len(pairs.second.logs)}: accuracy "
            "alone is compared."
        )
        several_prompts = False
    if not several_prompts:
        measures = ["accuracy"]
    rows = []
    for measure in measures:
        column = MEASURE_COLUMNS[measure]
        first = pairs.first.scores.loc[pairs.items, column].to_numpy(dtype=float)
        second = pairs.second.scores.loc[pairs.items_of_second, column]
        second = second.to_numpy(dtype=float)
        names = {
            "task": printable_line(pairs.first.name),
            "measure": measure,
            "model": pairs.first.model,
            "beside": pairs.second.model,
        }
        rows.append(names | _row_of_difference(first, second, labels))
    return rows


def _row_of_difference(
    first: np.ndarray, second: np.ndarray, labels: np.ndarray | None
) -> dict[str, Any]:
    """Return the difference of two models' numbers of the same documents."""
    difference = clustered.clustered_difference(first, second, labels)
    mcnemar = np.nan
    if labels is None and np.isin([first, second], (0.0, 1.0)).all():
        mcnemar = clustered.exact_mcnemar_p_value(first, second)
    n_units = difference.freedom + 1
    detectable = np.nan
    if difference.error > 0:
        sd = difference.error * np.sqrt(n_units)
        spread = planning.MeasureSpread(sd, n_units, 1)
        shown = planning.standard_error_times_quantiles(
            spread, n_units, planning.DIFFERENCE_QUANTILES
        )
        detectable = float(shown)
    return {
        "first": float(first.mean()),
        "second": float(second.mean()),
        "difference": difference.estimate,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "mcnemar": mcnemar,
        "detectable": detectable,
        "n": difference.n,
        "clusters": 0 if labels is None else n_units,
    }


def _cluster_labels(pairs: Pairs, cluster: str, notes: list[str]) -> np.ndarray | None:
    """Return the cluster of each document, None where the log names none."""
    if cluster == NO_CLUSTERS:
        return None
    fields = pd.DataFrame([pairs.first.about(item) for item in pairs.items])
    if cluster and cluster not in fields:
        names = ", ".join(map(printable_line, fields.columns)) or "none"
        raise UserError(
            f"The documents of {pairs.first.name} have no field {cluster!r}; they have "
            f"{names}."
        )
    for name in [cluster] if cluster else CLUSTER_FIELDS:
        if name not in fields:
            continue
        n_without = int(fields[name].isna().sum())
        if n_without:
            notes.append(
                f"{pairs.first.name}: {n_without} of {len(fields)} documents have no "
                f"{name}, so it names no clusters."
            )
            continue
        labels = fields[name].astype(str)
        n_clusters = labels.nunique()
        if not 1 < n_clusters < len(labels):
            continue
        warning = ""
        if n_clusters < clustered.FEWEST_CLUSTERS:
            warning = (
                f"; with fewer than {clustered.FEWEST_CLUSTERS}, the interval may be "
                "too narrow, above all where they differ in size"
            )
        notes.append(
            f"{pairs.first.name}: {len(labels)} documents in {n_clusters} clusters by "
            f"{name}{warning}."
        )
        return labels.to_numpy()
    if cluster:
        raise UserError(
            f"The field {cluster!r} names no clusters of documents of "
            f"{pairs.first.name}: each needs it, and some have to share it."
        )
    return None
