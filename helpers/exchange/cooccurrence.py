"""How often a corpus contains facts: texts that name both subject and object."""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError, check_columns
from helpers.io.files import parse_json, read_lines

WORD_PATTERN = re.compile(r"\w+")
SENTENCE_BREAK_PATTERN = re.compile(r"(?<=[.!?])\s+|\n+")
CORPUS_SUFFIXES = (".txt", ".jsonl")
Pair = tuple[str, str]  # subject, object
Span = tuple[int, int]  # start and end in a text


def cooccurrence_counts(
    facts: pd.DataFrame,
    corpus: Iterable[str],
    *,
    aliases: Mapping[str, Sequence[str]] | None = None,
    by: str = "document",
    match_case: bool = False,
) -> pd.Series:
    r"""Count the documents in which a fact's subject and object occur together.

    A name counts where it stands as whole words, in Unicode's form NFKC. Subject and
    object must not overlap: "Mexico City" alone is no co-occurrence of Mexico City and
    Mexico. Co-occurrence is not statement: the text may deny the fact, or be about
    something else. The corpus is read once.

    Parameters
    ----------
    facts : DataFrame
        ``subject, object``.
    corpus : iterable of str
        Documents, such as those of :func:`read_corpus_documents`.
    aliases : mapping, optional
        A subject or an object to its other names, any of which counts.
    by : {"document", "sentence"}
        Count sentences that hold both, which end at ``.``, ``!``, ``?``, or with the
        line.
    match_case : bool
        Whether Nice and nice differ.

    Returns
    -------
    Series
        Counts of at least 0 named ``exposure``, indexed as `facts`.

    Raises
    ------
    UserError
        If a column is missing, `by` is another word, or a name holds no letter or
        digit.

    Examples
    --------
    >>> facts = pd.DataFrame({"subject": ["Lyon", "Nice"], "object": "France"})
    >>> texts = ["Lyon, in France, is old. A nice day!", "FRANCE: Lyon and\nNice."]
    >>> cooccurrence_counts(facts, texts).tolist()
    [2, 2]
    >>> cooccurrence_counts(facts, texts, by="sentence", match_case=True).tolist()
    [1, 0]
    """
    check_columns(facts, ["subject", "object"], "facts")
    if by not in ("document", "sentence"):
        raise UserError(f"by is {by!r}: give document or sentence.")
    subjects = facts["subject"].astype(str)
    pairs = list(zip(subjects, facts["object"].astype(str), strict=True))
    objects = _objects_by_subject(pairs)
    names = _names_by_form(pairs, aliases or {}, match_case)
    forms = _forms_by_rarest_word(names)
    counts: Counter[tuple[str, str]] = Counter()
    for document in corpus:
        texts = [document]
        if by == "sentence":
            texts = SENTENCE_BREAK_PATTERN.split(document)
        for text in texts:
            spans = _spans_by_name(_comparable(text, match_case), forms, names)
            counts.update(_pairs_side_by_side(spans, objects))
    exposure = [counts[pair] for pair in pairs]
    return pd.Series(exposure, facts.index, dtype=int, name="exposure")


def read_corpus_documents(*paths: str | Path, key: str = "text") -> Iterator[str]:
    """Read the documents of a corpus one after another, without holding them in memory.

    Parameters
    ----------
    *paths : str or Path
        Files, or folders of files, taken in the order of their names: ``.txt``, a
        document a line; ``.jsonl``, a JSON object a line; either packed as ``.gz``.
    key : str
        Of the objects: where the text is.

    Yields
    ------
    str
        A document; empty ones are left out.

    Raises
    ------
    UserError
        If there is no such file, it is of another kind or damaged, or a line lacks its
        text.
    """
    for path in map(Path, paths):
        files = _corpus_files(path)
        if not path.exists():
            raise UserError(
                f"There is no file or folder {path}: check the path of the corpus."
            )
        if not files:
            raise UserError(
                f"{path} is or holds no .txt or .jsonl file, nor one packed as .gz."
            )
        for file in files:
            yield from _documents_of_file(file, key)


