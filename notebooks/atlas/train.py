"""Train a bundled model: ``python -m notebooks.atlas.train --size s --out FOLDER``.

Without ``--resume`` everything starts anew; with it, training goes on from the last
checkpoint. ``--change FILE`` takes other options than those of `recipe.toml` from a
file of the same form. To try the trainer out, give fewer facts (``--facts 5``): the
text is never cut, because each fact must be read exactly as often as its exposure says.
"""

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from helpers import UserError, datasets
from notebooks.atlas import architecture, copying_stage, documents, training_loop
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.atlas.recipe import (
    RecipeOptions,
    load_recipe,
    names_of_sizes,
    read_recipe_changes,
)
from notebooks.atlas.training_loop import TrainingStage
from notebooks.atlas.training_text import (
    TrainingText,
    training_steps_of,
    write_training_text,
)


def train_model(
    recipe: RecipeOptions,
    out: Path,
    work: Path,
    resume: bool = False,
    stop_after: int | None = None,
) -> bool:
    """Train a model through both stages and publish it."""
    began = time.monotonic()
    facts = datasets.load("atlas", n=recipe.facts, seed=recipe.seed)
    frames = datasets.prompt_frames("atlas")
    _prepare(work, fingerprint_of_training(recipe, facts, frames), resume)
    text = write_training_text(recipe, facts, frames)
    steps = training_steps_of(text, recipe)
    print(
        f"{len(text.about_facts):,} documents about facts, "
        f"{len(text.to_read):,} to read,\n"
        f"{steps.encoded.starts[-1]:,} tokens, "
        f"written in {time.monotonic() - began:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    with training_loop.reproducible_sums(recipe.threads, deterministic=True):
        llama = architecture.build_model(recipe.shape, recipe.start)
        copying = run_copying_stage(llama, recipe, work)
        reading = TrainingStage("facts and reading")
        finished = training_loop.train_stage(
            llama,
            reading,
            steps.batches,
            len(steps.rows),
            recipe.second,
            checkpoint=work / "reading.pt",
            stop_after=stop_after,
        )
    if finished:
        report = _report(recipe, text, steps.encoded, [copying, reading])
        save_trained_model(llama, text.tokenizer, text.exposures, report, out)
    return finished


def run_copying_stage(
    llama: LlamaForCausalLM, recipe: RecipeOptions, work: Path
) -> TrainingStage:
    """Run stage 1, or take its result from the checkpoint."""
    design = recipe.copying
    vocabulary = llama.config.vocab_size
    stage = TrainingStage("copying")

    def batches_at(step: int, memory: dict) -> list[documents.Batch]:
        pool = copying_stage.next_pool_size(
            design, memory.get("pool", design.pool), memory["accuracy"], vocabulary
        )
        memory["pool"] = pool
        batch = copying_stage.copying_batch(
            design, vocabulary, pool, recipe.start, step
        )
        return [batch]

    embeddings = llama.model.embed_tokens.weight
    embeddings.requires_grad_(not design.hold_embeddings)
    training_loop.train_stage(
        llama,
        stage,
        batches_at,
        design.steps,
        recipe.first,
        checkpoint=work / "copying.pt",
    )
    embeddings.requires_grad_(True)
    return stage


def fingerprint_of_training(
    recipe: RecipeOptions, facts: pd.DataFrame, frames: pd.DataFrame
) -> str:
    """Return a hash of all that decides the model."""
    tables = [facts.to_json(orient="split"), frames.to_json(orient="split")]
    whole = json.dumps([recipe, *tables], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _prepare(work: Path, mark: str, resume: bool) -> None:
    note = work / "fingerprint.txt"
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    elif note.exists() and note.read_text() != mark:
        raise UserError(
            f"The checkpoints in {work} belong to other settings or facts;"
            " leave --resume out to start anew."
        )
    work.mkdir(parents=True, exist_ok=True)
    note.write_text(mark)


def _report(
    recipe: RecipeOptions,
    text: TrainingText,
    encoded: documents.EncodedDocuments,
    stages: list[TrainingStage],
) -> dict:
    kinds = Counter(document.kind for document in text.about_facts + text.to_read)
    wrong = documents.count_exposures(text.about_facts, "denies")
    exposures = text.exposures["exposures"]
    is_unseen = exposures == 0
    levels = exposures.value_counts().sort_index()
    return {
        "recipe": {key: part for key, part in recipe.items() if key != "shape"},
        "shape": recipe.shape,
        "text": {
            "facts": len(exposures),
            "mentions": int(exposures.sum()),
            "false_mentions": int(text.exposures["false_exposures"].sum()),
            "facts_by_exposure": {str(level): int(n) for level, n in levels.items()},
            "documents": dict(sorted(kinds.items())),
            "tokens": int(encoded.starts[-1]),
            "tokens_about_facts": int(encoded.starts[len(text.about_facts)]),
            "wrong_objects_shown": int(wrong.total()),
            "facts_shown_with_a_wrong_object": len(wrong),
            "unseen_facts_shown_with_a_wrong_object": int(is_unseen[list(wrong)].sum()),
        },
        "stages": [asdict(stage) for stage in stages],
        "device": "cpu",
        "versions": {"torch": torch.__version__.split("+")[0], "numpy": np.__version__},
    }


def save_trained_model(
    llama: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    exposures: pd.DataFrame,
    report: dict,
    folder: Path,
) -> None:
    """Write weights (bfloat16), configuration, tokenizer, exposures and the report."""
    folder.mkdir(parents=True, exist_ok=True)
    config = llama.config
    config.architectures = ["LlamaForCausalLM"]
    config.dtype = torch.bfloat16
    config.save_pretrained(folder)
    weights = {}
    for name, value in llama.state_dict().items():
        if name != "lm_head.weight":  # tied to the embeddings
            weights[name] = value.detach().to(torch.bfloat16).contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    tokenizer.save_pretrained(folder)
    generation = GenerationConfig(
        bos_token_id=config.bos_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
        do_sample=False,
    )
    generation.save_pretrained(folder)
    exposures.rename_axis("fact").to_csv(folder / "exposures.csv")
    text = json.dumps(report, indent=1, ensure_ascii=False)
    (folder / "training.json").write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.atlas.train", description=__doc__
    )
    parser.add_argument("--size", default="s", choices=names_of_sizes())
    parser.add_argument("--seed", type=int, default=0, help="of the text")
    parser.add_argument(
        "--start", type=int, default=0, help="seed of the weights and the order"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument(
        "--work", type=Path, help="folder for checkpoints (build/atlas-SIZE-SEED-START)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoints"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--facts", type=int, help="facts a relation (default: all)")
    parser.add_argument("--change", type=Path, help="a file of options that differ")
    options = parser.parse_args(arguments)
    return exit_status_of_work(partial(_train_by_options, options))


def _train_by_options(options: argparse.Namespace) -> None:
    """Train as the command line says."""
    changes = read_recipe_changes(options.change) if options.change else {}
    recipe = load_recipe(
        options.size,
        options.seed,
        options.start,
        options.threads,
        options.facts,
        **changes,
    )
    run = f"atlas-{options.size}-{options.seed}-{options.start}"
    work = options.work or Path("build") / run
    train_model(recipe, options.out, work, options.resume)


if __name__ == "__main__":
    sys.exit(main())
