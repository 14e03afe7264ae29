r"""What is the answer in a text that a model wrote? The one place that decides it.

In this order, as ``book/judging.md`` says with examples:

1. thoughts are left out (:mod:`helpers.metrics.thoughts`);
2. then characters that nobody sees, and lines before the answer that say nothing;
3. the answer is all that is left, its first line, or its first sentence. A sentence
   ends with its mark and what closes behind it: quotation marks, brackets, markup,
   notes. Behind an abbreviation or an initial it may end or not: both are read;
4. each of these is also read without markup (LaTeX, HTML, links, notes), without what
   lists and headings put before it, and without words such as "Answer:".

So a text gives several readings (:func:`answer_readings`), and is right if one of them
is the true answer as a whole. None is a part of a sentence: "France" is no reading of
"France and Spain".
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import dropwhile, islice
from pathlib import Path
from typing import NamedTuple

from helpers.metrics.thoughts import text_without_thoughts

MOST_CUTS = 12  # of a line, behind abbreviations and initials
_LONGEST_ABBREVIATION = 20
# Characters of the category Cf that are seen.
_SEEN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
# What is not seen and not of that category: controls, selectors and fillers.
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u034f\u115f\u1160\u17b4"
    "\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
# A sign, or the flag of Scotland and the like: a black flag, and its name in tags.
_TAGS = "\U000e0030-\U000e0039\U000e0061-\U000e007a"
_SIGN_OR_FLAG = re.compile(f"\U0001f3f4[{_TAGS}]{{1,8}}\U000e007f|.", re.DOTALL)
_UNSEEN_BLANK = re.compile("[\u2800\u3164\uffa0]")
# Apostrophes, and what keyboards and transliterations write for one.
_APOSTROPHES = str.maketrans(
    dict.fromkeys(
        "`\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u055a\u05f3"
        "\u2018\u2019\u201b\u2032\u2035\ua78b\ua78c\uff07\uff40",
        "'",
    )
)
_MARKS = ".!?…‽‼⁇⁈⁉\u037e"
_CLOSING = (
    r"(?:[\"'”’»«“‘)\]}>›‹」』）】〉》〗〟*_~`$¹²³⁰⁴-⁹⁽⁾†‡]"
    r"|\[\^?\w{1,3}\]|</\w{1,10}>|\\[)\]]|[\u2190-\u2bff\U0001f000-\U0001faff])"
)
_END = re.compile(
    rf"(?<![{_MARKS}])([{_MARKS}]++){_CLOSING}*+(?=\s|$)"
    rf"|(?<![{_MARKS}])([{_MARKS}]++){_CLOSING}++(?=[^\W\d_a-z])"
    r"|([。！？｡．।॥؟۔؞։።፧។៕།༎׃᠃᠉]++)"
)
_TITLE = re.compile(r"\b(?:St|Dr|Mr|Mrs|Ms)$")
_INITIALS = re.compile(r"(?:^|\W)(?:\w|\d\d|\w\.[\w.]{0,12}\w)$")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]{0,20}\s*")
_BEFORE_LINE = re.compile(
    r"(?:\s*+(?:\#{1,6}(?=\s)|>|[*_]{1,3}(?=\d{1,3}[.)]\s)|[-*+•‣◦▪▸►➤→⇒·–—](?=\s)|\(?\d{1,3}[.)](?=\s)"
    r"|\(?[a-zA-Z][.)](?=\s)|[①-⑳]|\[\^?\d{1,3}\]:?(?=\s)|={1,6}(?=\s)"
    r"|h[1-6]\.(?=\s)))++\s*"
)
# What begins a new line in HTML and LaTeX, and one that is spelt out.
_LINE_TAG = re.compile(
    r"</?(?:br|p|div|li|ul|ol|tr|h[1-6])\b[^<>\n]{0,200}>"
    r"|\\(?:begin|end)\{[a-z]{1,30}\*?\}|\\(?:item|par|newline|centering)(?![a-z])"
    r"|\\\\(?=\s|$)|(?-i:(?:\\r)?\\n(?![a-z]))",
    re.I,
)
_WIKI_HEADING = re.compile(r"^[ \t]*(={1,6})([^=\n]{1,300})\1[ \t]*$", re.M)
_ONLY_CELL = re.compile(r"^[ \t]*\|([^|\n]{1,300})\|[ \t]*$", re.M)
_TAG = re.compile(
    r"</?[a-z][^<>\n]{0,200}>|<!--[^<>]{0,200}-->|<!\[CDATA\[|\]\]>"
    r"|\[/?(?:b|i|u|s|code|quote|url|color|size|font|center|spoiler)"
    r"(?:=[^\[\]\n]{1,100})?\]"
    r"|\{(?:color|code|quote|noformat|panel)(?::[^{}\n]{1,40})?\}",
    re.I,
)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{1,300})\]\([^()\n]{0,500}\)"
    r"|<https?://[^<>|\s]{1,300}\|([^<>|\n]{1,300})>"
    r"|\[\[[^\[\]|\n]{1,300}\|([^\[\]|\n]{1,300})\]\]"
)
# Behind a digit or a unit it is a power.
_SUPERSCRIPT = r"(?:<sup>([^<>\n]{1,20})</sup>|\\textsuperscript\{([^{}\n]{1,20})\})"
_POWER = re.compile(_SUPERSCRIPT, re.I)
_FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,6})\}\{(\d{1,6})\}")
_COMMAND = re.compile(
    r"\\[a-zA-Z]{1,30}\s?\{([^{}]{0,1000})\}|\{\\[a-zA-Z]{1,30}\s([^{}]{0,1000})\}"
)
_MATHS = re.compile(r"\$\$?([^$\n]{1,1000})\$\$?")
_MATHS_MARK = re.compile(r"\\[()\[\],;:!]|\\(?=[$%&#_{}])|\{(?=,\})|(?<=\{,)\}")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)|`+|~~")
_NOTE_AT_END = re.compile(r"(?<=[^\W\d_]{4})[¹²³⁰⁴-⁹⁽⁾†‡]{1,4}\s*$")
_SPACED_THOUSANDS = re.compile(
    r"(?<![\w.,])(?:[1-9]\d{0,2}(?: \d{3}){2,}|(?<!\w )[1-9]\d{0,2} \d{3})(?! ?\d)"
)
_PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
# What an answer may be: letters, digits, and symbols such as + that are no markup.
SIGN_OF_WORDS = re.compile(rf"[^\W_]|[+×÷±°%&@§©®™€£¥₹¢∀-⋿]|{_PICTURE.pattern}")


def lines_of_list(name: str) -> tuple[str, ...]:
    """Return the lines of a list beside this module, without its comments."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _words_before_pattern() -> re.Pattern[str]:
    """Return what matches "Answer:" and "The answer is" at the beginning of a text."""
    lines = lines_of_list("lead_ins.txt")
    parting = lines.index("----")
    labels = "|".join(lines[:parting])
    phrases = "|".join(lines[parting + 1 :])
    emphasis = r"[\s*_`\"'“”«»]*+"
    return re.compile(
        rf"[\W_]*+(?:(?:{labels})"
        rf"(?:{emphasis}[:：]|(?<=\w\w\w)\s[-–—](?=\s)|(?<=\w\w\w\w){emphasis}$)"
        # Scripts without blanks part no words.
        rf"|(?:{phrases})(?:(?<=[\u0e00-\uffff])|(?!\w)){emphasis}[:：]?){emphasis}",
        re.IGNORECASE,
    )


