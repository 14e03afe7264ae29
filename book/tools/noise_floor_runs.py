"""Make the runs of the noise floor: the same facts, asked of a model in four ways."""

from pathlib import Path

from helpers import UserError, datasets, models, probing, prompts, runs
from helpers.metrics import anchors, monitor
from helpers.models.checkpoints import model_slug
from notebooks.analysis import noise_floor


def make_noise_floor_runs(model: str, folder: Path, n_facts: int = 5) -> list[Path]:
    """Ask a model about the same facts in every variant and save a run of each."""
    if n_facts < 1:
        raise UserError(
            f"n_facts is {n_facts}: ask at least one fact of each relation."
        )
    folders = []
    for name, variant in noise_floor.RUN_VARIANTS.items():
        variant_folder = folder / noise_floor.NOISE_FOLDER / name
        run = variant_folder / model_slug(model) / "monitor"
        folders.append(_make_run(model, run, n_facts, **variant))
    return folders


def _make_run(
    model: str,
    folder: Path,
    n_facts: int,
    hints: int,
    dtype: str,
    batch_size: int | None,
) -> Path:
    """Ask once and save."""
    parameters = {
        "model": model,
        "dataset": "atlas",
        "n_facts": n_facts,
        "seed": 0,
        "hints": hints,
        "match": "exact_match",
        "anchor_mode": "teacher_forced",
        "alphas": list(monitor.EQUAL_WEIGHTS),
        "dtype": dtype,
        "batch_size": batch_size,
    }
    started = runs.start("monitor", parameters, folder)
    lm = models.load(model, dtype=dtype)
    facts = datasets.load("atlas", n=n_facts, seed=0)
    distractors = datasets.load("atlas", seed=hints).set_index("fact")["distractors"]
    facts["distractors"] = facts["fact"].map(distractors)
    frames = datasets.prompt_frames("atlas", facts["relation"].unique())
    probes = prompts.monitor_probes(facts, frames, 7)
    answers = probing.score_and_generate(
        lm, probes, batch_size=batch_size, progress=False
    )
    scores = monitor.fact_scores(answers, anchors.known_facts(answers))
    return runs.save(
        started,
        answers=answers,
        metrics=scores.drop(columns=["known"]),
        model=models.describe_model(lm),
        dataset=datasets.source_record("atlas"),
    )
