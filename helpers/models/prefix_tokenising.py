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
    groups: dict[str, list[int]] = {}
    for at, (prompt, _) in enumerate(pairs):
        groups.setdefault(prompt, []).append(at)
    cuts = {prompt: _last_example(prompt) for prompt in groups}
    groups = {
        p: places
        for p, places in groups.items()
        if cuts[p] and len(places) >= FEWEST_CONTINUATIONS
    }
    places = [at for group in groups.values() for at in group]
    texts = [prompt + continuation for prompt, continuation in pairs]
    shorts = dict(zip(places, part([texts[at][cuts[pairs[at][0]] :] for at in places])))
    ends = [at for group in groups.values() for at in (group[0], group[-1])]
    drawn = random.Random(0).sample(places, min(N_SAMPLED_TEXTS, len(places)))
    seen = list(dict.fromkeys([*ends, *drawn]))
    known = dict(zip(seen, whole([texts[at] for at in seen])))
    found: dict[int, Ids] = {}
    for group in groups.values():
        made = _put_together({at: shorts[at] for at in group}, known[group[0]])
        found |= made if made.get(group[-1]) == known[group[-1]] else {}
    if any(found.get(at, known[at]) != known[at] for at in drawn):
        LOG.info(
            "The last example alone has other tokens; all texts are tokenised whole."
        )
        found = {}
    found |= known
    rest = [at for at in range(len(pairs)) if at not in found]
    found |= dict(zip(rest, whole([texts[at] for at in rest])))
    return [found[at] for at in range(len(pairs))]


def _last_example(prompt: str) -> int:
    """Return where the line before a prompt's last, or its last words, begin; 0: does not pay."""
    cut = prompt.rfind("\n", 0, max(0, prompt.rfind("\n"))) + 1
    if 2 * cut < len(prompt):
        cut = prompt.rfind(" ", 0, max(0, len(prompt) - TAIL_CHARACTERS))
    return cut if len(prompt) >= FEWEST_CHARACTERS and 2 * cut >= len(prompt) else 0


def _put_together(shorts: dict[int, Ids], first: Ids) -> dict[int, Ids]:
    """Return whole ids from those of the texts' ends and of the first whole text."""
    short = next(iter(shorts.values()))
    same = common_prefix_length(first[::-1], short[::-1])
    before, other = first[: len(first) - same], short[: len(short) - same]
    if same == 0 or len(other) > MARGIN_TOKENS:
        return {}
    cut = len(other)
    return {at: before + ids[cut:] for at, ids in shorts.items() if ids[:cut] == other}


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
