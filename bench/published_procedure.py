"""MONITOR's prompts through the published procedure and through ours.

Wang et al. (2024) continue every prompt by itself: five beams, 15 new tokens, batches
of one, the probabilities read along the way.
"""

from __future__ import annotations

import pandas as pd
import torch

from helpers import datasets, probing, prompts
from helpers.models import LanguageModel

BEAMS, NEW_TOKENS = 5, 15


def monitor_probes(n_facts: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return the 13 prompts of each of so many atlas facts, drawn evenly from all relations.

    Parameters
    ----------
    n_facts, seed : int

    Returns
    -------
    DataFrame
        Probes as `helpers.prompts.monitor_probes` makes them.
    """
    relations = len(datasets.relation_table("atlas"))
    facts = datasets.load("atlas", n=-(-n_facts // relations), seed=seed)
    chosen = facts.sample(n_facts, random_state=seed).sort_index()
    return prompts.monitor_probes(chosen, datasets.prompt_frames("atlas"))


@torch.inference_mode()
def beam_logprobs(model: LanguageModel, probes: pd.DataFrame) -> list[list[float]]:
    """Return the log-probabilities of the best beam's tokens for each prompt, one at a time.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame

    Returns
    -------
    list of list of float
    """
    pad = model.tokenizer.pad_token_id
    found = []
    for prompt in probes["prompt"]:
        inputs = model.tokenizer(
            prompt, return_tensors="pt", return_token_type_ids=False
        )
        said = model.model.generate(
            **inputs,
            num_beams=BEAMS,
            max_new_tokens=NEW_TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
            pad_token_id=pad,
        )
        chances = model.model.compute_transition_scores(
            said.sequences, said.scores, said.beam_indices, normalize_logits=False
        )
        found.append(chances[0].tolist())
    return found


def object_logprobs(model: LanguageModel, probes: pd.DataFrame) -> list[list[float]]:
    """Return the log-probabilities of the objects after the prompts, by `probing.score`."""
    return list(probing.score(model, probes, progress=False)["logprobs"])


def object_logprobs_with_greedy_text(
    model: LanguageModel, probes: pd.DataFrame
) -> list[list[float]]:
    """Return the same, and write the greedy text that accuracy needs, as the chapter does."""
    found = probing.score_and_generate(
        model, probes, max_new_tokens=NEW_TOKENS, progress=False
    )
    return list(found["logprobs"])


MONITOR_METHODS = {
    "ours, probabilities and greedy text": object_logprobs_with_greedy_text,
    "ours, probabilities": object_logprobs,
    "published: five beams, one prompt at a time": beam_logprobs,
}
