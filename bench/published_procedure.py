"""MONITOR's prompts through the published procedure and through ours.

Wang et al. (2024) continue every prompt by itself: five beams, 15 new tokens, batches
of one, the probabilities read along the way.
"""

from __future__ import annotations

import math

import pandas as pd
import torch

from helpers import datasets, probing, prompts
from helpers.models import LanguageModel

BEAMS = 5
NEW_TOKENS = 15


def monitor_probes(n_facts: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return the 13 prompts of each of so many atlas facts, even over all relations.

    Parameters
    ----------
    n_facts, seed : int

    Returns
    -------
    DataFrame
        Probes as `helpers.prompts.monitor_probes` makes them.
    """
    n_relations = len(datasets.relation_table("atlas"))
    facts_per_relation = math.ceil(n_facts / n_relations)
    facts = datasets.load("atlas", n=facts_per_relation, seed=seed)
    sample = facts.sample(n_facts, random_state=seed).sort_index()
    return prompts.monitor_probes(sample, datasets.prompt_frames("atlas"))


@torch.inference_mode()
def beam_logprobs(model: LanguageModel, probes: pd.DataFrame) -> list[list[float]]:
    """Return the log-probabilities of each prompt's best beam, one prompt at a time.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame

    Returns
    -------
    list of list of float
    """
    logprobs = []
    for prompt in probes["prompt"]:
        inputs = model.tokenizer(
            prompt, return_tensors="pt", return_token_type_ids=False
        )
        output = model.model.generate(
            **inputs,
            num_beams=BEAMS,
            max_new_tokens=NEW_TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
            pad_token_id=model.tokenizer.pad_token_id,
        )
        best_beam = model.model.compute_transition_scores(
            output.sequences,
            output.scores,
            output.beam_indices,
            normalize_logits=False,
        )
        logprobs.append(best_beam[0].tolist())
    return logprobs


def object_logprobs(model: LanguageModel, probes: pd.DataFrame) -> list[list[float]]:
    """Return the log-probabilities of the objects, by `probing.score`."""
    return list(probing.score(model, probes, progress=False)["logprobs"])


def object_logprobs_with_greedy_text(
    model: LanguageModel, probes: pd.DataFrame
) -> list[list[float]]:
    """Return the objects' log-probabilities; write greedy text, too, for accuracy."""
    table = probing.score_and_generate(
        model, probes, max_new_tokens=NEW_TOKENS, progress=False
    )
    return list(table["logprobs"])


MONITOR_METHODS = {
    "ours, probabilities and greedy text": object_logprobs_with_greedy_text,
    "ours, probabilities": object_logprobs,
    "published: five beams, one prompt at a time": beam_logprobs,
}