def _corpus_files(path: Path) -> list[Path]:
    """Return the files of a corpus in a folder, in order, or the file itself."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in files if _suffix(file) in CORPUS_SUFFIXES]


def _suffix(file: Path) -> str:
    """Return the ending of a file's name, packed or not."""
    return Path(file.name.removesuffix(".gz")).suffix


def _documents_of_file(file: Path, key: str) -> Iterator[str]:
    """Yield the documents of a file, one a line."""
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        if _suffix(file) == ".jsonl":
            yield _text_of_object(line, key, f"{file}, line {number}")
        else:
            yield line


def _text_of_object(line: str, key: str, where: str) -> str:
    """Return the text that a JSON object has under a key."""
    row = parse_json(line, where)
    text = row.get(key) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise UserError(f"{where} has no text under {key!r}: name another key.")
    return text


def _comparable(text: str, match_case: bool) -> str:
    """Return a text as it is compared."""
    text = unicodedata.normalize("NFKC", text)
    if not match_case:
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.split())


def _objects_by_subject(pairs: Sequence[Pair]) -> dict[str, set[str]]:
    """Return the objects of each subject."""
    objects: dict[str, set[str]] = defaultdict(set)
    for subject, obj in pairs:
        objects[subject].add(obj)
    return objects


def _names_by_form(
    pairs: Sequence[Pair], aliases: Mapping[str, Sequence[str]], match_case: bool
) -> dict[str, set[str]]:
    """Return which subjects and objects each form in a text may stand for."""
    names: dict[str, set[str]] = defaultdict(set)
    for name in itertools.chain.from_iterable(pairs):
        for form in (name, *aliases.get(name, ())):
            names[_comparable(form, match_case)].add(name)
    return names


def _forms_by_rarest_word(forms: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the forms to look for where a word stands, and its offset in each.

    A form is looked for only where that word of it stands that fewest forms share.
    """
    words = {form: WORD_PATTERN.findall(form) for form in forms}
    n_forms: Counter[str] = Counter()
    for form, words_of_form in words.items():
        if not words_of_form:
            raise UserError(
                f"The name {form!r} holds no letter or digit: leave it out."
            )
        n_forms.update(set(words_of_form))
    by_word: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for form, words_of_form in words.items():
        rarest = min(words_of_form, key=n_forms.__getitem__)
        for match in WORD_PATTERN.finditer(form):
            if match[0] == rarest:
                by_word[rarest].append((form, match.start()))
                break
    return by_word


def _spans_by_name(
    text: str,
    forms: Mapping[str, list[tuple[str, int]]],
    names: Mapping[str, set[str]],
) -> dict[str, list[Span]]:
    """Return where each name stands in a text, as whole words."""
    spans: dict[str, list[Span]] = defaultdict(list)
    for match in WORD_PATTERN.finditer(text):
        for form, offset in forms.get(match[0], ()):
            start = match.start() - offset
            if start < 0 or not text.startswith(form, start):
                continue
            end = start + len(form)
            neighbours = text[max(start - 1, 0) : start] + text[end : end + 1]
            if WORD_PATTERN.search(neighbours):
                continue
            for name in names[form]:
                spans[name].append((start, end))
    return spans


def _pairs_side_by_side(
    spans: Mapping[str, list[Span]], objects: Mapping[str, set[str]]
) -> Iterator[Pair]:
    """Yield the pairs of subject and object that stand in a text without overlap."""
    for subject in objects.keys() & spans.keys():
        for obj in objects[subject] & spans.keys():
            if _stand_apart(spans[subject], spans[obj]):
                yield subject, obj


def _stand_apart(first: list[Span], second: list[Span]) -> bool:
    """Return whether some span of one name does not overlap some span of the other."""
    return _some_before(first, second) or _some_before(second, first)


def _some_before(first: list[Span], second: list[Span]) -> bool:
    """Return whether some span of one name ends before some span of the other."""
    earliest_end = min(end for _, end in first)
    latest_start = max(start for start, _ in second)
    return earliest_end <= latest_start