def _note_pattern() -> re.Pattern[str]:
    """Return what matches notes, sources and footnotes behind a text."""
    words = "|".join(lines_of_list("notes.txt"))
    return re.compile(
        # A number in brackets that stands first is no note.
        r"(?:(?<=\S)|(?<=\S\s))(?:"
        rf"\^?\[\^?(?:{words})\](?:\([^()\n]{{0,300}}\))?"
        rf"|【[^【】\n]{{1,60}}】|(?<=[{_MARKS}])[(（]\d{{1,3}}[)）]"
        r"|<ref\b[^<>]{0,200}(?:/>|>[^<>\n]{0,300}</ref>)|\{\{[^{}\n]{1,60}needed\}\}"
        r"|\\(?:footnote|cite)[a-z]{0,10}(?:\[[^\[\]\n]{0,60}\])?\{[^{}\n]{0,300}\}"
        r"|:contentReference\[[^\[\]\n]{1,40}\]\{[^{}\n]{1,20}\}"
        r"|\ue200[^\ue201\n]{1,200}\ue201"
        rf"|(?<!\d)(?<!\W\w)(?<!\W\w\w){_SUPERSCRIPT})",
        re.IGNORECASE,
    )


_ABBREVIATIONS = frozenset(
    " ".join(lines_of_list("abbreviations.txt")).casefold().split()
)
_WORDS_BEFORE = _words_before_pattern()
_NOTE = _note_pattern()


