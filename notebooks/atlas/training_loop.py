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
    """Sum in the same order at each training; then set PyTorch as it was before."""
    threads_before = torch.get_num_threads()
    deterministic_before = torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic or deterministic_before)
    try:
        yield
    finally:
        torch.set_num_threads(threads_before)
        torch.use_deterministic_algorithms(deterministic_before)


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
    """Return the rate of a step: a linear rise, then level or a cosine to a tenth.

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
        _load_checkpoint(checkpoint, model, stage, optimisers)
    losses: list[float] = []
    accuracies: list[float] = []
    began = time.monotonic()
    seconds_before = stage.seconds
    while stage.step < steps:
        batches = batches_at(stage.step, stage.memory)
        rate = learning_rate(design, stage.step, steps)
        loss, accuracy = _step(model, optimisers, batches, rate, design.clip)
        losses.append(loss)
        accuracies.append(accuracy)
        stage.memory["accuracy"] += 0.1 * (accuracy - stage.memory["accuracy"])
        stage.step += 1
        stage.tokens += sum(batch.inputs.size for batch in batches)
        stage.seconds = seconds_before + time.monotonic() - began
        if stage.step % 50 == 0 or stage.step == steps:
            _extend_curve(stage, losses, accuracies)
            _print_progress(stage, steps)
            losses.clear()
            accuracies.clear()
        is_last = stage.step in (steps, stop_after)
        if checkpoint is not None and (is_last or stage.step % every == 0):
            _save_checkpoint(checkpoint, model, stage, optimisers)
        if stage.step == stop_after:
            break
    return stage.step >= steps


def _load_checkpoint(
    path: Path,
    model: LlamaForCausalLM,
    stage: TrainingStage,
    optimisers: list[torch.optim.Optimizer],
) -> None:
    """Set model, stage and optimisers to where a checkpoint stands."""
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimiser, its_state in zip(optimisers, state["optimisers"], strict=True):
        optimiser.load_state_dict(its_state)
    vars(stage).update(state["stage"])


def _save_checkpoint(
    path: Path,
    model: LlamaForCausalLM,
    stage: TrainingStage,
    optimisers: list[torch.optim.Optimizer],
) -> None:
    """Write a checkpoint, whole or not at all."""
    state = {
        "model": model.state_dict(),
        "stage": vars(stage),
        "optimisers": [optimiser.state_dict() for optimiser in optimisers],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".tmp")
    torch.save(state, partial)
    partial.replace(path)


def _step(
    model: LlamaForCausalLM,
    optimisers: list[torch.optim.Optimizer],
    batches: Sequence[Batch],
    rate: float,
    clip: float,
) -> tuple[float, float]:
    """Take a step of all optimisers, and return its loss and accuracy."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad(set_to_none=True)
    loss, accuracy = _backward(model, batches)
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    for optimiser in optimisers:
        optimiser.step()
    return loss, accuracy


def optimisers_of_model(
    model: LlamaForCausalLM, design: RecipeOptions
) -> list[torch.optim.Optimizer]:
    """Return AdamW over the trained weights, and with `design.muon` Muon for blocks."""
    for_adam = []
    for_muon = []
    for name, weights in model.named_parameters():
        if not weights.requires_grad:
            continue
        if design.muon and "layers" in name and weights.dim() == 2:
            for_muon.append(weights)
        else:
            for_adam.append(weights)
    usual = {"lr": design.rate, "weight_decay": design.decay}
    adam = torch.optim.AdamW(for_adam, betas=(0.9, design.beta2), fused=True, **usual)
    if not for_muon:
        return [adam]
    # Jordan et al., 2024; steps as large as AdamW's: Liu et al., 2025, arXiv 2502.16982
    muon = torch.optim.Muon(for_muon, adjust_lr_fn="match_rms_adamw", **usual)
    return [adam, muon]


def _backward(model: LlamaForCausalLM, batches: Sequence[Batch]) -> tuple[float, float]:
    """Add up the gradients of a step, every unit of weight counting the same."""
    whole = sum(float(batch.weights.sum()) for batch in batches)
    whole_loss = 0.0
    whole_accuracy = 0.0
    for batch in batches:
        share = float(batch.weights.sum()) / whole
        loss, accuracy = loss_and_accuracy(model, batch)
        (loss * share).backward()
        whole_loss += float(loss.detach()) * share
        whole_accuracy += accuracy * share
    return whole_loss, whole_accuracy


def _extend_curve(
    stage: TrainingStage, losses: list[float], accuracies: list[float]
) -> None:
    """Add the means of the steps since the last entry to the curve."""
    entry = {
        "step": stage.step,
        "tokens": stage.tokens,
        "loss": round(sum(losses) / len(losses), 4),
        "accuracy": round(sum(accuracies) / len(accuracies), 4),
    }
    stage.curve.append(entry)


def _print_progress(stage: TrainingStage, steps: int) -> None:
    """Print the last entry of the curve, and how long the rest will take."""
    entry = stage.curve[-1]
    extras = ""
    for name, value in stage.memory.items():
        if name != "accuracy":
            extras += f" {name} {value}"
    minutes_left = stage.seconds / stage.step * (steps - stage.step) / 60
    print(
        f"{stage.name}: step {stage.step}/{steps}, loss {entry['loss']:.3f}, "
        f"accuracy {entry['accuracy']:.3f},{extras} "
        f"{stage.tokens / stage.seconds:,.0f} tokens/s, {minutes_left:.1f} min left",
        file=sys.stderr,
        flush=True,
    )


def loss_and_accuracy(
    model: LlamaForCausalLM, batch: Batch, dtype: torch.dtype = torch.bfloat16
) -> tuple[torch.Tensor, float]:
    """Return the weighted cross-entropy of a batch and the share predicted rightly."""
    device = model.device
    # Eager attention is the faster on short rows, and keeps all of its table on long
    # ones.
    short = batch.inputs.shape[1] <= 256
    model.set_attn_implementation("eager" if short else "sdpa")
    inputs = torch.from_numpy(batch.inputs).to(device)
    targets = torch.from_numpy(batch.targets).to(device)
    weights = torch.from_numpy(batch.weights).to(device)
    asked = (targets != NO_TARGET) & (weights > 0)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        hidden = model.model(
            input_ids=inputs,
            attention_mask=_mask(batch, device, short),
            use_cache=False,
        ).last_hidden_state
        logits = model.lm_head(hidden[asked])
    targets = targets[asked]
    weights = weights[asked]
    losses = torch.nn.functional.cross_entropy(
        logits.float(), targets, reduction="none"
    )
    with torch.no_grad():
        right = (logits.argmax(-1) == targets)[weights >= 1]
        accuracy = float(right.float().mean()) if len(right) else 0.0
    return (losses * weights).sum() / weights.sum(), accuracy


def _mask(batch: Batch, device: torch.device, short: bool) -> torch.Tensor | None:
    """Return which tokens see which, or nothing where a row is one document."""
    if batch.documents is None:
        return None
    documents = torch.from_numpy(batch.documents).to(device)
    seen = (documents[:, :, None] == documents[:, None, :]).tril()
    if not short:
        return seen[:, None]
    # Eager attention adds the mask to its logits, so a mask of booleans would hide
    # nothing.
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None]
