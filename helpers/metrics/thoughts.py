"""Where the answer stands in what a model wrote: behind its thoughts, within its marks.

The marks are data, ``answer_marks.csv``: pairs around thoughts (``<think>`` and
``</think>``) and around answers (``<answer>``). Where they count, the column ``place``
says: ``anywhere``; as a ``pair``, where the end alone may be something else; or as a
``line``, where the beginning is the first line of a text, and the end a later one.

The channels of gpt-oss ("harmony") have heads instead, and only that of the final
channel leads to an answer. Where a tokenizer has dropped the marks, the heads' names
are left: "analysis...assistantfinal".
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_CHANNEL_TOKENS = frozenset(
    ("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|constrain|>")
)
_CHAT_TOKEN = r"<[|｜][^<>|｜\n]{1,40}[|｜]>"
_END_TOKEN = re.compile(
    rf"{_CHAT_TOKEN}|</?s>|<(?:eos|pad|end_of_turn|start_of_turn)>|\[/?INST\]",
    re.IGNORECASE,
)
# What may stand before an answer: the beginning of the model's own turn.
_TOKENS_BEFORE = re.compile(
    rf"(?:\s*+(?:(?!<.(?:end(?!_header)|eo|im_end|return|call)){_CHAT_TOKEN}"
    r"|<s>|<start_of_turn>|\[/INST\])(?!user|system)"
    r"(?:(?:assistant|model)(?=\s|<))?+)++",
    re.IGNORECASE,
)
# A turn of the model that follows its last one, as where thoughts have their own turn.
_NEXT_OWN_TURN = re.compile(
    r"(?:\s*+(?:<[|｜](?:end|eo|im_end|return)[^<>|｜\n]{0,40}[|｜]>|<end_of_turn>))++"
    rf"(?=\s*+(?:{_CHAT_TOKEN}|<start_of_turn>)(?:assistant|model)\b"
    r"|\s*+<[|｜]assistant[|｜]>)",
    re.IGNORECASE,
)
_CHANNEL_HEAD = re.compile(
    r"<\|channel\|>\s*+(\w++)[^<>|]{0,200}+"
    r"(?:<\|constrain\|>[^<>|]{0,200}+)?+<\|message\|>"
)
_FIRST_HEAD = re.compile(r"\s*+(analysis|commentary|final)<\|message\|>")
_END_OF_CHANNEL = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_FINAL_NAMES = re.compile("assistantfinal")
# A channel's name that runs into what was written: "analysisThey ask".
_NAME_OF_THOUGHTS = re.compile(
    r"\s*+(?:(?:analysis|commentary)(?=[^\W\d_a-z]|[\"'“‘])|thought\n(?=.))"
)
_NAME_OF_FINAL = re.compile(r"\s*+final(?=[^\W\d_a-z])")


class Span(NamedTuple):
    """A part of a text: where it starts, and where it stops."""

    start: int
    stop: int


class MarksOfThoughts(NamedTuple):
    """What begins a model's thoughts, and what ends them."""

    begin: str
    end: str


class Mark(NamedTuple):
    """What begins thoughts or an answer, and what ends them."""

    kind: str
    place: str
    texts: MarksOfThoughts
    begin: re.Pattern[str]
    end: re.Pattern[str]


_MARKS_FILE = Path(__file__).with_name("answer_marks.csv")
_ROWS = list(csv.DictReader(_MARKS_FILE.read_text("utf-8").splitlines()))


def _marks() -> list[Mark]:
    """Return the marks of the list; what begins alike may end in several ways."""
    ends_of_beginning = defaultdict(list)
    for row in _ROWS:
        key = (row["kind"], row["place"], row["begin"])
        ends_of_beginning[key].append(row["end"])
    marks = []
    for (kind, place, beginning), ends in ends_of_beginning.items():
        begin = re.escape(beginning)
        end = "|".join(map(re.escape, ends))
        if place == "line":
            begin = rf"\A\s*+{begin}[^\S\n]*+$"
            end = rf"^[^\S\n]*+(?:{end})[^\S\n]*+$"
        flags = re.IGNORECASE | re.MULTILINE
        begin_pattern = re.compile(begin, flags)
        end_pattern = re.compile(end, flags)
        texts = MarksOfThoughts(beginning, ends[0])
        marks.append(Mark(kind, place, texts, begin_pattern, end_pattern))
    return marks


_MARKS = _marks()
# The lines that begin thoughts may also end a question: "/think".
_MARKS_IN_PROMPTS = [
    mark for mark in _MARKS if mark.kind == "thoughts" and mark.place != "line"
]
_MARK_TEXTS = frozenset(row[name] for row in _ROWS for name in ("begin", "end"))
_ANY_MARK = re.compile("|".join(map(re.escape, sorted(_MARK_TEXTS))), re.IGNORECASE)


def marks_of_open_thoughts(text: str) -> MarksOfThoughts | None:
    """Return the marks of thoughts that a text begins and does not end.

    >>> marks_of_open_thoughts("<|assistant|><think>")
    MarksOfThoughts(begin='<think>', end='</think>')
    >>> marks_of_open_thoughts("<think></think>") is None
    True
    """
    for mark in _MARKS_IN_PROMPTS:
        beginnings = list(mark.begin.finditer(text))
        if beginnings and not mark.end.search(text, beginnings[-1].start()):
            return mark.texts
    return None


