"""Results of rows that are scored and texts that are continued: from the cache, then the model."""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

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

TEXT_RESULTS_VERSION = (
    2  # of what is kept of a text: raise it with every change of what that says
)
LOG_SECONDS = 30  # between two lines of progress in a log file
Results = dict[Row | ContinuationTask, Result]


class CachedAnswers:
    """What a model answers: found in a folder, else computed and put there.

    Parameters
    ----------
    model : LanguageModel
    folder : str or Path, optional
        The cache; without one everything is computed, and nothing is kept.
    rules : Rules, optional
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
        self.identity = "" if folder is None else caches.model_identity_hash(model)
        self.keys: dict[Row | ContinuationTask, str] = {}
        self.unsaved: dict[str, Result] = {}
        self.saved_at = 0.0

    def key(self, request: Row | ContinuationTask) -> str:
        """Return the name under which a request's result is kept."""
        parts = request.cache_parts()
        if isinstance(request, ContinuationTask):
            parts = (*parts, TEXT_RESULTS_VERSION, *self.rules.cache_parts())
        read = (*request.source, *request.ids)
        return caches.result_key(self.identity, read, *parts)

    def results(
        self,
        rows: Iterable[Row],
        tasks: Iterable[ContinuationTask] = (),
        shown: str = "",
        batch_size: int | None = None,
    ) -> Results:
        """Return the result of each row that has something to score, and of each task.

        A line on stderr, which begins with `shown`, tells how many are done.
        """
        rows = [row for row in dict.fromkeys(rows) if row.scored]
        tasks = list(dict.fromkeys(tasks))
        found = self._kept([*rows, *tasks])
        rows = [row for row in rows if row not in found]
        tasks = [task for task in tasks if task not in found]
        total = len(found) + len(rows) + len(tasks)
        waiting = {}
        if not sys.stderr.isatty():
            waiting = {"delay": LOG_SECONDS, "mininterval": LOG_SECONDS}
        with tqdm(desc=shown, total=total, disable=not shown, **waiting) as line:
            line.update(len(found))
            self.saved_at = time.monotonic()
            try:
                for done in self._computed(rows, tasks, batch_size):
                    found |= done
                    line.update(len(done))
                    self._keep(done)
            finally:
                self._save()
        return found

    def _kept(self, requests: list[Row | ContinuationTask]) -> Results:
        """Return the results that the folder holds."""
        if self.folder is None:
            return {}
        self.keys = {request: self.key(request) for request in requests}
        kept = caches.read_results(self.folder, self.keys.values())
        return {one: kept[key] for one, key in self.keys.items() if key in kept}

    def _computed(
        self, rows: list[Row], tasks: list[ContinuationTask], batch_size: int | None
    ) -> Iterator[Results]:
        """Yield what the model gives, some at a time."""
        if not rows and not tasks:
            return
        scorer = engine.scorer_of_model(self.model)
        # Rows that are read on the way to a text, by the task that reads them.
        joined: dict[ContinuationTask, Row] = {}
        if rows and tasks and scorer.joins:
            wanted = set(tasks)
            for row in rows:
                task = ContinuationTask(row.ids[: row.start], row.source, row.scored)
                if task in wanted:
                    joined[task] = row
        if tasks:
            for texts in scorer.texts(tasks, self.rules, batch_size, joined.keys()):
                done: Results = {}
                for text in texts:
                    if text.task in joined:
                        done[joined[text.task]] = Result(text.scored)
                for text in texts:
                    done[text.task] = _result(text)
                yield done
        on_the_way = set(joined.values())
        alone = [row for row in rows if row not in on_the_way]
        if alone:
            for scores in scorer.score(alone, batch_size):
                values = itertools.chain.from_iterable(scores.values())
                model_checks.refuse_invalid_log_probabilities(self.model, values)
                yield {row: Result(logprobs) for row, logprobs in scores.items()}

    def _keep(self, done: Results) -> None:
        """Remember results, and save what has come together when it is time."""
        if self.folder is None:
            return
        for request, result in done.items():
            self.unsaved[self.keys[request]] = result
        late = time.monotonic() - self.saved_at >= caches.CHUNK_SECONDS
        if late or len(self.unsaved) >= caches.CHUNK_ROWS:
            self._save()

    def _save(self) -> None:
        """Put on disk what is not there yet."""
        if self.unsaved:
            caches.write_results(self.folder, self.unsaved)
            self.unsaved = {}
            self.saved_at = time.monotonic()


def _result(text: ContinuedText) -> Result:
    # A step after the last kept token would continue a text that has ended.
    anchors = text.anchor_logprobs[: text.kept + 1]
    past_end = [float("-inf")] * (len(text.task.anchor) - len(anchors))
    return Result(
        logprobs=tuple(text.logprobs),
        ids=tuple(text.ids),
        anchor_logprobs=(*anchors, *past_end),
    )
