"""English numbers in words and with scales become figures: "2.4 million", "2400000".

"twenty-one" is "21", "nineteen eighty-four" is "1984", "one point five million" and
"1.5m" are "1500000", "half a million" is "500000", "third" is "3rd", "two thirds" are
"2/3", "minus five" is "-5", "a dozen" is "12". Ranges stay two numbers:
"twenty-thirty" is "20 30".
"""

import re
from typing import NamedTuple

_UNITS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALES |= {"trillion": 10**12, "dozen": 12, "lakh": 10**5, "crore": 10**7}
_UNIT_VALUES = {word: value for value, word in enumerate(_UNITS)}
_TEN_VALUES = {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES = _UNIT_VALUES | _TEN_VALUES
_IRREGULAR_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
}
_ORDINALS = {f"{word}th": value for word, value in _VALUES.items()}
_ORDINALS |= {f"{word[:-1]}ieth": value for word, value in _TEN_VALUES.items()}
_ORDINALS |= _IRREGULAR_ORDINALS
_ORDINAL_SCALES = {f"{word}th": value for word, value in _SCALES.items()}
_ANY_SCALES = _SCALES | _ORDINAL_SCALES
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_DIGIT_WORDS = {word: str(value) for value, word in enumerate(_UNITS[:10])}
_DIGIT_WORDS |= {"oh": "0"}
_LARGE_SCALES = "|".join(_SCALES)
# "A hundred and a half" may be 100.5.
_SCALES_IN_PARTS = "|".join(_SCALES.keys() - {"hundred"})
_DENOMINATORS = {
    "half": 2,
    "halves": 2,
    "quarter": 4,
    "quarters": 4,
    "third": 3,
    "thirds": 3,
    "fourth": 4,
    "fourths": 4,
    "fifth": 5,
    "fifths": 5,
    "sixth": 6,
    "sixths": 6,
    "eighth": 8,
    "eighths": 8,
    "tenth": 10,
    "tenths": 10,
}
_DECIMALS_OF_PARTS = {"half": "5", "quarter": "25", "quarters": "75"}
_DECIMALS_OF_FRACTIONS = {"1⁄2": "5", "1⁄4": "25", "3⁄4": "75"}
_SCALES_OF_UNITS = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "mln": "million",
    "mio": "million",
    "bn": "billion",
    "b": "billion",
    "tn": "trillion",
}
MOST_ROUNDS = 4
MOST_WORDS = 30  # of one number
MOST_DIGITS = 15  # of a figure that is multiplied

# Before punctuation is dropped.
_POINT = re.compile(r"(?<=\d)[.٫](?=\d)")
_POINT_FIRST = re.compile(r"(?<![\w.])\.(?=\d)")
_COMMA_AS_POINT = re.compile(rf"(?<=\d),(?=\d{{1,2}}\s(?:{_LARGE_SCALES})\b)", re.I)
_GLUED_SCALE = re.compile(
    r"(?<![\w.,])(?:(\d+\.\d+)([kKmMbB]|[bB]n|tn)|(\d+)(K|M|bn|B|tn)"
    r"|(?<=[$€£¥])(\d+)(k|m|b)"
    r"|(\d+(?:\.\d+)?)\s?(mn|mln|mio|bn))\b(?!\.?\w)",
)
_SIMPLE_FRACTION = re.compile(r"(?<![\d/.,])([1-9])/(10|[2-689])(?![\d/.,]\d|[\d/])")
_TENS_WORDS = "|".join(_TENS)
_NINE_WORDS = "|".join(_UNITS[1:10])
_TEENS_WORDS = "|".join(_UNITS[10:])
_YEAR = re.compile(
    rf"\b(?P<century>{_TEENS_WORDS}|twenty)(?P<gap>\s|-)"
    rf"(?:(?P<tens>{_TENS_WORDS})(?:[\s-](?P<unit>{_NINE_WORDS}))?"
    rf"|(?P<teen>{_TEENS_WORDS})|oh?[\s-](?P<nine>{_NINE_WORDS}))\b"
    rf"(?![\s-](?:{'|'.join([*_VALUES, *_SCALES, *_ORDINALS])}|point)\b)",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"(\w+)\W?$")

