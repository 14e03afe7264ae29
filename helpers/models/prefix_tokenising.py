"""Token ids of many texts that begin alike, without tokenising the beginning for each.

A prompt is tokenised once, and its last word again with each continuation, however many
prompts end in it: no token of the vocabulary goes across the space before it, so what
comes before that word keeps its tokens. Where the vocabulary has such tokens, where the
word alone has others than at the prompt's end, or where a whole text, tokenised to see,
disagrees, texts are tokenised whole.
"""

import itertools
import logging
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

LOG = logging.getLogger(__name__)
Ids = tuple[int, ...]
Tokenise = Callable[[list[str]], list[Ids]]

# Texts that are tokenised whole to see.
N_SAMPLED_TEXTS = 32
# What is before a prompt's last word and the one space before that.
UP_TO_LAST_WORD = re.compile(r".*\S(?= \S)", re.DOTALL)
# A token that goes on with a space behind something else, as vocabularies write spaces
# and ends of lines; in those of bytes, the last letters are a space that is not broken.
TOKEN_ACROSS_WORDS = re.compile(r"[^\sĠĊĉč▁](?<!Âł)[ Ġ▁]")


class TokenIds(tuple[int, ...]):
    """Ids that many rows share: they are hashed once."""

    @cached_property
    def content_hash(self) -> int:
        """The hash of the ids, as that of any tuple."""
        return super().__hash__()

    def __hash__(self) -> int:
        return self.content_hash


@dataclass(frozen=True)
class SplitPrompt:
    """A prompt, and from where on it is tokenised with each continuation."""

    kept_ids: Ids  # of what is before `end`
    end: str  # the last word, or the whole text where the prompt is not split
    end_ids: Ids


def words_are_apart(vocabulary: Iterable[str]) -> bool:
    """Return whether no token of a vocabulary goes across the space before a word."""
    # Some code that comes with a model has bytes for tokens; b' word' is not apart.
    return not any(map(TOKEN_ACROSS_WORDS.search, map(str, vocabulary)))


def split_prompts_and_tails(
    ids_of_prompts: Mapping[str, Ids],
    pairs: Sequence[tuple[str, str]],
    whole: Tokenise,
    part: Tokenise,
    may_split: bool,
) -> tuple[dict[str, SplitPrompt], list[Ids]]:
    """Return the prompts, split, and for each pair the ids that follow the kept ones.

    Parameters
    ----------
    ids_of_prompts : mapping of str to tuple of int
    pairs : sequence of (str, str)
        Prompt and continuation, which are read as one text.
    whole, part : callable
        Return the ids of whole texts, and of texts that stand within others.
    may_split : bool
        Whether the vocabulary's words are apart.
    """
    if may_split:
        splits = _split_prompts(ids_of_prompts, part)
        tails = _tails_of_pairs(splits, pairs, whole, part)
        if _are_those_of_whole_texts(tails, splits, pairs, whole):
            return splits, tails
        LOG.info("The last word alone has other tokens; all texts are tokenised whole.")
    splits = _unsplit_prompts(ids_of_prompts)
    return splits, _tails_of_pairs(splits, pairs, whole, part)


def _unsplit_prompts(ids_of_prompts: Mapping[str, Ids]) -> dict[str, SplitPrompt]:
    """Return prompts that are tokenised whole with each continuation."""
    prompts_and_ids = ids_of_prompts.items()
    return {prompt: SplitPrompt((), prompt, ids) for prompt, ids in prompts_and_ids}


def _split_prompts(
    ids_of_prompts: Mapping[str, Ids], part: Tokenise
) -> dict[str, SplitPrompt]:
    """Return prompts split before their last word where that has the same tokens."""
    ends_of_prompts = {prompt: _possible_ends(prompt) for prompt in ids_of_prompts}
    ends = list(itertools.chain(*ends_of_prompts.values()))
    ids_of_ends = dict(zip(ends, part(ends), strict=True))
    splits = _unsplit_prompts(ids_of_prompts)
    for prompt, ids in ids_of_prompts.items():
        for end in ends_of_prompts[prompt]:
            end_ids = ids_of_ends[end]
            n_kept = len(ids) - len(end_ids)
            if end_ids and n_kept > 0 and ids[n_kept:] == end_ids:
                splits[prompt] = SplitPrompt(ids[:n_kept], end, end_ids)
                break
    return splits


def _possible_ends(prompt: str) -> list[str]:
    """Return what of a prompt may be tokenised alone: its last word."""
    match = UP_TO_LAST_WORD.match(prompt)
    if not match:
        return []
    end = prompt[match.end() :]
    # Some tokenizers put a space of their own before whatever begins a text.
    return [end, end.removeprefix(" ")]


def _tails_of_pairs(
    splits: Mapping[str, SplitPrompt],
    pairs: Sequence[tuple[str, str]],
    whole: Tokenise,
    part: Tokenise,
) -> list[Ids]:
    """Return the ids of each pair from the end of its prompt on."""
    texts = []
    split_places: list[int] = []
    whole_places: list[int] = []
    for place, (prompt, continuation) in enumerate(pairs):
        split = splits[prompt]
        texts.append(split.end + continuation)
        places = split_places if split.kept_ids else whole_places
        places.append(place)
    tails: dict[int, Ids] = {}
    for places, tokenise in ((split_places, part), (whole_places, whole)):
        ids = tokenise([texts[place] for place in places])
        tails.update(zip(places, ids, strict=True))
    return [tails[place] for place in range(len(pairs))]


def _are_those_of_whole_texts(
    tails: Sequence[Ids],
    splits: Mapping[str, SplitPrompt],
    pairs: Sequence[tuple[str, str]],
    whole: Tokenise,
) -> bool:
    """Return whether a sample of whole texts has the ids that are put together."""
    n_sampled = min(N_SAMPLED_TEXTS, len(pairs))
    sample = random.Random(0).sample(range(len(pairs)), n_sampled)
    ids_of_texts = whole(["".join(pairs[place]) for place in sample])
    for place, ids in zip(sample, ids_of_texts, strict=True):
        prompt, _ = pairs[place]
        if splits[prompt].kept_ids + tails[place] != ids:
            return False
    return True


def common_prefix_length(
    left: Sequence[int], right: Sequence[int], known: int = 0
) -> int:
    """Return how many elements two sequences share from their start on.

    So many are known to be shared, and are not compared again.
    """
    # Halving compares slices at the speed of C: texts of hundreds of tokens share most
    # of them.
    low, high = known, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
