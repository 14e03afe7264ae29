"""The toy of the prologue: the same code as the family's, in seconds, and the same each time."""

import pytest
import torch

from helpers import UserError, datasets
from notebooks.analysis.atlas import toy


@pytest.fixture(scope="module")
def lessons():
    facts, frames = datasets.load("atlas", ["P17"], n=16), datasets.frames("atlas", ["P17"])
    return [toy.teach(toy.start(0, steps=0)[0], facts, frames, seed=0) for _ in range(2)]


def test_exposures_are_counted_in_what_the_toy_read(lessons):
    lesson = lessons[0]
    stated = [p.states for d in lesson.documents for p in d.pieces if p.states]
    counted = {fact: stated.count(fact) for fact in lesson.exposures.index}
    assert counted == lesson.exposures.to_dict()
    assert sorted(set(counted.values())) == [0, 1, 2, 4, 8, 16, 32, 64]


def test_the_toy_learns_and_the_same_each_time(lessons):
    first, second = lessons
    assert first.stage.curve[-1]["loss"] < 5  # log(1024) = 6.9 before anything is learnt
    assert first.stage.curve == second.stage.curve
    pairs = zip(first.lm.model.parameters(), second.lm.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert first.lm.n_parameters == 307_680


def test_heads_set_by_hand_look_back_and_others_do_not():
    by_hand, by_chance = toy.start(1, steps=0)[0], toy.start(1, steps=0, offsets=())[0]
    seen = toy.glance(by_hand, [0, 1]).pivot(index="head", columns="distance", values="attention")
    assert seen.idxmax(axis=1).tolist() == [1, 2]
    assert seen.max(axis=1).min() > 0.8
    assert toy.glance(by_chance, [0])["attention"].max() < 0.3
    assert (seen.sum(axis=1) <= 1 + 1e-6).all()


def test_training_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    _, stage = toy.start(0, steps=1)
    assert stage.step == 1
    assert torch.get_num_threads() == before


def test_too_few_steps_to_be_drawn_are_refused():
    with pytest.raises(UserError, match="at least 50"):
        toy.check(10)
