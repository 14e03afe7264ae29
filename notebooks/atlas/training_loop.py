"""One stage of the training: optimiser steps with progress, checkpoints and a curve."""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import LlamaForCausalLM

from notebooks.atlas.documents import NO_TARGET, Batch
from notebooks.atlas.recipe import RecipeOptions


@contextlib.contextmanager
def reproducible_sums(threads: int = 1, deterministic: bool = False) -> Iterator[None]:
    """Sum in the same order at each training; afterwards PyTorch is set as it was before."""
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic or before[1])
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])


@dataclass
class TrainingStage:
    """Where a stage stands: all that its checkpoint holds besides the weights."""

    name: str
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0  # time that they took, over all sittings
    # What the batches depend on besides the step; `accuracy` is a running mean
    memory: dict = field(default_factory=lambda: {"accuracy": 0.0})
    # Step, tokens, mean loss and accuracy since the last entry
    curve: list[dict] = field(default_factory=list)


def learning_rate(design: RecipeOptions, step: int, steps: int) -> float:
    """Return the rate of a step: a linear rise, then level or along a cosine to a tenth.

    >>> from notebooks.atlas import recipe
    >>> design = recipe.load_recipe(second={"rate": 1.0, "warm_up": 0.1}).second
    >>> [round(learning_rate(design, step, 100), 2) for step in (0, 9, 55, 99)]
    [0.1, 1.0, 0.55, 0.1]
    """
    rise = max(1, round(design.warm_up * steps))
    if step < rise:
        return design.rate * (step + 1) / rise
    if not design.cosine:
        return design.rate
    done = (step - rise) / max(1, steps - rise)
    return design.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * done)))


def train_stage(
    model: LlamaForCausalLM,
    stage: TrainingStage,
    batches_at: Callable[[int, dict], Sequence[Batch]],
    steps: int,
    design: RecipeOptions,
    *,
    checkpoint: Path | None = None,
    every: int = 200,
    stop_after: int | None = None,
) -> bool:
    """Train through one stage, going on from its checkpoint where there is one."""
    optimisers = optimisers_of_model(model, design)
    if checkpoint is not None and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        for optimiser, its_state in zip(optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(its_state)
        vars(stage).update(state["stage"])
    losses, accuracies = [], []
    began, before = time.monotonic(), stage.seconds
    while stage.step < steps:
        batches = batches_at(stage.step, stage.memory)
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(design, stage.step, steps)
            optimiser.zero_grad(set_to_none=True)
        loss, accuracy = _backward(model, batches)
        torch.nn.utils.clip_grad_norm_(model.parameters(), design.clip)
        for optimiser in optimisers:
            optimiser.step()
        losses.append(loss)
        accuracies.append(accuracy)
        stage.memory["accuracy"] += 0.1 * (accuracy - stage.memory["accuracy"])
        stage.step += 1
        stage.tokens += sum(batch.inputs.size for batch in batches)
        stage.seconds = before + time.monotonic() - began
        last = stage.step == steps or stage.step == stop_after
        if stage.step % 50 == 0 or stage.step == steps:
            _note(stage, losses, accuracies, steps)
        if checkpoint is not None and (last or stage.step % every == 0):
            state = {"model": model.state_dict(), "stage": vars(stage)}
            state["optimisers"] = [each.state_dict() for each in optimisers]
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            partial = checkpoint.with_suffix(".tmp")
            torch.save(state, partial)
            partial.replace(checkpoint)
        if stage.step == stop_after:
            break
    return stage.step >= steps


def optimisers_of_model(
    model: LlamaForCausalLM, design: RecipeOptions
) -> list[torch.optim.Optimizer]:
    """Return AdamW over the weights that are trained, and if `design.muon` Muon for the blocks."""
    parts: dict[bool, list] = {False: [], True: []}
    for name, part in model.named_parameters():
        if part.requires_grad:
            parts[design.muon and "layers" in name and part.dim() == 2].append(part)
    usual = {"lr": design.rate, "weight_decay": design.decay}
    adam = torch.optim.AdamW(
        parts[False], betas=(0.9, design.beta2), fused=True, **usual
    )
    if not parts[True]:
        return [adam]
    # Jordan et al., 2024; steps as large as AdamW's: Liu et al., 2025, arXiv 2502.16982
    return [
        adam,
        torch.optim.Muon(parts[True], adjust_lr_fn="match_rms_adamw", **usual),
    ]


def _backward(model: LlamaForCausalLM, batches: Sequence[Batch]) -> tuple[float, float]:
    """Add up the gradients of a step, every unit of weight counting the same."""
    whole = sum(float(batch.weights.sum()) for batch in batches)
    losses, accuracies = 0.0, 0.0
    for batch in batches:
        share = float(batch.weights.sum()) / whole
        loss, accuracy = loss_and_accuracy(model, batch)
        (loss * share).backward()
        losses += float(loss.detach()) * share
        accuracies += accuracy * share
    return losses, accuracies


def _note(stage: TrainingStage, losses: list, accuracies: list, steps: int) -> None:
    loss, accuracy = (round(sum(part) / len(part), 4) for part in (losses, accuracies))
    losses.clear(), accuracies.clear()
    entry = {
        "step": stage.step,
        "tokens": stage.tokens,
        "loss": loss,
        "accuracy": accuracy,
    }
    stage.curve.append(entry)
    left = stage.seconds / stage.step * (steps - stage.step)
    extras = "".join(f" {k} {v}" for k, v in stage.memory.items() if k != "accuracy")
    told = f"{stage.name}: step {stage.step}/{steps}, loss {loss:.3f}, accuracy {accuracy:.3f},"
    told += f"{extras} {stage.tokens / stage.seconds:,.0f} tokens/s, {left / 60:.1f} min left"
    print(told, file=sys.stderr, flush=True)


def loss_and_accuracy(
    model: LlamaForCausalLM, batch: Batch, dtype: torch.dtype = torch.bfloat16
) -> tuple[torch.Tensor, float]:
    """Return the weighted cross-entropy of a batch and the share predicted rightly."""
    device = model.device
    # Eager attention is the faster on short rows, and keeps all of its table on long
    # ones.
    short = batch.inputs.shape[1] <= 256
    model.set_attn_implementation("eager" if short else "sdpa")
    inputs, targets, weights = (torch.from_numpy(part).to(device) for part in batch[:3])
    asked = (targets != NO_TARGET) & (weights > 0)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        hidden = model.model(
            input_ids=inputs,
            attention_mask=_mask(batch, device, short),
            use_cache=False,
        ).last_hidden_state
        logits = model.lm_head(hidden[asked])
    targets, weights = targets[asked], weights[asked]
    each = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")
    with torch.no_grad():
        right = (logits.argmax(-1) == targets)[weights >= 1]
        accuracy = float(right.float().mean()) if len(right) else 0.0
    return (each * weights).sum() / weights.sum(), accuracy


def _mask(batch: Batch, device: torch.device, short: bool) -> torch.Tensor | None:
    if batch.documents is None:
        return None
    documents = torch.from_numpy(batch.documents).to(device)
    seen = (documents[:, :, None] == documents[:, None, :]).tril()
    if not short:
        return seen[:, None]
    # Eager attention adds the mask to its logits, so a mask of booleans would hide
    # nothing.
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None]
