"""Many tests in one sequence (EIC-LKE), and lists with unknown or wrong pairs among them.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 3 and
Appendices C.2, E and F.
"""

import zlib
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts.formats import SEPARATORS
from helpers.prompts.lists import choose, draw, listing, opened, style

KINDS = ("unknown", "wrong")
PLACES = ("scattered", "block")
SYLLABLES = ("ba", "den", "fo", "gal", "hir", "ju", "kel", "lo", "mir", "nu", "pra", "so", "tev")


def eic_lke(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    n_examples: int = 50,
    every: int = 5,
    separator: str = "space and comma",
    seed: int = 0,
    variant: str = "eic",
) -> pd.DataFrame:
    """Put many facts of a relation into one sequence, and make one sequence a choice.

    After the first `n_examples` examples a tested pair follows, then one after every `every`
    further examples; in sequence j each of them bears its choice j. When the examples are used up
    a new sequence begins.

    Parameters
    ----------
    tests, pool, options, separator, seed, variant
        As in :func:`helpers.prompts.lists.ic_lke`. Here the paper puts a space between subject and
        object and a comma between pairs (Appendix C.2; its example in Appendix F has spaces alone).
    n_examples : int
        Examples before the first tested pair; a relation with fewer in its pool gives all.
    every : int
        Examples between two tested pairs: 5 in the paper.

    Returns
    -------
    DataFrame
        Probes as from :func:`helpers.prompts.lists.ic_lke`; a fact's choices stand behind different
        prompts, since the tested pairs before it bear their own choice of the same number. A fact
        with fewer choices than another before it sees that one's first choices.

    Raises
    ------
    UserError
        For an unknown separator, a relation without examples, or `every` below 1.

    Examples
    --------
    >>> pool = pd.DataFrame({"relation": "P17", "subject": ["Lyon", "Turin"],
    ...                      "object": ["France", "Italy"]})
    >>> tests = pd.DataFrame({"fact": ["a", "b"], "relation": "P17", "subject": ["Bern", "Nice"],
    ...                       "object": ["Switzerland", "France"]})
    >>> options = {"a": ["Peru", "Switzerland"], "b": ["Chad", "France"]}
    >>> probes = eic_lke(tests, pool, options, n_examples=1, every=1, separator="space")
    >>> for row in probes.itertuples():
    ...     print(row.option, "|", row.prompt, "|", row.continuation)
    0 | Turin Italy Bern |  Peru
    1 | Turin Italy Bern |  Switzerland
    0 | Turin Italy Bern Peru Lyon France Nice |  Chad
    1 | Turin Italy Bern Switzerland Lyon France Nice |  France
    """
    if every < 1:
        raise UserError(f"A tested pair stands after every {every} examples: give at least 1.")
    parts = []
    for relation, rows in tests.groupby("relation", sort=False):
        examples = draw(pool[pool["relation"] == relation], len(pool) or 1, seed)
        if examples.empty:
            raise UserError(f"There is no example of {relation}: take more facts of it.")
        first = min(n_examples, len(examples))
        room = 1 + (len(examples) - first) // every
        for start in range(0, len(rows), room):
            asked = list(rows.iloc[start : start + room].itertuples())
            parts.append(_sequence(asked, examples, options, first, every, separator, variant))
    return pd.concat(parts, ignore_index=True)


def _sequence(
    asked: Sequence,
    examples: pd.DataFrame,
    options: dict[str, list[str]],
    first: int,
    every: int,
    separator: str,
    variant: str,
) -> pd.DataFrame:
    """Return the probes of the sequences that ask a few facts, one sequence a choice."""
    between, parts = style(separator)[1], []
    most = max(len(options[row.fact]) for row in asked)
    heads = [listing(examples[:first], separator)] * most
    for number, row in enumerate(asked):
        subject, space = opened(row.subject, separator)
        prompts = [head + subject for head in heads]
        here = options[row.fact]
        part = choose([(row, variant, "", space)], options)
        parts.append(part.assign(prompt=prompts[: len(here)]))
        at = first + number * every
        after = between + listing(examples[at : at + every], separator)
        heads = [p + space + here[j % len(here)] + after for j, p in enumerate(prompts)]
    return pd.concat(parts, ignore_index=True)


def in_list(pairs: pd.DataFrame, separator: str = "space", variant: str = "list") -> pd.DataFrame:
    """Ask for the object at every place of one list, given the pairs before it.

    Parameters
    ----------
    pairs : DataFrame
        ``fact, relation, subject, object`` in the order of the list; other columns are kept.
    separator, variant : str
        As in :func:`helpers.prompts.lists.ic_lke`.

    Returns
    -------
    DataFrame
        Probes, one a place, in order, with ``place`` from 0.

    Examples
    --------
    >>> pairs = pd.DataFrame({"fact": ["a", "b"], "relation": "P17", "subject": ["Lyon", "Turin"],
    ...                       "object": ["France", "Italy"]})
    >>> in_list(pairs)["prompt"].tolist()
    ['Lyon', 'Lyon France Turin']
    """
    between, head, rows = style(separator)[1], "", []
    for place, row in enumerate(pairs.itertuples()):
        subject, space = opened(row.subject, separator)
        prompt = head + subject
        rows.append((row.fact, variant, 0, prompt, space + row.object, True, place))
        head = prompt + space + row.object + between
    columns = ["item", "variant", "option", "prompt", "continuation", "correct", "place"]
    kept = pairs.drop(columns="fact").reset_index(drop=True)
    return pd.concat([pd.DataFrame(rows, columns=columns), kept], axis=1)


