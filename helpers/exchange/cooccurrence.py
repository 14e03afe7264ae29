"""How often a corpus contains facts: documents, or sentences, that name subject and object."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError, check_columns
from helpers.io.files import parse_json, read_lines

WORD_PATTERN = re.compile(r"\w+")
SENTENCE_BREAK_PATTERN = re.compile(r"(?<=[.!?])\s+|\n+")


def cooccurrence_counts(
    facts: pd.DataFrame,
    corpus: Iterable[str],
    *,
    aliases: Mapping[str, Sequence[str]] | None = None,
    by: str = "document",
    match_case: bool = False,
) -> pd.Series:
    r"""Count the documents of a corpus in which a fact's subject and object occur together.

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
    pairs = list(zip(facts["subject"].astype(str), facts["object"].astype(str)))
    find = _finder(pairs, aliases or {}, match_case)
    counts: Counter[tuple[str, str]] = Counter()
    for document in corpus:
        for text in (
            SENTENCE_BREAK_PATTERN.split(document) if by == "sentence" else (document,)
        ):
            counts.update(find(_plain(text, match_case)))
    return pd.Series(
        [counts[pair] for pair in pairs], facts.index, dtype=int, name="exposure"
    )


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
        files = (
            sorted(file for file in path.rglob("*") if _kind(file))
            if path.is_dir()
            else [path]
        )
        if not path.exists():
            raise UserError(
                f"There is no file or folder {path}: check the path of the corpus."
            )
        if not files or not _kind(files[0]):
            raise UserError(
                f"{path} is or holds no .txt or .jsonl file, nor one packed as .gz."
            )
        for file in files:
            yield from _texts(file, key)


def _kind(file: Path) -> str:
    """Return what a file of a corpus holds: .txt or .jsonl; "" for other files."""
    kind = Path(file.name.removesuffix(".gz")).suffix
    return kind if kind in (".txt", ".jsonl") else ""


def _texts(file: Path, key: str) -> Iterator[str]:
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        if _kind(file) == ".jsonl":
            where = f"{file}, line {number}"
            row = parse_json(line, where)
            line = row.get(key) if isinstance(row, dict) else None
            if not isinstance(line, str):
                raise UserError(f"{where} has no text under {key!r}: name another key.")
        yield line


def _plain(text: str, match_case: bool) -> str:
    """Return a text as it is compared."""
    text = unicodedata.normalize("NFKC", text)
    text = text if match_case else unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.split())


def _finder(
    pairs: Sequence[tuple[str, str]], aliases: Mapping[str, Sequence[str]], case: bool
) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Return what finds the pairs whose names both occur in a text, at places apart."""
    objects: dict[str, set[str]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    for subject, obj in pairs:
        objects[subject].add(obj)
        for name in (subject, obj):
            for form in (name, *aliases.get(name, ())):
                names[_plain(form, case)].add(name)
    words = {form: WORD_PATTERN.findall(form) for form in names}
    if bare := [form for form, parts in words.items() if not parts]:
        raise UserError(f"The name {bare[0]!r} holds no letter or digit: leave it out.")
    # A form is looked for only where that word of it stands that fewest forms share.
    shared = Counter(word for parts in words.values() for word in set(parts))
    forms: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for form, parts in words.items():
        word = min(parts, key=shared.__getitem__)
        offset = next(
            match.start() for match in WORD_PATTERN.finditer(form) if match[0] == word
        )
        forms[word].append((form, offset))

    def found(text: str) -> Iterator[tuple[str, str]]:
        spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for match in WORD_PATTERN.finditer(text):
            for form, offset in forms.get(match[0], ()):
                start = match.start() - offset
                end = start + len(form)
                beside = text[max(start - 1, 0) : max(start, 0)] + text[end : end + 1]
                if (
                    start >= 0
                    and text.startswith(form, start)
                    and not WORD_PATTERN.search(beside)
                ):
                    for name in names[form]:
                        spans[name].append((start, end))
        for subject in objects.keys() & spans.keys():
            for obj in objects[subject] & spans.keys():
                if _apart(spans[subject], spans[obj]):
                    yield subject, obj

    return found


def _apart(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> bool:
    """Tell whether some place of one name does not overlap some place of the other."""
    (starts, ends), (others, other_ends) = zip(*first), zip(*second)
    return min(ends) <= max(others) or min(other_ends) <= max(starts)
