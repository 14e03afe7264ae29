"""What a name looks like: a word, several words, a code or a number."""

import re
from collections.abc import Iterable

# From numbers to words, each next to those that it is most like.
FORMS = (
    "number",  # 67, 1803
    "signed number",  # +599, +1 868
    "digits and signs",  # 7440-21-3
    "code with digits or signs",  # US-NY, JP-41, .fr
    "capitals",  # LTU, HECA
    "letters",  # kk, Pd, Latn
    "word",  # France
    "words",  # South America, America/Bogota
)
NUMBER_FORMS = FORMS[:3]
WORD_FORMS = FORMS[6:]
MOST_CAPITALS = 4  # more are a word: PARIS
FEWEST_OF_ONE_LENGTH = 10  # fewer names may have one length by chance

_BETWEEN_WORDS = re.compile(r"[\s/_-]+")


def object_form(name: str, of_one_length: bool = False) -> str:
    """Return which of `FORMS` a name has, by its characters alone.

    A part of a name is a word if it has four letters or more, not all of them capitals
    (or more than four), or three that begin with a capital and go on in small letters
    ("Lao"), or a letter of a script without capitals. A name without such a part is a
    number or a code.

    Parameters
    ----------
    name
        Of an object.
    of_one_length
        Whether all names of its relation have as many characters. Those are codes, even
        if they look like words ("Latn").

    Examples
    --------
    >>> [object_form(name) for name in ("1803", "+599", "7440-21-3", "US-NY", ".fr")]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['number', 'signed number', 'digits and signs', 'code with digits or signs',
     'code with digits or signs']
    >>> [object_form(name) for name in ("LTU", "kk", "France", "South America")]
    ['capitals', 'letters', 'word', 'words']
    >>> object_form("Latn"), object_form("Latn", of_one_length=True)
    ('word', 'letters')
    """
    letters = [character for character in name if character.isalpha()]
    if not letters:
        return _form_without_letters(name)
    parts = parts_of_name(name)
    is_word = any(_is_word(part) for part in parts)
    if of_one_length and not any(_is_caseless(letter) for letter in letters):
        is_word = False
    if is_word:
        return "word" if len(parts) == 1 else "words"
    if not name.isalpha():
        return "code with digits or signs"
    return "capitals" if name.isupper() else "letters"


def parts_of_name(name: str) -> list[str]:
    """Return what stands between a name's blanks, slashes and hyphens.

    >>> parts_of_name("America/Port-au-Prince")
    ['America', 'Port', 'au', 'Prince']
    """
    return [part for part in _BETWEEN_WORDS.split(name) if part]


def kind_of_form(form: str) -> str:
    """Return whether a form is of words, codes or numbers.

    >>> [kind_of_form(form) for form in ("words", "capitals", "signed number")]
    ['words', 'codes', 'numbers']
    """
    if form in NUMBER_FORMS:
        return "numbers"
    return "words" if form in WORD_FORMS else "codes"


def forms_of_relation(names: Iterable[str]) -> dict[str, str]:
    """Return the form of each name of one relation.

    >>> forms_of_relation(["Lao", "Thai"])
    {'Lao': 'word', 'Thai': 'word'}
    """
    names = sorted(set(names))
    n_lengths = len({len(name) for name in names})
    of_one_length = n_lengths == 1 and len(names) >= FEWEST_OF_ONE_LENGTH
    return {name: object_form(name, of_one_length) for name in names}


def _form_without_letters(name: str) -> str:
    """Return the form of a name of digits and signs."""
    if name.isdigit():
        return "number"
    if not any(character.isdigit() for character in name):
        return "code with digits or signs"
    behind_sign = name[1:].replace(" ", "")
    if behind_sign.isdigit() and not name[0].isdigit():
        return "signed number"
    return "digits and signs"


def _is_word(part: str) -> bool:
    """Say whether a part of a name is a word and no code."""
    letters = "".join(character for character in part if character.isalpha())
    if any(_is_caseless(letter) for letter in letters):
        return True
    if letters.isupper():
        return len(letters) > MOST_CAPITALS
    if len(letters) == 3:
        return letters[0].isupper() and letters[1:].islower()
    return len(letters) > 3


def _is_caseless(letter: str) -> bool:
    """Say whether a letter's script has no capitals."""
    return letter.lower() == letter.upper()
