"""Token ids of many texts that begin alike, without tokenising the beginning for each.

Tokenising a prompt of fifty examples with each of a hundred continuations reads the same examples
a hundred times. Here only the last example and what follows are, and put behind the ids of the
rest; where a whole text, tokenised to see, disagrees, all texts are tokenised whole.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence

LOG = logging.getLogger(__name__)
Ids = tuple[int, ...]
Tokenise = Callable[[list[str]], list[Ids]]

# Texts of fewer characters, and prompts with fewer continuations, are tokenised whole.
SHORT = 300
FEW = 8
# Tokens in which the last example may begin differently when it stands alone.
MARGIN = 3
# Texts that are tokenised whole to see, beside the first and last one of each prompt.
SAMPLE = 32


def joint(pairs: Sequence[tuple[str, str]], whole: Tokenise, part: Tokenise) -> list[Ids]:
    """Return the ids of each prompt and continuation as one text.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Prompt and continuation.
    whole : callable
        From texts to ids, special tokens included.
    part : callable
        From texts to ids, without special tokens.

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> letters = lambda texts: [tuple(map(ord, text)) for text in texts]
    >>> joint([("a", "b"), ("a", "c")], letters, letters)
    [(97, 98), (97, 99)]
    """
    groups: dict[str, list[int]] = {}
    for at, (prompt, _) in enumerate(pairs):
        groups.setdefault(prompt, []).append(at)
    found: dict[int, Ids] = {}
    for prompt, places in groups.items():
        found |= _group(prompt, {at: pairs[at][1] for at in places}, whole, part)
    spliced = sorted(found)
    seen = random.Random(0).sample(spliced, min(SAMPLE, len(spliced)))
    if whole(["".join(pairs[at]) for at in seen]) != [found[at] for at in seen]:
        LOG.info("The last example alone has other tokens; all texts are tokenised whole.")
        found = {}
    rest = [at for at in range(len(pairs)) if at not in found]
    found |= dict(zip(rest, whole(["".join(pairs[at]) for at in rest])))
    return [found[at] for at in range(len(pairs))]


def _group(prompt: str, ends: dict[int, str], whole: Tokenise, part: Tokenise) -> dict[int, Ids]:
    """Return the ids of texts of one prompt; none of those for which the splice cannot be told."""
    line = prompt.rfind("\n", 0, max(0, prompt.rfind("\n"))) + 1  # where the last example begins
    if len(prompt) < SHORT or len(ends) < FEW or len(prompt) - line > len(prompt) // 2:
        return {}
    places = list(ends)
    shorts = dict(zip(places, part([prompt[line:] + end for end in ends.values()])))
    first, last = whole([prompt + ends[places[0]], prompt + ends[places[-1]]])
    same = common_prefix(first[::-1], shorts[places[0]][::-1])
    before, other = first[: len(first) - same], shorts[places[0]][: -same or None]
    if same == 0 or len(other) > MARGIN:
        return {}
    cut = len(other)
    found = {at: before + ids[cut:] for at, ids in shorts.items() if ids[:cut] == other}
    return found if found.get(places[-1]) == last else {}


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many elements two sequences share from their start on.

    Examples
    --------
    >>> common_prefix([1, 2, 3], [1, 2, 4, 5])
    2
    """
    # Halving compares slices at the speed of C: texts of hundreds of tokens share most of them.
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
