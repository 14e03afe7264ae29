"""Results of scored rows and continued texts: from the cache, else from the model."""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from helpers.models import LanguageModel, model_checks
from helpers.models.tokens import Row
from helpers.probing import engine
from helpers.probing import result_cache as caches
from helpers.probing.engine.decoding import (
    ContinuationTask,
    ContinuedText,
    StoppingRules,
)
from helpers.probing.result_cache import Result

# Of what is kept of a text: raise it with every change of what that says.
TEXT_RESULTS_VERSION = 4
LOG_SECONDS = 30  # between two lines of progress in a log file
Request = Row | ContinuationTask
Results = dict[Request, Result]


class CachedAnswers:
    """What a model answers: found in a folder, else computed and put there.

    Parameters
    ----------
    model : LanguageModel
    folder : str or Path, optional
        The cache; without one everything is computed, and nothing is kept.
    rules : StoppingRules, optional
        When continuations end; needed where there are tasks.
    """

    def __init__(
        self,
        model: LanguageModel,
        folder: str | Path | None = None,
        rules: StoppingRules | None = None,
    ) -> None:
        self.model = model
        self.rules = rules
        self.folder = None if folder is None else Path(folder)
        self.identity = ""
        if self.folder is not None:
            known = caches.model_known_to_folder(self.folder, model)
            self.identity = caches.model_identity_hash(known)
        self.keys: dict[Request, str] = {}
        self.unsaved: dict[str, Result] = {}
        self.saved_at = 0.0

    def key(self, request: Request) -> str:
        """Return the name under which a request's result is kept."""
        parts = request.cache_parts()
        if isinstance(request, ContinuationTask):
            # Tasks come with rules.
            rules_parts = self.rules.cache_parts()  # type: ignore[union-attr]
            parts = (*parts, TEXT_RESULTS_VERSION, *rules_parts)
        ids_read = (*request.source, *request.ids)
        return caches.result_key(self.identity, ids_read, *parts)

    def results(
        self,
        rows: Iterable[Row],
        tasks: Iterable[ContinuationTask] = (),
        label: str = "",
        batch_size: int | None = None,
    ) -> Results:
        """Return the result of each row that has something to score, and of each task.

        A line on stderr, which begins with `label`, tells how many are done; none where
        it is empty.
        """
        rows = [row for row in dict.fromkeys(rows) if row.scored]
        tasks = list(dict.fromkeys(tasks))
        results = self._kept([*rows, *tasks])
        rows = [row for row in rows if row not in results]
        tasks = [task for task in tasks if task not in results]
        total = len(results) + len(rows) + len(tasks)
        # Settings of tqdm, of several types.
        waiting: dict[str, Any] = {}
        if not sys.stderr.isatty():
            waiting = {"delay": LOG_SECONDS, "mininterval": LOG_SECONDS}
        with tqdm(desc=label, total=total, disable=not label, **waiting) as line:
            line.update(len(results))
            self.saved_at = time.monotonic()
            try:
                for part in self._computed(rows, tasks, batch_size):
                    results |= part
                    line.update(len(part))
                    self._keep(part)
            finally:
                self._save()
        return results

    def _kept(self, requests: list[Request]) -> Results:
        """Return the results that the folder holds."""
        if self.folder is None:
            return {}
        self.keys = {request: self.key(request) for request in requests}
        results_of_keys = caches.read_results(self.folder, self.keys.values())
        results: Results = {}
        for request, key in self.keys.items():
            if key in results_of_keys:
                results[request] = results_of_keys[key]
        return results

    def _computed(
        self, rows: list[Row], tasks: list[ContinuationTask], batch_size: int | None
    ) -> Iterator[Results]:
        """Yield what the model gives, some at a time."""
        if not rows and not tasks:
            return
        scorer = engine.scorer_of_model(self.model)
        rows_on_the_way: dict[ContinuationTask, Row] = {}
        if rows and tasks and scorer.joins:
            rows_on_the_way = _rows_read_by_tasks(rows, tasks)
        if tasks:
            yield from self._continued(scorer, tasks, rows_on_the_way, batch_size)
        read_already = set(rows_on_the_way.values())
        rows_alone = [row for row in rows if row not in read_already]
        if rows_alone:
            yield from self._scored(scorer, rows_alone, batch_size)

    def _continued(
        self,
        scorer: engine.Scorer | engine.Remote,
        tasks: list[ContinuationTask],
        rows_on_the_way: dict[ContinuationTask, Row],
        batch_size: int | None,
    ) -> Iterator[Results]:
        """Yield the results of tasks, and of rows that are read on the way to them."""
        # Tasks come with rules.
        rules: StoppingRules = self.rules  # type: ignore[assignment]
        scored = rows_on_the_way.keys()
        for texts in scorer.texts(tasks, rules, batch_size, scored):
            results: Results = {}
            for text in texts:
                if text.task in rows_on_the_way:
                    results[rows_on_the_way[text.task]] = Result(text.scored)
            for text in texts:
                results[text.task] = _result(text)
            yield results

    def _scored(
        self,
        scorer: engine.Scorer | engine.Remote,
        rows: list[Row],
        batch_size: int | None,
    ) -> Iterator[Results]:
        """Yield the results of rows, each of which is one number or more."""
        for scores in scorer.score(rows, batch_size):
            values = itertools.chain.from_iterable(scores.values())
            model_checks.refuse_invalid_log_probabilities(self.model, values)
            yield {row: Result(logprobs) for row, logprobs in scores.items()}

    def _keep(self, results: Results) -> None:
        """Remember results, and save what has come together when it is time."""
        if self.folder is None:
            return
        for request, result in results.items():
            self.unsaved[self.keys[request]] = result
        is_late = time.monotonic() - self.saved_at >= caches.CHUNK_SECONDS
        if is_late or len(self.unsaved) >= caches.CHUNK_ROWS:
            self._save()

    def _save(self) -> None:
        """Put on disk what is not there yet."""
        if self.folder is not None and self.unsaved:
            caches.write_results(self.folder, self.unsaved)
            self.unsaved = {}
            self.saved_at = time.monotonic()


def _rows_read_by_tasks(
    rows: list[Row], tasks: list[ContinuationTask]
) -> dict[ContinuationTask, Row]:
    """Return the rows whose tokens are the anchor of a task, by that task."""
    known_tasks = set(tasks)
    rows_of_tasks = {}
    for row in rows:
        task = ContinuationTask(row.before, row.source, row.scored)
        if task in known_tasks:
            rows_of_tasks[task] = row
    return rows_of_tasks


def _result(text: ContinuedText) -> Result:
    """Return what is kept of a continuation that has ended."""
    # A step after the last kept token would continue a text that has ended.
    # (`kept` is a number then.)
    anchors = text.anchor_logprobs[: text.kept + 1]  # type: ignore[operator]
    past_end = [float("-inf")] * (len(text.task.anchor) - len(anchors))
    return Result(
        logprobs=tuple(text.logprobs),
        ids=tuple(text.ids),
        anchor_logprobs=(*anchors, *past_end),
    )
