"""Results of rows that are scored and texts that are continued: from the cache, then the model."""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tqdm import tqdm

from helpers.models import LanguageModel, check
from helpers.models.tokens import Row
from helpers.probing import cache as caches
from helpers.probing import engine
from helpers.probing.cache import Result
from helpers.probing.engine.decoding import Rules, Task, Text

VERSION = 2  # of what is kept of a text: raise it with every change of what that says


def answered(
    model: LanguageModel,
    rows: Iterable[Row] = (),
    tasks: Iterable[Task] = (),
    rules: Rules | None = None,
    cache: str | Path | None = None,
    shown: str = "",
    batch_size: int | None = None,
) -> dict[Row | Task, Result]:
    """Return the result of each row that has something to score, and of each task."""
    rows, tasks = (
        [row for row in dict.fromkeys(rows) if row.scored],
        list(dict.fromkeys(tasks)),
    )
    identity = caches.identity(model) if cache is not None else ""
    said = (VERSION, rules.max_new_tokens, rules.stop, rules.ends) if rules else ()

    def key(one: Row | Task) -> str:
        parts = ("score", len(one.source), one.start) if isinstance(one, Row) else ()
        parts = parts or ("generate", len(one.source), one.anchor, *said)
        return caches.key(identity, (*one.source, *one.ids), *parts)

    def computed(missing: list[Row | Task]) -> Iterator[dict[Row | Task, Result]]:
        scorer = engine.scorer(model)
        texts = [one for one in missing if isinstance(one, Task)]
        alone = dict.fromkeys(one for one in missing if isinstance(one, Row))
        both = {}
        if texts and alone and scorer.joins:
            anchored = {Task(r.ids[: r.start], r.source, r.scored): r for r in alone}
            both = {task: anchored[task] for task in texts if task in anchored}
        for done in (
            scorer.texts(texts, rules, batch_size, both.keys()) if texts else ()
        ):
            scores = {
                both[text.task]: Result(text.scored)
                for text in done
                if text.task in both
            }
            yield scores | {text.task: _result(text) for text in done}
        for row in both.values():
            del alone[row]
        for done in scorer.score(list(alone), batch_size) if alone else ():
            check.refuse_nan(model, itertools.chain.from_iterable(done.values()))
            yield {row: Result(values) for row, values in done.items()}

    # In a log file, a line after half a minute and then every half.
    seconds = {} if sys.stderr.isatty() else {"delay": 30, "mininterval": 30}
    wanted = [*rows, *tasks]
    keys = {} if cache is None else {one: key(one) for one in wanted}
    kept = {} if cache is None else caches.read(Path(cache), keys.values())
    known = {one: kept[name] for one, name in keys.items() if name in kept}
    missing = [one for one in wanted if one not in known]
    pending: dict[str, Result] = {}
    flushed = time.monotonic()
    with tqdm(desc=shown, total=len(wanted), disable=not shown, **seconds) as line:
        line.update(len(known))
        try:
            for done in computed(missing) if missing else ():
                known |= done
                line.update(len(done))
                if cache is not None:
                    pending |= {keys[one]: result for one, result in done.items()}
                late = time.monotonic() - flushed >= caches.CHUNK_SECONDS
                if pending and (late or len(pending) >= caches.CHUNK_ROWS):
                    caches.write(Path(cache), pending)
                    pending, flushed = {}, time.monotonic()
        finally:
            if pending:
                caches.write(Path(cache), pending)
    return known


def _result(text: Text) -> Result:
    # A step after the last kept token would continue a text that has ended.
    anchors = text.anchor_logprobs[: text.kept + 1]
    past_end = [float("-inf")] * (len(text.task.anchor) - len(anchors))
    return Result(
        logprobs=tuple(text.logprobs),
        ids=tuple(text.ids),
        anchor_logprobs=(*anchors, *past_end),
    )
