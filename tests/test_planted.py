"""Faults that anyone could make are caught by the fast tests."""

import pytest

from tests import planted


@pytest.mark.parametrize(
    "fault", planted.planted_faults(), ids=lambda fault: fault.what
)
def test_a_fault_has_one_place(fault):
    assert planted.faulty_source(fault)


@pytest.mark.slow
def test_every_planted_fault_is_caught():
    assert planted.main() == 0
