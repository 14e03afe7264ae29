"""Teacher-forced log-probabilities of continuations, exact: the table in and out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from helpers import UserError, check_columns
from helpers.models import LanguageModel, tokens
from helpers.models.tokens import Row
from helpers.probing import engine
from helpers.probing.cached_results import CachedAnswers, Results

TEXT_COLUMNS = ("prompt", "continuation")
NAME_COLUMNS = ("item", "variant", "option")


def score(
    model: LanguageModel,
    probes: pd.DataFrame,
    cache: str | Path | None = None,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    r"""Return probes with the log-probability of each token of their continuations.

    .. math:: \log P(w_l \mid \text{prompt}, w_1, \dots, w_{l-1}), \quad l = 1, \dots, L

    Prompt and continuation are tokenised as one string; all options of one (item,
    variant) are scored from the same token on, the first at which any of them leaves
    the tokens of the prompt alone. For a sequence-to-sequence model the encoder reads
    the prompt and the decoder the continuation. The values do not depend on order,
    batch size or padding (float32: 1e-5).

    A prompt may be empty. Where the tokenizer puts no token before a text (GPT-2),
    nothing then comes before the continuation's first token, which is not scored; do
    not compare options so.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
        With columns `prompt, continuation` and `item, variant, option`; others are
        kept. Without these three, each prompt is an item, and its continuations are the
        options.
    cache : str or Path, optional
        Folder of finished results; a run that was interrupted goes on from there.
    progress : bool
        Whether a line on stderr tells what is done.
    batch_size : int, optional
        The most rows of one forward pass, for models that are scored in batches (see
        `scoring_method`).

    Returns
    -------
    DataFrame
        The probes with `logprobs` (list of float, natural logarithm, at most 0, one a
        token; higher is more probable), `tokens` (list of str) and `read` (str, what
        was read before).

    Raises
    ------
    UserError
        Where a column is missing, a continuation has nothing to score, a text is longer
        than the model's context, or a probability is not a number.

    Examples
    --------
    >>> from helpers import models
    >>> lm = models.load("atlas-xs")
    >>> question = "Which country is Lyon in?"
    >>> texts = {"prompt": question, "continuation": [" France", " Peru"]}
    >>> scores = score(lm, pd.DataFrame(texts), progress=False)
    >>> scores[["item", "option"]].values.tolist()
    [['Which country is Lyon in?', 0], ['Which country is Lyon in?', 1]]
    """
    probes, rows = named_probes_and_rows(model, probes)
    check_lengths(model, probes, rows)
    label = "score" if progress else ""
    answers = CachedAnswers(model, cache)
    results = answers.results(rows, label=label, batch_size=batch_size)
    if model.meters:
        add_to_work_counters(model, _work(model, rows))
    return probes_with_results(model, probes, rows, results)


def score_sentences(
    model: LanguageModel,
    texts: Sequence[str],
    cache: str | Path | None = None,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    r"""Return the log-probabilities of whole texts.

    .. math:: \log P(w_1, \dots, w_L) = \sum_l \log P(w_l \mid w_1, \dots, w_{l-1})

    Each text is read as it is, without a chat template. Where the tokenizer puts no
    token before a text (GPT-2), its first token has no probability: it is not scored,
    and the sum begins with the second. The end of the text is not scored. A
    sequence-to-sequence model encodes an empty text, and its decoder reads these.

    Parameters
    ----------
    model : LanguageModel
    texts : sequence of str
        Sentences or longer texts, within the model's context.
    cache, progress, batch_size
        As for `score`.

    Returns
    -------
    DataFrame
        One row a text, in order: `text`; `n_tokens` (int, those that are scored);
        `logprob` (sum, natural logarithm, at most 0) and `mean` (a token; its
        exponential with the sign changed is the perplexity), not numbers where no token
        is scored; `logprobs` and `tokens` (lists); `unscored` (the first token where it
        is not scored, else "").

    Raises
    ------
    UserError
        Where a text is empty, no string, or longer than the model's context, or a
        probability is not a number.

    Examples
    --------
    >>> from helpers import models
    >>> lm = models.load("atlas-xs")
    >>> sentences = ["Lyon is in France.", "Lyon is in Peru."]
    >>> scores = score_sentences(lm, sentences, progress=False)
    >>> bool(scores["logprob"][0] > scores["logprob"][1])
    True
    """
    texts = list(texts)
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise UserError(
                f"Text {place} is {text!r}: give a string that is not empty."
            )
    rows = tokens.rows_of_texts(model, texts)
    for place, row in enumerate(rows):
        tokens.check_length(model, row.longest, f"Text {place}")
    label = "score" if progress else ""
    answers = CachedAnswers(model, cache)
    results = answers.results(rows, label=label, batch_size=batch_size)
    if model.meters:
        scored_rows = [row for row in rows if row.scored]
        add_to_work_counters(model, _work(model, scored_rows))
    logprobs = []
    sums = []
    for row in rows:
        values = list(results[row].logprobs) if row.scored else []
        logprobs.append(values)
        sums.append(sum(values) if values else float("nan"))
    token_names = [tokens.token_names(model, row.scored) for row in rows]
    unscored = [""] * len(rows)
    if not tokens.has_first_token(model):
        first_tokens = [tokens.token_names(model, row.ids[:1]) for row in rows]
        unscored = ["".join(names) for names in first_tokens]
    scores = pd.DataFrame({"text": pd.Series(texts, dtype=object)})
    scores["n_tokens"] = [len(values) for values in logprobs]
    scores["logprob"] = sums
    scores["mean"] = scores["logprob"] / scores["n_tokens"]
    scores["logprobs"] = object_column(logprobs, scores.index)
    scores["tokens"] = object_column(token_names, scores.index)
    scores["unscored"] = object_column(unscored, scores.index)
    return scores


def scoring_work(model: LanguageModel, *probes: pd.DataFrame) -> dict[str, int]:
    """Count the tokens that scoring probes takes, all of them and what is shared once.

    Parameters
    ----------
    model : LanguageModel
    *probes : DataFrame
        As for `score`. What several of them share is read once.

    Returns
    -------
    dict
        `probes`, `tokens` (of all one by one), `forwarded` (by a model that takes
        packs).
    """
    rows: list[Row] = []
    for table in probes:
        rows += named_probes_and_rows(model, table)[1]
    return _work(model, rows)


def probes_of_greedy_answers(model: LanguageModel, texts: pd.DataFrame) -> pd.DataFrame:
    """Return probes that stand for greedy answers: prompts with what followed them."""
    newline_ids = model.tokenizer("\n", add_special_tokens=False)["input_ids"]
    text_of_no_tokens = "\n" if newline_ids else "."
    continuations = texts["text"].where(texts["text"] != "", text_of_no_tokens)
    probes = texts.assign(option=0, continuation=continuations, correct=True)
    for name in ("item", "variant"):
        if name not in probes:
            probes[name] = range(len(probes))
    return probes


def named_probes_and_rows(
    model: LanguageModel, probes: pd.DataFrame
) -> tuple[pd.DataFrame, list[Row]]:
    """Return probes with all of their names, and their rows."""
    check_text_columns(probes, TEXT_COLUMNS)
    if not set(NAME_COLUMNS) & set(probes.columns):
        option = probes.groupby("prompt").cumcount()
        probes = probes.assign(item=probes["prompt"], variant="", option=option)
    check_columns(probes, NAME_COLUMNS, "probes")
    # As lists at once: a string leaves a column of strings slowly by itself.
    items, variants, prompts, continuations = [
        probes[name].tolist() for name in ("item", "variant", *TEXT_COLUMNS)
    ]
    groups = list(zip(items, variants, strict=True))
    rows = tokens.rows_of_continuations(model, prompts, continuations, groups)
    if "correct" in probes:
        _refuse_options_read_alike(model, rows, groups, probes["correct"])
    if "object" in probes:  # a text alone is as probable as what is read
        objects = probes["object"].str.strip().tolist()
        _refuse_unwritable_objects(model, rows, groups, continuations, objects)
    return probes, rows


def _refuse_options_read_alike(
    model: LanguageModel, rows: list[Row], groups: list[tuple], correct: pd.Series
) -> None:
    """Refuse a right and a wrong option that unknown tokens make one to the model."""
    unknown = model.tokenizer.unk_token_id
    marks: dict[tuple[tuple, Row], object] = {}
    for row, group, mark in zip(rows, groups, correct.tolist(), strict=True):
        if unknown not in row.scored:
            continue
        if marks.setdefault((group, row), mark) != mark:
            raise UserError(
                f"The tokenizer of {model.name} cannot write the options of item "
                f"{group[0]!r} and reads a right and a wrong one alike: choose a model "
                "that knows their script."
            )


def _refuse_unwritable_objects(
    model: LanguageModel,
    rows: list[Row],
    groups: list[tuple],
    continuations: Sequence[str],
    objects: Sequence[str],
) -> None:
    """Refuse a fact's object of unknown tokens alone, or which they make another's.

    What else is scored of a fact, such as a text that the model wrote, is not refused.
    """
    unknown = model.tokenizer.unk_token_id
    texts_of_tokens: dict[tuple[int, ...], str] = {}
    scored = zip(rows, groups, continuations, objects, strict=True)
    for row, group, text, own_object in scored:
        if unknown not in row.scored or text.strip() != own_object:
            continue
        known = [token for token in row.scored if token != unknown]
        is_readable = any(map(str.isalnum, str(model.tokenizer.decode(known))))
        if is_readable and texts_of_tokens.setdefault(row.scored, text) == text:
            continue
        raise UserError(
            f"The tokenizer of {model.name} cannot write the continuation {text!r} of "
            f"item {group[0]!r}, which it reads as unknown tokens: choose a model that "
            "knows its characters."
        )


def check_lengths(model: LanguageModel, probes: pd.DataFrame, rows: list[Row]) -> None:
    """Refuse probes of which one is longer than what the model can read."""
    names = zip(probes["item"].tolist(), probes["variant"].tolist(), strict=True)
    for row, (item, variant) in zip(rows, names, strict=True):
        tokens.check_length(model, row.longest, f"Prompt {variant!r} of item {item!r}")


def probes_with_results(
    model: LanguageModel, probes: pd.DataFrame, rows: list[Row], results: Results
) -> pd.DataFrame:
    """Return probes with the results of their rows."""
    logprobs = [list(results[row].logprobs) for row in rows]
    token_names = [tokens.token_names(model, row.scored) for row in rows]
    strings_read = tokens.strings_read_by_model(model, probes["prompt"].tolist())
    return probes.assign(
        logprobs=object_column(logprobs, probes.index),
        tokens=object_column(token_names, probes.index),
        read=object_column(strings_read, probes.index),
    )


def _work(model: LanguageModel, rows: list[Row]) -> dict[str, int]:
    """Return what `scoring_work` does, of rows."""
    counts = engine.count_tokens(rows, engine.pack_length_of_model(model))
    return {
        "probes": len(rows),
        "tokens": counts["plain"],
        "forwarded": counts.get("forwarded", 0),
    }


@contextmanager
def work_counter(model: LanguageModel) -> Iterator[Counter[str]]:
    """Count what a model scores and generates inside the block.

    Parameters
    ----------
    model : LanguageModel
        In whichever prompt format it is then asked.

    Yields
    ------
    Counter
        `probes`, `tokens` and `forwarded`, as from :func:`scoring_work`.

    Examples
    --------
    >>> from helpers import models
    >>> lm = models.load("atlas-xs")
    >>> with work_counter(lm) as work:
    ...     scores = score_sentences(lm, ["Lyon is in France."], progress=False)
    >>> work["probes"], work["tokens"] > int(scores["n_tokens"].sum())
    (1, True)
    """
    work: Counter[str] = Counter()
    model.meters.append(work)
    try:
        yield work
    finally:
        model.meters.pop()  # blocks end in the opposite order of their beginning


def add_to_work_counters(model: LanguageModel, work: Mapping[str, int]) -> None:
    """Add what a call took to all that count the model's work."""
    for meter in model.meters:
        meter.update(work)


def check_text_columns(frame: pd.DataFrame, needed: Sequence[str]) -> None:
    """Refuse a table that lacks columns, or has in them what is no string."""
    check_columns(frame, needed, "probes")
    for name in needed:
        for row, text in zip(frame.index, frame[name].tolist(), strict=True):
            if not isinstance(text, str):
                raise UserError(
                    f"Row {row} of the probes has the {name} {text!r}; give a string."
                )


def object_column(values: list, index: pd.Index) -> pd.Series:
    """Return a column of values that may be lists."""
    return pd.Series(values, index=index, dtype=object)
