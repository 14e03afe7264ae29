"""Which tokens of a prompt a continuation's probability comes from: integrated gradients."""

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import torch

from helpers import UserError
from helpers.models import LanguageModel, Local, tokens
from helpers.models.tokens import Row
from helpers.probing.engine import packing

# Points of the path that are forwarded together, fewer where memory is short; more only
# costs it.
POINTS_AT_ONCE = 10
N_STEPS_TRIED = (50, 200)  # points of the integral, tried in this order
CONVERGENCE_TOLERANCE = (
    0.05  # of the change of probability: a larger error has not converged
)


def attribute_probability(
    model: LanguageModel, prompt: str, continuation: str, n_steps: int = 50
) -> pd.DataFrame:
    """Attribute as :func:`attribute_until_converged` does, with so many points of the integral."""
    if not isinstance(model, Local):
        raise UserError(
            f"Attribution needs a model's weights, and {model.name} is on a server; load the model "
            "here, or turn attribution off."
        )
    row = tokens.rows_of_continuations(
        model, [prompt], [continuation], [("the prompt", repr(prompt))]
    )[0]
    tokens.check_length(model, row, f"The prompt {prompt!r}")
    with _wrapped(model, row) as wrapped:

        def run(rows: list[Row], points: int) -> Iterator[dict[Row, Any]]:
            # The texts only name what `_encoder` returns; inseq insists that one starts
            # the other.
            found = wrapped.attribute(
                "prompt",
                "prompt and continuation",
                attr_pos_start=row.start,
                n_steps=n_steps,
                internal_batch_size=points,
                attributed_fn="probability",
                return_convergence_delta=True,
                show_progress=False,
                pretty_progress=False,
            )
            yield {row: found.sequence_attributions[0]}

        found = next(packing.run_with_shrinking_packs(run, [row], POINTS_AT_ONCE))[row]
    causal = model.kind == "causal"
    values = found.target_attributions if causal else found.source_attributions
    values = values.detach().float().cpu()  # shape (inputs, steps, embedding)
    errors = found.step_scores["deltas"].detach().float().cpu().flatten()
    names, said = (
        tokens.token_names(model, row.source or row.ids),
        tokens.token_names(model, row.scored),
    )
    records = []
    for step, step_token in enumerate(said):
        seen = len(row.source) or row.start + step
        part = values[:seen, step]
        norms = part.norm(dim=-1)
        shares = norms / norms.sum().clamp_min(torch.finfo(norms.dtype).tiny)
        change = float(part.sum() - errors[step])
        for position, (score, share) in enumerate(
            zip(part.sum(-1).tolist(), shares.tolist())
        ):
            records.append(
                (step, step_token, position, names[position], score, share, change)
            )
    columns = ["step", "step_token", "position", "token", "score", "norm", "change"]
    return pd.DataFrame(records, columns=columns)


def attribute_until_converged(
    model: LanguageModel, prompt: str, continuation: str
) -> pd.DataFrame:
    r"""Attribute the probability of each token of a forced continuation to the tokens before it.

    Integrated gradients (Sundararajan et al., 2017, equation 1) over the input
    embeddings, through the inseq library, from a baseline of unknown tokens:

    .. math:: a_i = \sum_d (x_{id} - x'_{id}) \int_0^1
              \frac{\partial P(w_l \mid x' + \alpha (x - x'))}{\partial x_{id}} \, d\alpha

    The scores of one step sum to the probability given the prompt less that given the
    baseline, up to the error of the integral; it is taken with more points (`N_STEPS_TRIED`)
    until it has
    :func:`has_converged`, and as it is where it never does.

    Returns one row a pair of a continuation's token and an input token before it (for a
    sequence-to-sequence model: of the encoder): `step`, `step_token`, `position`,
    `token`, `score` (signed: positive raises the probability), `norm` (length of the
    attribution's vector over the embedding as a share of the step's sum, what inseq
    shows) and the step's `change`, which the scores should sum to.
    """
    for n_steps in N_STEPS_TRIED:
        table = attribute_probability(model, prompt, continuation, n_steps)
        if has_converged(table):
            break
    return table


def has_converged(table: pd.DataFrame) -> bool:
    """Say whether the scores of each step sum to the change that they divide."""
    steps = table.groupby("step").agg(
        score=("score", "sum"), change=("change", "first")
    )
    errors = (steps["score"] - steps["change"]).abs()
    return bool((errors <= CONVERGENCE_TOLERANCE * steps["change"].abs().max()).all())


@contextmanager
def _wrapped(model: Local, row: Row) -> Iterator[Any]:
    """Yield inseq's wrapper of a model that reads exactly the ids of a row, and undo its marks."""
    try:
        import inseq
    except ImportError as error:
        raise UserError(
            "Attribution needs inseq; install it (pip install inseq==0.7.1)."
        ) from error
    logging.getLogger("inseq").setLevel(logging.ERROR)
    config, needs = (
        model.model.config,
        [w.requires_grad for w in model.model.parameters()],
    )
    model.model.config = copy.deepcopy(config)
    model.model.requires_grad_(False)
    wrapped = None
    try:
        wrapped = inseq.load_model(
            model.model,
            "integrated_gradients",
            tokenizer=copy.deepcopy(model.tokenizer),
            device=str(model.device),
        )
        wrapped.encode = _encoder(model, row)
        yield wrapped
    finally:
        if wrapped is not None and wrapped.is_hooked:
            wrapped.attribution_method.unhook()
        model.model.config = config
        for weight, needed in zip(model.model.parameters(), needs):
            weight.requires_grad_(needed)


def _encoder(model: LanguageModel, row: Row) -> Any:
    """Return a function in the place of inseq's `encode` that gives the ids of a row."""
    from inseq.data import BatchEncoding

    def encode(texts: Any, as_targets: bool = False, **settings: Any) -> Any:
        text = texts if isinstance(texts, str) else texts[0]
        if row.source and not as_targets:
            ids, first = row.source, 0
        else:
            ids = row.ids[: row.start] if text == "prompt" else row.ids
            # A decoder's own first tokens are no words that could be unknown.
            first = row.start if row.source else 0
        tensor = torch.tensor([ids], device=model.device)
        baseline = torch.tensor([ids[:first] + baseline_ids(model, ids[first:])])
        return BatchEncoding(
            input_ids=tensor,
            input_tokens=[tokens.token_names(model, ids)],
            attention_mask=torch.ones_like(tensor),
            baseline_ids=baseline.to(model.device)
            if settings.get("return_baseline")
            else None,
        )

    return encode


def baseline_ids(model: LanguageModel, ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return ids of which each is the unknown token, else the padding or end-of-text token."""
    names = ("unk_token_id", "pad_token_id", "eos_token_id")
    settings = [getattr(model.tokenizer, name, None) for name in names]
    blank = next((i for i in settings if i is not None), 0)
    return tuple(i if i == settings[2] else blank for i in ids)
