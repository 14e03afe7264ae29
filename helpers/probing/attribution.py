"""Which tokens a continuation's probability comes from: integrated gradients."""

import copy
import logging
from collections.abc import Callable, Iterator
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
# Of the change of probability: a larger error has not converged.
CONVERGENCE_TOLERANCE = 0.05


def attribute_probability(
    model: LanguageModel, prompt: str, continuation: str, n_steps: int = 50
) -> pd.DataFrame:
    """Attribute as :func:`attribute_until_converged`, with so many points."""
    if not isinstance(model, Local):
        raise UserError(
            f"Attribution needs a model's weights, and {model.name} is on a server; "
            "load the model here, or turn attribution off."
        )
    group = ("the prompt", repr(prompt))
    row = tokens.rows_of_continuations(model, [prompt], [continuation], [group])[0]
    tokens.check_length(model, row.longest, f"The prompt {prompt!r}")
    attribution = _attribution(model, row, n_steps)
    if model.kind == "causal":
        values = attribution.target_attributions
    else:
        values = attribution.source_attributions
    values = values.detach().float().cpu()  # shape (inputs, steps, embedding)
    errors = attribution.step_scores["deltas"].detach().float().cpu().flatten()
    input_names = tokens.token_names(model, row.source or row.ids)
    records = []
    for step, step_token in enumerate(tokens.token_names(model, row.scored)):
        n_inputs = len(row.source) or row.start + step
        step_values = values[:n_inputs, step]
        scores = step_values.sum(-1).tolist()
        norms = step_values.norm(dim=-1)
        # Where all are zero, so is each one's share.
        sum_of_norms = norms.sum().clamp_min(torch.finfo(norms.dtype).tiny)
        shares = (norms / sum_of_norms).tolist()
        change = float(step_values.sum() - errors[step])
        for position, score in enumerate(scores):
            records.append(
                {
                    "step": step,
                    "step_token": step_token,
                    "position": position,
                    "token": input_names[position],
                    "score": score,
                    "norm": shares[position],
                    "change": change,
                }
            )
    return pd.DataFrame(records)


def _attribution(model: Local, row: Row, n_steps: int) -> Any:
    """Return inseq's attribution of a row's scored tokens (a type imported late)."""
    with _wrapped(model, row) as wrapped:

        def run(rows: list[Row], points: int) -> Iterator[dict[Row, Any]]:
            # The texts only name what `_encoder` returns; inseq insists that one starts
            # the other.
            output = wrapped.attribute(
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
            yield {row: output.sequence_attributions[0]}

        return next(packing.run_with_shrinking_packs(run, [row], POINTS_AT_ONCE))[row]


def attribute_until_converged(
    model: LanguageModel, prompt: str, continuation: str
) -> pd.DataFrame:
    r"""Attribute the probability of each token of a continuation to those before it.

    Integrated gradients (Sundararajan et al., 2017, equation 1) over the input
    embeddings, through the inseq library, from a baseline of unknown tokens. The
    continuation is forced, whatever the model would say:

    .. math:: a_i = \sum_d (x_{id} - x'_{id}) \int_0^1
              \frac{\partial P(w_l \mid x' + \alpha (x - x'))}{\partial x_{id}}
              \, d\alpha

    The scores of one step sum to the probability given the prompt less that given the
    baseline, up to the error of the integral; it is taken with more points
    (`N_STEPS_TRIED`) until it has converged (:func:`has_converged`), and as it is where
    it never does.

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
    largest_error = CONVERGENCE_TOLERANCE * steps["change"].abs().max()
    return bool((errors <= largest_error).all())


@contextmanager
def _wrapped(model: Local, row: Row) -> Iterator[Any]:
    """Yield inseq's wrapper of a model that reads a row's ids, and undo its marks."""
    try:
        import inseq
    except ImportError as error:
        raise UserError(
            "Attribution needs inseq; install it (pip install inseq==0.7.1)."
        ) from error
    logging.getLogger("inseq").setLevel(logging.ERROR)
    config = model.model.config
    weights = list(model.model.parameters())
    needed_gradients = [weight.requires_grad for weight in weights]
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
        for weight, needs_gradient in zip(weights, needed_gradients, strict=True):
            weight.requires_grad_(needs_gradient)


def _encoder(model: LanguageModel, row: Row) -> Callable[..., Any]:
    """Return a function that gives a row's ids, in the place of inseq's `encode`."""
    from inseq.data import BatchEncoding

    # Types are those of inseq, which is imported late.
    def encode(texts: Any, as_targets: bool = False, **settings: Any) -> Any:
        text = texts if isinstance(texts, str) else texts[0]
        if row.source and not as_targets:
            ids = row.source
            n_first = 0
        else:
            ids = row.before if text == "prompt" else row.ids
            # A decoder's own first tokens are no words that could be unknown.
            n_first = row.start if row.source else 0
        tensor = torch.tensor([ids], device=model.device)
        baseline = None
        if settings.get("return_baseline"):
            unknown = baseline_ids(model, ids[n_first:])
            baseline = torch.tensor([ids[:n_first] + unknown], device=model.device)
        return BatchEncoding(
            input_ids=tensor,
            input_tokens=[tokens.token_names(model, ids)],
            attention_mask=torch.ones_like(tensor),
            baseline_ids=baseline,
        )

    return encode


def baseline_ids(model: LanguageModel, ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return ids that are all the unknown token, else padding or end of text.

    Tokens of the end of text stay.
    """
    names = ("unk_token_id", "pad_token_id", "eos_token_id")
    special_ids = [getattr(model.tokenizer, name, None) for name in names]
    end_id = special_ids[-1]
    blank = next((token for token in special_ids if token is not None), 0)
    return tuple(token if token == end_id else blank for token in ids)