class SentenceEnd(NamedTuple):
    """Where a sentence ends, its mark included, and whether it surely does."""

    place: int
    is_sure: bool


def answer_text(text: str) -> str:
    r"""Return the answer in a text, without thoughts and empty lines before it.

    >>> answer_text("<think>Rome? No.</think>\n\nBern\u200b. It")
    'Bern. It'
    """
    text = without_unseen_characters(text_without_thoughts(text))
    lines = text.splitlines(keepends=True)
    return "".join(dropwhile(_is_blank, lines))


def without_unseen_characters(text: str, kept: str = "") -> str:
    r"""Leave out characters that nobody sees, such as joiners and marks of direction.

    >>> without_unseen_characters("\ufeffCo\u00adlom\u200bbia")
    'Colombia'
    """
    if text.isascii() and text.isprintable():
        return text
    signs = []
    for sign in _SIGN_OR_FLAG.findall(_UNSEEN_BLANK.sub(" ", text)):
        if sign in kept or (not _UNSEEN.match(sign) and _is_seen(sign)):
            signs.append(sign)
    return "".join(signs)


def with_plain_apostrophes(text: str) -> str:
    """Write each apostrophe, and what stands for one, as "'".

    >>> with_plain_apostrophes("Hawaiʻi, Qurʼan, Côte d´Ivoire, O′Hare")
    "Hawai'i, Qur'an, Côte d'Ivoire, O'Hare"
    """
    return text.translate(_APOSTROPHES)


def join_spaced_thousands(text: str) -> str:
    """Write "1 000 000" as "1000000", and "12 500" where no word stands before it.

    >>> join_spaced_thousands("12 500 and 1 000 000, not Boeing 747 400")
    '12500 and 1000000, not Boeing 747 400'
    """
    return _SPACED_THOUSANDS.sub(_without_blanks, text)


def answer_readings(text: str, gold: str = "") -> Iterator[str]:
    """Yield the readings of an answer, the whole first; some may come twice.

    Where the true answer holds the end of a sentence itself ("Who's Who? Who"), the
    line is also cut after as many more.

    >>> "Bern" in answer_readings("The answer is Bern")
    True
    >>> sorted(set(answer_readings("<b>Bern.</b> It")))
    ['<b>Bern.', '<b>Bern.</b> It', 'Bern.', 'Bern. It']
    """
    n_ends_in_gold = ends_within(gold)
    for version in answer_versions(text):
        yield version
        line = first_line(version)
        for words in dict.fromkeys((line, without_words_before(line))):
            yield words
            yield _NOTE_AT_END.sub("", words)
            ends = sentence_ends(words)
            for end in ends:
                yield words[: end.place]
                if end.is_sure:
                    break
            if n_ends_in_gold < len(ends):
                yield words[: ends[n_ends_in_gold].place]


def answer_versions(text: str) -> list[str]:
    """Return an answer as it was written and, if they differ, plainer ones.

    They are without markup, and without blanks within numbers.
    """
    answer = answer_text(text)
    plain = plain_text(answer)
    return list(dict.fromkeys((answer, plain, join_spaced_thousands(plain))))


def first_sentence(text: str, gold: str = "") -> str:
    r"""Return the first line of an answer, up to the end of its first sentence.

    The full stops in "U.S." and after "St" or "Dr" end none; where the true object
    holds marks itself ("J. K. Rowling"), as many more are read over.

    >>> first_sentence(" France. Which country is Lima in?")
    ' France.'
    >>> first_sentence("\n\nSt. Louis\nQuestion:")
    'St. Louis'
    >>> first_sentence("J. K. Rowling. She", "J. K. Rowling")
    'J. K. Rowling.'
    """
    line = first_line(answer_text(text))
    ends = sentence_ends(line)
    n_read_over = ends_within(gold)
    if n_read_over < len(ends):
        return line[: ends[n_read_over].place]
    return line


def longest_first_sentence(version: str) -> str:
    """Return the first line of an answer up to where its sentence surely ends."""
    line = first_line(version)
    for end in sentence_ends(line):
        if end.is_sure:
            return line[: end.place]
    return line


def ends_within(gold: str) -> int:
    """Count the ends of sentences inside a true answer."""
    return sum(end.place < len(gold) for end in sentence_ends(gold))