# Of words that are parted by one blank.
_NUMBER_WORD = "|".join([*_VALUES, *_SCALES, r"\d+"])
_AND_A_PART = re.compile(
    rf"\b({_NUMBER_WORD}) and (?:(?:a|one) (half|quarter)|three (quarters))\b"
)
_SCALE_AND_A_PART = re.compile(
    rf"\b(?:(?:(?:an?|one)|(\w+)) )?({_SCALES_IN_PARTS}) and "
    r"(?:(?:an?|one) (half|quarter)|three (quarters))\b"
)
_PART_OF_SCALE = re.compile(
    rf"\b(?:(?:a |one )?(half|quarter)|three (quarters))"
    rf"(?: of)?(?: an?)? ({_LARGE_SCALES})\b"
)
_MIXED_FRACTION = re.compile(r"(?<!\S)(\d{1,15}) (1⁄2|1⁄4|3⁄4)(?!\S)")
_FRACTION_IN_WORDS = re.compile(
    rf"\b(?:(one|1|a) (half|third|quarter|fourth|fifth|sixth|eighth|tenth)"
    rf"|({_NINE_WORDS}|[1-9]) (halves|thirds|quarters|fourths|fifths|sixths|eighths"
    r"|tenths))(?= of\b|$)"
)
_FIGURE = re.compile(rf"([^\w\s]{{0,2}})(\d{{1,{MOST_DIGITS}}})")
_MINUS_IN_WORDS = re.compile(r"(?:^|(?<=[^\d\s] ))(?:minus|negative) (?=\d+\b)")
_PERCENT = re.compile(r"(?<=\d) per ?cent\b")


class Number(NamedTuple):
    """A number at a place among words: how it is written, and how many it takes."""

    written: str
    n_words: int


def mark_numbers(text: str) -> str:
    """Write what is lost with the punctuation: decimals, years in words, 1.5m, 1/2.

    >>> mark_numbers("3.5 or nineteen eighty-four or $1.5m or twenty-thirty")
    '3 point 5 or 1984 or $1 point 5 million or twenty-thirty'
    """
    text = _COMMA_AS_POINT.sub(".", text)
    text = _GLUED_SCALE.sub(_with_scale_word, text)
    text = _POINT_FIRST.sub("0.", text)
    text = _POINT.sub(" point ", text)
    text = _SIMPLE_FRACTION.sub("\\1⁄\\2", text)
    return _YEAR.sub(_year_in_figures, text)


def with_figures(text: str) -> str:
    """Write each number in a normalised text as figures.

    >>> with_figures("two hundred and six bones"), with_figures("2 point 4 million")
    ('206 bones', '2400000')
    >>> with_figures("half a million"), with_figures("two and a half")
    ('500000', '2 point 5')
    """
    for _ in range(MOST_ROUNDS):
        before = text
        text = _numbers_once_in_figures(text)
        if text == before:
            break
    return text


def _numbers_once_in_figures(text: str) -> str:
    """Write each number as figures once; these may be parts of another number."""
    text = _SCALE_AND_A_PART.sub(_point_before_scale, text)
    text = _AND_A_PART.sub(_point_for_part, text)
    text = _PART_OF_SCALE.sub(_scale_of_part, text)
    text = _FRACTION_IN_WORDS.sub(_fraction_in_figures, text)
    text = _MIXED_FRACTION.sub(_point_for_fraction, text)
    if text == "half":
        return "1⁄2"
    words = text.split()
    written: list[str] = []
    place = 0
    while place < len(words):
        number = _number_at(words, place)
        if number is None:
            written.append(words[place])
            place += 1
        else:
            written.append(number.written)
            place += number.n_words
    text = _PERCENT.sub("", " ".join(written))
    return _MINUS_IN_WORDS.sub("\N{MINUS SIGN}", text)


def _with_scale_word(match: re.Match) -> str:
    """Write "1.5m" as "1.5 million"."""
    figure, unit = (part for part in match.groups() if part is not None)
    return f"{figure} {_SCALES_OF_UNITS[unit.casefold()]}"


def _year_in_figures(match: re.Match) -> str:
    """Write "nineteen eighty-four" as "1984"; "twenty-thirty" and lists stay."""
    before = _LAST_WORD.search(match.string[max(0, match.start() - 20) : match.start()])
    if before and before[1].casefold() in _VALUES | _SCALES:
        return match[0]
    parts = {name: (word or "").casefold() for name, word in match.groupdict().items()}
    if parts["gap"] == "-" and not (parts["unit"] or parts["nine"]):
        return match[0]
    rest = sum(_VALUES.get(parts[name], 0) for name in ("tens", "unit", "teen", "nine"))
    return f"{_VALUES[parts['century']]}{rest:02d}"


def _fraction_in_figures(match: re.Match) -> str:
    """Write "two thirds" as "2⁄3"."""
    count, part = (word for word in match.groups() if word is not None)
    if count == "a":
        count = "one"
    return f"{_DIGIT_WORDS.get(count, count)}⁄{_DENOMINATORS[part]}"


def _point_for_part(match: re.Match) -> str:
    """Write "two and a half" as "two point 5"."""
    number, *parts = (word for word in match.groups() if word is not None)
    return f"{number} point {_DECIMALS_OF_PARTS[parts[0]]}"


