"""Greedy continuation of batches, for models without packs, and where a text ends.

Prompts of equal length go through the model together, and what it returns to go on from
is given back to it; where that fails its trial, each text is read whole again at each
step.
"""

import itertools
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers.metrics import thoughts
from helpers.metrics.answer_text import SIGN_OF_WORDS, place_of_first_words
from helpers.models import LanguageModel, Local, gpu, model_checks, network_inputs
from helpers.models.tokens import Row

LOG = logging.getLogger(__name__)
# What models return to go on from, and take back under the same name.
STATE_NAMES = ("cache", "past_key_values", "cache_params", "state")
MOST_KEPT_TEXTS = 100_000
# What bytes that are no character decode as, and the most bytes (and so tokens) of a
# character.
BROKEN_CHARACTER = "\N{REPLACEMENT CHARACTER}"
MOST_TOKENS_OF_CHARACTER = 4


@dataclass(frozen=True)
class ContinuationTask:
    """A text to be continued, and the ids whose probability is read at each step."""

    ids: tuple[int, ...]  # what the model (or its decoder) reads first
    source: tuple[int, ...] = ()  # what the encoder reads; empty for a causal model
    anchor: tuple[int, ...] = ()

    def cache_parts(self) -> tuple[object, ...]:
        """Return what besides its ids tells its result from others in a cache."""
        return ("generate", len(self.source), self.anchor)


@dataclass(frozen=True)
class StoppingRules:
    """When to end a continuation: at a length, at strings, at tokens."""

    max_new_tokens: int
    stop: tuple[str, ...]
    ends: tuple[int, ...]
    # Whether the anchor's tokens are taken, not the most probable ones.
    forced: bool = False

    def cache_parts(self) -> tuple[object, ...]:
        """Return what of them decides a result that a cache keeps."""
        return (self.max_new_tokens, self.stop, self.ends)


@dataclass
class ContinuedText:
    """A continuation in the making."""

    task: ContinuationTask
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    anchor_logprobs: list[float] = field(default_factory=list)
    # How many of the tokens stand before the end; None: not ended.
    kept: int | None = None
    # Log-probabilities of the anchor after the prompt, if asked for.
    scored: tuple[float, ...] = ()


def batches_of_equal_length(
    model: Local,
    tasks: list[ContinuationTask],
    rules: StoppingRules,
    batch_size: int | None,
) -> Iterator[list[ContinuationTask]]:
    """Yield tasks of one length together, the longest first."""
    groups: dict[tuple[int, int], list[ContinuationTask]] = {}
    for task in tasks:
        groups.setdefault((len(task.source), len(task.ids)), []).append(task)
    for (source, length), group in sorted(groups.items(), reverse=True):
        tokens_of_text = source + length + rules.max_new_tokens
        budget = gpu.tokens_per_batch(model.device) // tokens_of_text
        step = batch_size or max(1, budget)
        for at in range(0, len(group), step):
            yield group[at : at + step]


@torch.inference_mode()
def continue_batch(
    model: Local, rules: StoppingRules, batch: list[ContinuationTask]
) -> list[ContinuedText]:
    """Return the continuations of tasks of equal length, in their order."""
    texts = [ContinuedText(task) for task in batch]
    if not keeps_state(model):
        for text in texts:
            _continue_whole(model, rules, text)
        return texts
    reading = _Reading(model, batch)
    live = texts
    for _ in range(rules.max_new_tokens):
        chosen = append_next_tokens(model, live, reading.logits(), rules)
        going = [at for at, text in enumerate(live) if text.kept is None]
        if not going:
            break
        reading.append(chosen)
        if 2 * len(going) <= len(live) and reading.keep(going):
            live = [live[at] for at in going]
    return texts


def _continue_whole(model: Local, rules: StoppingRules, text: ContinuedText) -> None:
    """Continue a text to its end, read whole again at each step."""
    while text.kept is None:
        row = Row.of_ids((*text.task.ids, *text.ids), 1, text.task.source)
        logits = network_inputs.logits_of_row(model, row)[-1:]
        append_next_tokens(model, [text], logits, rules)