def text_without_thoughts(text: str) -> str:
    """Return what a model wrote as its answer, nothing if its thoughts do not end.

    >>> text_without_thoughts("<think>Rome? No.</think>Bern")
    'Bern'
    >>> text_without_thoughts("[THINK]Rome? Or Bern"), text_without_thoughts("Bern")
    ('', 'Bern')
    >>> text_without_thoughts("analysisThey ask for it.assistantfinalBern")
    'Bern'
    """
    span = answer_span(text)
    return text[span.start : span.stop]


def mark_texts(special_tokens: Iterable[str]) -> frozenset[str]:
    """Return which of a tokenizer's special tokens are marks, or parts of them.

    >>> sorted(mark_texts(["<s>", "[THINK]", "<|channel>", "<|end|>"]))
    ['<|channel>', '[THINK]']
    """
    special_tokens = frozenset(special_tokens)
    marks: set[str] = set()
    for mark in _MARK_TEXTS:
        # "<|channel>" is a token of the mark "<|channel>thought".
        marks.update(token for token in special_tokens if token in mark)
    if "<|channel|>" in special_tokens:  # elsewhere <|end|> is the end of a turn
        marks |= special_tokens.intersection(_CHANNEL_TOKENS)
    return frozenset(marks)


def beginning_at_end(text: str) -> str:
    r"""Return the mark that begins thoughts where a text ends in one, as a prompt may.

    >>> beginning_at_end("<|Assistant|><think>\n"), beginning_at_end("Bern")
    ('<think>', '')
    """
    text = text.rstrip()
    for mark in _MARKS_IN_PROMPTS:
        if text.endswith(mark.texts.begin):
            return mark.texts.begin
    return ""


def answer_span(text: str) -> Span:
    """Return where the answer stands in a text: behind thoughts, within marks."""
    span = _span_of_final_channel(text)
    if _ANY_MARK.search(text):
        for mark in _MARKS:
            if mark.kind == "thoughts":
                span = _span_without_thoughts(text, span, mark)
            else:
                span = _span_within_marks(text, span, mark)
    next_turn = _NEXT_OWN_TURN.match(text, *span)
    if next_turn:
        span = Span(next_turn.end(), span.stop)
    before = _TOKENS_BEFORE.match(text, *span)
    if before:
        span = Span(before.end(), span.stop)
    end = _END_TOKEN.search(text, *span)
    if end:
        span = Span(span.start, end.start())
    return span


def _span_of_final_channel(text: str) -> Span:
    """Return where the final channel stands, nothing if there are others alone."""
    whole = Span(0, len(text))
    heads = list(_CHANNEL_HEAD.finditer(text))
    first_head = _FIRST_HEAD.match(text)
    if first_head:
        heads.insert(0, first_head)
    for head in heads:
        if head[1] == "final":
            end = _END_OF_CHANNEL.search(text, head.end())
            stop = end.start() if end else len(text)
            return Span(head.end(), stop)
    if heads or "<|channel|>" in text:
        if first_head:
            return Span(0, 0)
        return Span(0, text.find("<|"))
    final_names = _FINAL_NAMES.search(text)
    if final_names:
        return Span(final_names.end(), len(text))
    if _NAME_OF_THOUGHTS.match(text):
        return Span(0, 0)
    name_of_final = _NAME_OF_FINAL.match(text)
    if name_of_final:
        return Span(name_of_final.end(), len(text))
    return whole


def _span_without_thoughts(text: str, span: Span, mark: Mark) -> Span:
    """Return where the answer stands of a text that may hold thoughts in these marks.

    It is behind the last end of thoughts that has something behind it; if there is
    none, before the thoughts. A template may have written their beginning.
    """
    first = mark.begin.search(text, *span)
    if mark.place != "anywhere" and first is None:
        return span
    ends = list(mark.end.finditer(text, *span))
    if mark.place == "pair":
        *_, last = mark.begin.finditer(text, *span)
        ends = list(mark.end.finditer(text, last.end(), span.stop))[:1]
    if first and not ends:
        ends = list(_NEXT_OWN_TURN.finditer(text, first.end(), span.stop))[:1]
    if ends:
        stops = [end.start() for end in ends[1:]] + [span.stop]
        for end, stop in zip(reversed(ends), reversed(stops), strict=True):
            if text[end.end() : stop].strip():
                span = Span(end.end(), stop)
                first = mark.begin.search(text, *span)
                break
        else:
            if first is None:
                return Span(span.stop, span.stop)
    if first:
        return Span(span.start, first.start())
    return span


def _span_within_marks(text: str, span: Span, mark: Mark) -> Span:
    """Return where the answer stands that has such marks around it."""
    begin = mark.begin.search(text, *span)
    if begin:
        span = Span(begin.end(), span.stop)
    end = mark.end.search(text, *span)
    if end:
        span = Span(span.start, end.start())
    return span