def _point_before_scale(match: re.Match) -> str:
    """Write "two million and a half" as "two point 5 million"."""
    number, scale, *parts = match.groups()
    decimals = _DECIMALS_OF_PARTS[parts[0] or parts[1]]
    return f"{number or 1} point {decimals} {scale}"


def _scale_of_part(match: re.Match) -> str:
    """Write "half a million" as "0 point 5 million"."""
    part, scale = (word for word in match.groups() if word is not None)
    return f"0 point {_DECIMALS_OF_PARTS[part]} {scale}"


def _point_for_fraction(match: re.Match) -> str:
    """Write "2 1⁄2" as "2 point 5"."""
    return f"{match[1]} point {_DECIMALS_OF_FRACTIONS[match[2]]}"


def _number_at(words: list[str], place: int) -> Number | None:
    """Return the number that begins at a place among words; None if none does."""
    figure = _FIGURE.fullmatch(words[place])
    if figure:
        sign = figure[1]
        value = int(figure[2])
        written = words[place]
        n_words = 1
    else:
        sign = ""
        value, n_words, is_ordinal = _number_in_words(words, place)
        if n_words == 0:
            return None
        written = str(value)
        if is_ordinal:
            return Number(_ordinal(value), n_words)
    decimals, n_words_of_decimals = _decimals_at(words, place + n_words)
    n_words += n_words_of_decimals
    if decimals:
        written = f"{written} point {decimals}"
    scale, n_words_of_scale = _scale_at(words, place + n_words)
    if n_words_of_scale == 0:
        return Number(written, n_words)
    whole, rest = divmod(int(f"{value}{decimals}") * scale, 10 ** len(decimals))
    if rest:
        return Number(written, n_words)
    return Number(f"{sign}{whole}", n_words + n_words_of_scale)


def _decimals_at(words: list[str], place: int) -> tuple[str, int]:
    """Return the decimals behind the word "point" at a place, and how many words.

    They are a figure, digits one by one ("one four"), or one number ("fourteen").
    """
    if place + 1 >= len(words) or words[place] != "point":
        return "", 0
    first = words[place + 1]
    if first.isdecimal():
        if len(first) > MOST_DIGITS:
            return "", 0
        return first, 2
    digits = []
    for word in words[place + 1 : place + 1 + MOST_DIGITS]:
        if word not in _DIGIT_WORDS:
            break
        digits.append(_DIGIT_WORDS[word])
    if digits:
        return "".join(digits), 1 + len(digits)
    if first not in _VALUES:
        return "", 0
    value, n_words, is_ordinal = _number_in_words(words[: place + 3], place + 1)
    if is_ordinal or value > 99:
        return str(_VALUES[first]), 2
    return str(value), 1 + n_words


def _scale_at(words: list[str], place: int) -> tuple[int, int]:
    """Return what the scales at a place multiply by ("hundred million"), and how many.

    No more than two are read: no number has more.
    """
    scale = 1
    n_words = 0
    for word in words[place : place + 2]:
        if word not in _SCALES:
            break
        scale *= _SCALES[word]
        n_words += 1
    return scale, n_words


def _number_in_words(words: list[str], start: int) -> tuple[int, int, bool]:
    """Return the number words begin with, how many it takes, and if it is ordinal.

    `total` holds what is closed by thousand, million or billion, `part` the rest.
    `last` is the size of the last word (a unit counts as 19, the largest one): a word
    may only follow a larger one.
    """
    total = 0
    part = 0
    last = 10**15
    length = 0
    words = words[start : start + MOST_WORDS]
    for place, word in enumerate(words):
        if word == "and" and last in _SCALES.values() and place + 1 < len(words):
            continue
        value = _VALUES.get(word, _ORDINALS.get(word))
        if value is not None:
            if not _may_follow(value, last):
                break
            part += value
            last = value if value > 19 else 19
            length = place + 1
            if word in _ORDINALS:
                return total + part, length, True
        elif word in _ANY_SCALES and (length or place == 0):
            last = _ANY_SCALES[word]
            length = place + 1
            if last > 100 and part == 0 and total > 0:  # a thousand million
                total *= last
            elif last > 100:
                total += max(part, 1) * last
                part = 0
            else:
                part = max(part, 1) * last
            if word in _ORDINAL_SCALES:
                return total + part, length, True
        else:
            break
    return total + part, length, False


def _may_follow(value: int, last: int) -> bool:
    """Say whether a word of this value continues a number whose last has this size."""
    if last <= 19:
        return False
    if last < 100:  # twenty-one, but not twenty zero or twenty ten
        return 0 < value <= 9
    return True


def _ordinal(value: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, but 11th, 12th, 13th."""
    if value % 100 in (11, 12, 13):
        return f"{value}th"
    return f"{value}{_ORDINAL_ENDINGS.get(value % 10, 'th')}"