def sentence_ends(line: str) -> list[SentenceEnd]:
    """Return where the first sentences of a line end, or may end."""
    ends = []
    for mark in islice(_END.finditer(line), MOST_CUTS):
        start = mark.start()
        before = line[max(0, start - _LONGEST_ABBREVIATION) : start]
        is_full_stop = mark.group().startswith(".") and mark.group()[1:2] != "."
        if is_full_stop and _TITLE.search(before):
            continue
        is_sure = not (is_full_stop and _may_be_abbreviation(before))
        place = max(mark.end(1), mark.end(2), mark.end(3))
        ends.append(SentenceEnd(place, is_sure))
    return ends


def first_line(text: str) -> str:
    """Return the first line that says something, else the first that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if place_of_words(line) is not None:
            return line
    return lines[0] if lines else ""


def place_of_first_words(text: str) -> int | None:
    r"""Return where the first line that says something begins to; None if none does.

    >>> place_of_first_words("```\nAnswer:\n- Bern\n"), place_of_first_words("**\n")
    (14, None)
    """
    place = 0
    for line in text.splitlines(keepends=True):
        place_in_line = place_of_words(line)
        if place_in_line is not None:
            return place + place_in_line
        place += len(line)
    return None


def place_of_words(line: str) -> int | None:
    """Return where the words of a line begin; None where it says nothing.

    Fences, markup, "Answer:" and what nobody sees say nothing.
    """
    line = line.rstrip()  # "83. " is no number of a list
    words = without_words_before(line)
    first = SIGN_OF_WORDS.search(words)
    if first is None or _FENCE.fullmatch(line):
        return None
    plain_words = without_words_before(plain_text(line))
    if not SIGN_OF_WORDS.search(plain_words) and not _PICTURE.search(line):
        return None
    return len(line) - len(words) + first.start()


def without_words_before(line: str) -> str:
    """Leave out what lists and headings put before an answer, and "The answer is".

    >>> without_words_before("- **Answer:** Bern"), without_words_before("1. Bern")
    ('Bern', 'Bern')
    """
    for _ in range(2):
        for pattern in (_BEFORE_LINE, _WORDS_BEFORE):
            before = pattern.match(line)
            if before:
                line = line[before.end() :]
    return line


def plain_text(text: str) -> str:
    r"""Leave out markup: LaTeX, HTML, links, notes, and pictures at either end.

    >>> plain_text(r"$\text{Bern}$"), plain_text("<b>Bern</b>[1]")
    ('Bern', 'Bern')
    """
    text = _LINE_TAG.sub("\n", text)
    text = _NOTE.sub("", text)
    text = _POWER.sub(r"^\1\2", text)
    text = _LINK.sub(r"\1\2\3", text)
    text = html.unescape(_TAG.sub("", text))
    text = _FRACTION.sub(r"\1/\2", text)
    for _ in range(3):  # commands may stand inside others
        text = _COMMAND.sub(r"\1\2", text)
    text = _MATHS.sub(r"\1", text)
    text = _MATHS_MARK.sub("", text)
    text = _EMPHASIS.sub("", text)
    text = _WIKI_HEADING.sub(r"\2", text)
    text = _ONLY_CELL.sub(r"\1", text)
    text = _without_pictures(without_unseen_characters(text))
    before = _BEFORE_LINE.match(text)
    if before:
        text = text[before.end() :]
    return text


def _is_blank(line: str) -> bool:
    return not line.strip()


def _without_blanks(match: re.Match) -> str:
    return match[0].replace(" ", "")


def _is_seen(character: str) -> bool:
    if character in _SEEN_FORMATS or len(character) > 1:
        return True
    return unicodedata.category(character) != "Cf"


def _may_be_abbreviation(before: str) -> bool:
    """Say whether the full stop behind a text may be that of an abbreviation."""
    if _INITIALS.search(before):
        return True
    word = _LAST_WORD.search(before)
    return word is not None and word[0].casefold() in _ABBREVIATIONS


def _is_picture(character: str) -> bool:
    """Say whether a character is an emoji, an arrow or the like, or a part of one."""
    if "\U000e0020" <= character <= "\U000e007f":
        return True
    return character >= "\u2190" and unicodedata.category(character) in ("So", "Sk")


def _without_pictures(text: str) -> str:
    """Leave out emoji at the beginning and the end of a text."""
    start = 0
    stop = len(text)
    while start < stop and (_is_picture(text[start]) or text[start].isspace()):
        start += 1
    while stop > start and (_is_picture(text[stop - 1]) or text[stop - 1].isspace()):
        stop -= 1
    return text[start:stop]
