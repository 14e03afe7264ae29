"""The queue of training runs: what is made, in which order, and what runs share."""

import pytest

from notebooks.atlas import recipe, training_queue

RUNS = training_queue.training_runs_to_make()
TINY = {
    "plan": {"levels": [0, 4]},
    "shape": {"hidden": 32, "layers": 1, "heads": 1, "inner": 32, "offsets": [1]},
    "copying": {"steps": 2},
}


def test_each_run_has_a_name_of_its_own_and_a_recipe():
    assert RUNS["run"].is_unique
    for run in RUNS.itertuples():
        changed = training_queue.recipe_of_run(
            run.size, run.seed, run.start, run.change
        )
        assert (changed.size, changed.seed, changed.start) == (
            run.size,
            run.seed,
            run.start,
        )


def test_no_run_is_another_under_a_second_name():
    assert not RUNS.duplicated(["size", "seed", "start", "change"]).any()


@pytest.mark.parametrize("change", sorted(set(RUNS["change"]) - {""}))
def test_a_change_keeps_the_shares_whole(change):
    changed = training_queue.recipe_of_run("xs", 0, 0, change)
    for shares in (
        changed.corpus.mentions,
        changed.reading.kinds,
        changed.stated_only.mentions,
    ):
        assert sum(shares.values()) == pytest.approx(1)
    assert sum(changed.corpus.frame_weights) == pytest.approx(1)


def test_the_text_does_not_decide_the_first_stage_and_the_heads_do():
    def key(*run):
        return training_queue._copying_key(training_queue.recipe_of_run(*run))

    bundled = key("xs", 0, 4, "")
    assert key("xs", 0, 4, "no_questions") == bundled
    assert key("xs", 3, 4, "") == bundled
    assert key("xs", 0, 4, "no_heads") != bundled
    assert key("xs", 0, 3, "") != bundled


@pytest.mark.slow
def test_a_shared_first_stage_gives_the_weights_that_the_trainer_gives(tmp_path):
    design = recipe.load_recipe("xs", facts=2, **TINY)
    other = recipe.load_recipe("xs", seed=1, facts=2, **TINY)
    training_queue.train_run("first", design, tmp_path / "queue")
    training_queue.train_run("second", other, tmp_path / "queue")
    training_queue.train_run("second", other, tmp_path / "alone")
    weights = [
        (tmp_path / place / "second" / "model.safetensors").read_bytes()
        for place in ("queue", "alone")
    ]
    assert weights[0] == weights[1]
    assert len(list((tmp_path / "queue" / "work").glob("copying-*.pt"))) == 1
