"""The toy of the prologue: the same code as the family's, in seconds, and the same each time."""

import pytest
import torch

from helpers import datasets
from notebooks.atlas import toy


@pytest.fixture(scope="module")
def lessons():
    facts, frames = (
        datasets.load("atlas", ["P17"], n=16),
        datasets.prompt_frames("atlas", ["P17"]),
    )
    return [
        toy.teach_toy(toy.build_toy_that_copies(0, steps=0)[0], facts, frames, seed=0)
        for _ in range(2)
    ]


def test_exposures_are_counted_in_what_the_toy_read(lessons):
    lesson = lessons[0]
    stated = [p.states for d in lesson.documents for p in d.pieces if p.states]
    counted = {fact: stated.count(fact) for fact in lesson.exposures.index}
    assert counted == lesson.exposures.to_dict()
    assert sorted(set(counted.values())) == [0, 1, 2, 4, 8, 16, 32, 64]


def test_the_toy_learns_and_the_same_each_time(lessons):
    first, second = lessons
    assert (
        first.stage.curve[-1]["loss"] < 5
    )  # log(1024) = 6.9 before anything is learnt
    assert first.stage.curve == second.stage.curve
    pairs = zip(first.lm.model.parameters(), second.lm.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert first.lm.n_parameters == 307_680


def test_training_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    _, stage = toy.build_toy_that_copies(0, steps=1)
    assert stage.step == 1
    assert torch.get_num_threads() == before


def test_the_commonest_object_of_one_relation_is_right_as_often_as_it_occurs(lessons):
    facts, frames = (
        datasets.load("atlas", ["P17"], n=16),
        datasets.prompt_frames("atlas", ["P17"]),
    )
    curve = toy.toy_accuracy_by_exposure(lessons[0], facts, frames)
    guess = curve[curve["measure"] == "commonest object"]
    assert guess["n"].sum() == curve["n"].sum() / 2 == len(facts)
    hits = (guess["estimate"] * guess["n"]).sum()
    assert hits == pytest.approx(facts["object"].value_counts().iloc[0], abs=1e-2)
