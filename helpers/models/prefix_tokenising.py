"""Token ids of many texts that begin alike, without tokenising the beginning for each.

Only a prompt's last example (or last words) and what follows are tokenised with each
continuation; where a whole text, tokenised to see, disagrees, all texts are tokenised
whole.
"""

import logging
import random
from collections.abc import Callable, Sequence

LOG = logging.getLogger(__name__)
Ids = tuple[int, ...]
Tokenise = Callable[[list[str]], list[Ids]]

# Texts of fewer characters, and prompts with fewer continuations, are tokenised whole.
FEWEST_CHARACTERS = 300
FEWEST_CONTINUATIONS = 8
# Characters at a prompt's end that are tokenised with each continuation, where it is
# one long line.
TAIL_CHARACTERS = 40
# Tokens in which the last example may begin differently when it stands alone.
MARGIN_TOKENS = 3
# Texts that are tokenised whole to see, beside the first and last one of each prompt.
N_SAMPLED_TEXTS = 32


def joint_token_ids(
    pairs: Sequence[tuple[str, str]], whole: Tokenise, part: Tokenise
) -> list[Ids]:
    """Return the ids of each prompt and continuation as one text."""
    texts = [prompt + continuation for prompt, continuation in pairs]
    groups, tails = _groups_and_tails(pairs)
    tail_ids = dict(zip(tails, part(list(tails.values())), strict=True))
    sampled = random.Random(0).sample(list(tails), min(N_SAMPLED_TEXTS, len(tails)))
    ends = [index for group in groups for index in (group[0], group[-1])]
    checked = list(dict.fromkeys([*ends, *sampled]))
    whole_ids = _whole_ids(texts, checked, whole)
    joint: dict[int, Ids] = {}
    for group in groups:
        first, last = group[0], group[-1]
        tail_ids_of_group = {index: tail_ids[index] for index in group}
        joint_of_group = _put_together(tail_ids_of_group, whole_ids[first])
        if joint_of_group.get(last) == whole_ids[last]:
            joint |= joint_of_group
    if any(joint.get(index, whole_ids[index]) != whole_ids[index] for index in sampled):
        LOG.info(
            "The last example alone has other tokens; all texts are tokenised whole."
        )
        joint = {}
    joint |= whole_ids
    rest = [index for index in range(len(texts)) if index not in joint]
    joint |= _whole_ids(texts, rest, whole)
    return [joint[index] for index in range(len(texts))]


def _groups_and_tails(
    pairs: Sequence[tuple[str, str]],
) -> tuple[list[list[int]], dict[int, str]]:
    """Return the indices of texts with one long prompt each, and the texts' ends."""
    indices_of_prompts: dict[str, list[int]] = {}
    for index, (prompt, _) in enumerate(pairs):
        indices_of_prompts.setdefault(prompt, []).append(index)
    groups = []
    tails = {}
    for prompt, indices in indices_of_prompts.items():
        cut = _last_example(prompt)
        if cut == 0 or len(indices) < FEWEST_CONTINUATIONS:
            continue
        groups.append(indices)
        for index in indices:
            tails[index] = (prompt + pairs[index][1])[cut:]
    return groups, tails


def _whole_ids(texts: list[str], indices: list[int], whole: Tokenise) -> dict[int, Ids]:
    """Return the ids of the texts at some indices, tokenised whole."""
    ids = whole([texts[index] for index in indices])
    return dict(zip(indices, ids, strict=True))


def _last_example(prompt: str) -> int:
    """Return where a prompt's last two lines, or last words, begin; 0: not worth it."""
    if len(prompt) < FEWEST_CHARACTERS:
        return 0
    last_break = max(0, prompt.rfind("\n"))
    cut = prompt.rfind("\n", 0, last_break) + 1
    if 2 * cut < len(prompt):
        cut = prompt.rfind(" ", 0, max(0, len(prompt) - TAIL_CHARACTERS))
    if 2 * cut < len(prompt):
        return 0
    return cut


def _put_together(tail_ids: dict[int, Ids], first: Ids) -> dict[int, Ids]:
    """Return whole ids from those of the texts' ends and of the first whole text."""
    first_tail = next(iter(tail_ids.values()))
    n_common = common_prefix_length(first[::-1], first_tail[::-1])
    margin = first_tail[: len(first_tail) - n_common]
    if n_common == 0 or len(margin) > MARGIN_TOKENS:
        return {}
    beginning = first[: len(first) - n_common]
    n_margin = len(margin)
    return {
        index: beginning + ids[n_margin:]
        for index, ids in tail_ids.items()
        if ids[:n_margin] == margin
    }


def common_prefix_length(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many elements two sequences share from their start on."""
    # Halving compares slices at the speed of C: texts of hundreds of tokens share most
    # of them.
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