class _Reading:
    """Texts of equal length that are read together, and the state that results."""

    def __init__(self, model: Local, batch: list[ContinuationTask]) -> None:
        self.model = model
        self.ids = torch.tensor([task.ids for task in batch], device=model.device)
        self.encoded: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        if model.kind == "seq2seq":
            source = torch.tensor([task.source for task in batch], device=model.device)
            mask = torch.ones_like(source)
            states = model.model.get_encoder()(input_ids=source, attention_mask=mask)
            self.encoded = {"encoder_outputs": states, "attention_mask": mask}

    def logits(self) -> torch.Tensor:
        """Return the logits of the next token of each text."""
        inputs = {**self.state, **self.encoded, "use_cache": True}
        ids = self.ids
        if self.state:
            ids = self.ids[:, -1:]
        if self.encoded:
            inputs["decoder_input_ids"] = ids
        else:
            inputs["input_ids"] = ids
            if not self.state:  # later none is needed, and Mamba takes none
                inputs["attention_mask"] = torch.ones_like(ids)
        network = self.model.model
        if network_inputs.forward_accepts_argument(type(network), "logits_to_keep"):
            inputs["logits_to_keep"] = 1
        output = network(**inputs)
        self.state = {}
        for name in STATE_NAMES:
            state = getattr(output, name, None)
            if state is not None and network_inputs.forward_accepts_argument(
                type(network), name
            ):
                self.state[name] = state
                break
        return output.logits[:, -1]

    def append(self, tokens: torch.Tensor) -> None:
        """Add a token to each text."""
        self.ids = torch.cat([self.ids, tokens[:, None]], dim=1)

    def keep(self, rows: list[int]) -> bool:
        """Let go of all texts but some; return False where the state forbids it."""
        if not all(hasattr(state, "reorder_cache") for state in self.state.values()):
            return False
        kept = torch.tensor(rows, device=self.ids.device)
        for state in self.state.values():
            state.reorder_cache(kept)
        self.ids = self.ids[kept]
        if self.encoded:
            states = self.encoded["encoder_outputs"]
            states.last_hidden_state = states.last_hidden_state[kept]
            self.encoded["attention_mask"] = self.encoded["attention_mask"][kept]
        return True


@torch.inference_mode()
def keeps_state(model: Local) -> bool:
    """Tell whether texts continued from the model's state are what whole texts give."""
    if model.trials.keeps_state is None:
        model.trials.keeps_state = _try_state(model)
    return model.trials.keeps_state


def _try_state(model: Local) -> bool:
    """Return the outcome of a trial on two random texts, and warn where it fails."""
    text = model_checks.random_text_sampler(model)
    tasks = []
    for _ in range(2):
        ids = text(12)
        source = text(9) if model.kind == "seq2seq" else ()
        tasks.append(ContinuationTask(ids, source))
    more = [text(3) for _ in tasks]
    tolerance = model_checks.log_probability_tolerance(model)
    try:
        pairs = list(_log_probability_pairs(model, tasks, more))
        distances = [
            model_checks.log_probability_distance(from_state, from_whole)
            for from_state, from_whole in pairs
        ]
        is_exact = all(distance <= tolerance for distance in distances)
    except Exception as error:  # whatever a model raises, whole texts remain
        if gpu.is_out_of_memory(error):
            raise
        is_exact = False
    if not is_exact:
        LOG.warning(
            "%s is continued by reading the whole text at each step, which is slow: "
            "it keeps no state that leads to the same text.",
            model.name,
        )
    return is_exact