def spoilt(pairs: pd.DataFrame, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return a list as it is, and with a fifth of its pairs replaced in each way of `corrupt`.

    Parameters
    ----------
    pairs : DataFrame
        As for :func:`in_list`.
    seed : int
        Of the draws.

    Returns
    -------
    dict
        ``all true``, then ``unknown, scattered`` and so on; the first alone where all objects are
        the same, so that none is wrong.

    Examples
    --------
    >>> pairs = pd.DataFrame({"fact": list("ab"), "relation": "r", "subject": list("vw"),
    ...                       "object": list("12")})
    >>> {name: rows["status"].tolist() for name, rows in spoilt(pairs).items()}["wrong, block"]
    ['replaced', 'following']
    """
    found = {"all true": pairs.assign(status="other")}
    if len(set(pairs["object"])) > 1:
        for kind, place in product(KINDS, PLACES):
            n = max(1, len(pairs) // 5)
            found[f"{kind}, {place}"] = corrupt(pairs, kind, place, n, seed)
    return found


def corrupt(pairs: pd.DataFrame, kind: str, place: str, n: int = 40, seed: int = 0) -> pd.DataFrame:
    """Replace some pairs of a list by ones that nobody can know, or by false ones.

    >>> pairs = pd.DataFrame({"fact": list("abcde"), "relation": "r", "subject": list("vwxyz"),
    ...                       "object": list("12345")})
    >>> corrupt(pairs, "wrong", "block", n=2)["status"].tolist()
    ['before', 'replaced', 'replaced', 'following', 'other']
    """
    if kind not in KINDS or place not in PLACES:
        raise UserError(
            f"Pairs are replaced by {' or '.join(KINDS)} ones, {' or '.join(PLACES)}; "
            f'not "{kind}", "{place}".'
        )
    if not 0 < n < len(pairs):
        raise UserError(f"{n} of {len(pairs)} pairs cannot be replaced: give 1 to all but one.")
    random = np.random.default_rng([seed, zlib.crc32(f"{kind} {place}".encode())])
    start = (len(pairs) - n) // 2
    at = np.arange(start, start + n)
    if place == "scattered":
        at = np.sort(1 + random.choice(len(pairs) - 1, n, replace=False))
    subjects, objects = pairs["subject"].tolist(), pairs["object"].tolist()
    known, names = sorted(set(objects)), set(subjects)
    for row in at.tolist():
        wrong = [other for other in known if other != objects[row]]
        objects[row] = wrong[random.integers(len(wrong))]
        if kind == "unknown":
            subjects[row] = _name(random, names)
            names.add(subjects[row])
    place_in_list = np.arange(len(pairs))
    replaced = np.isin(place_in_list, at)
    following = ~replaced & np.concatenate([[False], replaced[:-1]])
    cases = [replaced, following, place_in_list < at[0]]
    status = np.select(cases, ["replaced", "following", "before"], "other")
    return pairs.assign(subject=subjects, object=objects, status=status)


def _name(random: np.random.Generator, taken: set[str]) -> str:
    """Invent a name of two or three syllables that is not taken."""
    while True:
        name = "".join(random.choice(SYLLABLES, random.integers(2, 4))).capitalize()
        if name not in taken:
            return name


def as_released(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    n_examples: int = 50,
    seed: int = 0,
    variant: str = "released",
) -> pd.DataFrame:
    """Ask facts with the very strings of the authors' released code, for comparison with ours.

    It puts the separator behind the tested subject and once more before each choice, and only a
    space between the last example and the tested subject.

    Parameters
    ----------
    tests, pool, options, n_examples, seed, variant
        As in :func:`helpers.prompts.lists.ic_lke`.

    Examples
    --------
    >>> pool = pd.DataFrame({"relation": "P17", "subject": ["Lyon", "Nice"], "object": "France"})
    >>> tests = pd.DataFrame({"fact": ["b"], "relation": "P17", "subject": ["Bern"],
    ...                       "object": ["Peru"]})
    >>> probe = as_released(tests, pool[:1], {"b": ["Peru"]}).iloc[0]
    >>> probe["prompt"] + probe["continuation"]
    'Lyon : France Bern :  : Peru'
    """
    inner = SEPARATORS["colon and comma"][0]
    examples, heads = draw(pool, n_examples, seed), {}
    for relation, rows in examples.groupby("relation", sort=False):
        pairs = zip(rows["subject"], rows["object"])
        heads[relation] = ", ".join(f"{subject}{inner}{obj} " for subject, obj in pairs)
    end = inner + inner.rstrip()
    asked = [(t, variant, heads[t.relation] + t.subject + end, " ") for t in tests.itertuples()]
    return choose(asked, options)
