"""The plain question in two forms, and both of them asked about a wrong object.

A probability of the right object may follow exposure for what the object is, whatever
the question. So the panel is also asked for a wrong object (a placebo), and with the
sentence to be completed in place of the question.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers import datasets, probing, prompts
from helpers.models import LanguageModel
from helpers.probing import format_choice, scoring
from helpers.runs.panel.panel_answers import FORM_NAMES


def form_probes(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Return the base question and the first sentence, each with two objects.

    ``option`` 0 is the fact's object, which is ``correct``; 1 is its first distractor,
    which facts without distractors lack. A relation without sentences to complete has
    questions alone.
    """
    parts = []
    for kind in FORM_NAMES:
        with_frames = frames.loc[frames["kind"] == kind, "relation"].unique()
        of_kind = facts[facts["relation"].isin(with_frames)]
        if of_kind.empty:
            continue
        true = prompts.question_probes(of_kind, frames, kind=kind, n_frames=1)
        parts.append(true)
        first_wrong = facts.set_index("fact")["distractors"].str[0]
        wrong = true["item"].map(first_wrong)
        placebo = true.assign(option=1, correct=False, continuation=" " + wrong)
        parts.append(placebo[wrong.notna()])
    return pd.concat(parts, ignore_index=True)


def ask_forms(
    lm: LanguageModel,
    facts: pd.DataFrame,
    dataset: str,
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Score both objects in both forms, and let the model write the answer.

    ``own_logprob`` is the summed log-probability of what it writes.
    """
    frames = datasets.prompt_frames(dataset, facts["relation"].unique())
    wrap = format_choice.probe_wrapper(lm, dataset, facts, seed)
    probes = wrap(form_probes(facts, frames))
    asked = probing.score_and_generate(lm, probes, probes["correct"], cache=cache)
    written = asked[asked["correct"]]
    own = probing.score(
        lm, scoring.probes_of_greedy_answers(lm, written), cache=cache, progress=False
    )
    own_logprob = own["logprobs"].map(np.sum).set_axis(written.index)
    return asked.assign(own_logprob=own_logprob)