def _log_probability_pairs(
    model: Local, tasks: list[ContinuationTask], more: list[tuple[int, ...]]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield next log-probabilities along texts, from the state and from whole texts."""
    n_steps = len(more[0])
    whole = []
    for task, ids in zip(tasks, more, strict=True):
        row = Row.of_ids((*task.ids, *ids), 1, task.source)
        whole.append(network_inputs.logits_of_row(model, row)[-1 - n_steps :])
    reading = _Reading(model, tasks)
    for step in range(n_steps):
        from_state = reading.logits()
        from_whole = torch.stack([logits[step] for logits in whole])
        yield _log_probabilities(from_state), _log_probabilities(from_whole)
        new_ids = [ids[step] for ids in more]
        reading.append(torch.tensor(new_ids, device=model.device))
    reading.keep([len(tasks) - 1])
    from_state = reading.logits()[-1:]
    from_whole = whole[-1][-1:]
    yield _log_probabilities(from_state), _log_probabilities(from_whole)


def _log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Return logits as log-probabilities, in float32."""
    return logits.float().log_softmax(-1)


def append_next_tokens(
    model: LanguageModel,
    texts: list[ContinuedText],
    logits: torch.Tensor,
    rules: StoppingRules,
) -> torch.Tensor:
    """Add a token to each text that goes on, read anchors, and return the tokens."""
    logprobs = _log_probabilities(logits)
    # The anchor's token at this step, of each text; None: the anchor is over.
    anchor_tokens: list[int | None] = []
    for text in texts:
        step = len(text.ids)
        anchor = text.task.anchor
        anchor_tokens.append(anchor[step] if step < len(anchor) else None)
    read_ids = [0 if token is None else token for token in anchor_tokens]
    anchors = torch.tensor(read_ids, device=logprobs.device)
    chosen = anchors if rules.forced else logprobs.argmax(-1)
    columns = torch.stack([chosen, anchors], dim=1)
    chosen_logprobs, anchor_logprobs = logprobs.gather(1, columns).T.tolist()
    model_checks.refuse_invalid_log_probabilities(model, chosen_logprobs)
    for at, token in enumerate(chosen.tolist()):
        text = texts[at]
        if text.kept is not None:
            continue
        if anchor_tokens[at] is not None:
            text.anchor_logprobs.append(anchor_logprobs[at])
        append_token(model, text, token, chosen_logprobs[at], rules)
    return chosen


def append_token(
    model: LanguageModel,
    text: ContinuedText,
    token: int,
    logprob: float,
    rules: StoppingRules,
) -> None:
    """Add a token to a text and note whether the text has ended."""
    if token in rules.ends:
        text.kept = len(text.ids)
        return
    text.ids.append(token)
    text.logprobs.append(logprob)
    before_stop = text_before_stop(model, text.task, text.ids, rules.stop)
    if before_stop is not None:
        text.kept = before_stop[1]
    elif len(text.ids) == rules.max_new_tokens:
        text.kept = len(text.ids)


def text_before_stop(
    model: LanguageModel,
    task: ContinuationTask,
    ids: Sequence[int],
    stop: Sequence[str],
) -> tuple[str, int] | None:
    r"""Return the text before the first stop string, and how many tokens carry it.

    None where there is no stop string. What stands before the answer is passed over:
    thoughts, and lines that say nothing ("\n\nFrance", "Answer:\nFrance").
    """
    whole = decode_new_tokens(model, task, ids)
    if not any(word in whole for word in stop):
        return None
    answer = thoughts.answer_span(whole)
    begin = place_of_first_words(whole[answer.start : answer.stop])
    if begin is None:
        return None
    places = []
    for word in stop:
        # Before its own first letter it may begin with blanks before the answer.
        letter = SIGN_OF_WORDS.search(word)
        n_before = letter.start() if letter else 0
        place = whole.find(word, answer.start + max(0, begin - n_before))
        if place >= 0:
            places.append(place)
    if not places:
        return None
    before = whole[: min(places)]
    n_tokens = 0  # at most all of them
    while not decode_new_tokens(model, task, ids[:n_tokens]).startswith(before):
        n_tokens += 1
    return before, n_tokens


def decode_new_tokens(
    model: LanguageModel, task: ContinuationTask, ids: Sequence[int]
) -> str:
    """Return the text of new tokens, its leading space included; it is kept.

    Where the prompt ends in the mark that begins thoughts, the text begins with it.
    """
    ending = () if task.source else task.ids[-MOST_TOKENS_OF_CHARACTER:]
    known = model.known.texts
    key = (ending, tuple(ids))
    if key not in known:
        if len(known) > MOST_KEPT_TEXTS:
            known.clear()
        before = _whole_characters(model, ending)
        head = _text(model, before)
        whole = _text(model, (*before, *ids))
        if whole.startswith(head):
            new = whole[len(head) :]
        else:
            new = _text(model, ids)
        known[key] = thoughts.beginning_at_end(_text(model, ending)) + new
    return known[key]


def _whole_characters(model: LanguageModel, ending: tuple[int, ...]) -> tuple[int, ...]:
    """Return the fewest last tokens that are whole characters, else the last one.

    A part of a character would spoil the bytes that follow it.
    """
    for n_tokens in range(1, len(ending) + 1):
        last = ending[-n_tokens:]
        if BROKEN_CHARACTER not in _text(model, last):
            return last
    return ending[-1:]


def _text(model: LanguageModel, ids: Sequence[int]) -> str:
    """Return the text of ids without special tokens, but for marks around answers."""
    marks = _tokens_of_marks(model)
    if marks.isdisjoint(ids):
        return _ordinary_text(model, ids)
    parts = []
    for is_mark, group in itertools.groupby(ids, marks.__contains__):
        if is_mark:
            parts.append(str(model.tokenizer.decode(list(group))))
        else:
            parts.append(_ordinary_text(model, list(group)))
    return "".join(parts)


def _tokens_of_marks(model: LanguageModel) -> frozenset[int]:
    """Return the special tokens that tell thoughts and answers apart."""
    if model.known.marks is None:
        added = model.tokenizer.added_tokens_decoder
        ids = {token.content: i for i, token in added.items() if token.special}
        marks = thoughts.mark_texts(ids)
        model.known.marks = frozenset(ids[mark] for mark in marks)
    return model.known.marks


def _ordinary_text(model: LanguageModel, ids: Sequence[int]) -> str:
    """Return the text of ids, as the tokenizer decodes them."""
    # By its type, several texts might come back.
    return model.tokenizer.decode(  # type: ignore[return-value]
        list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
