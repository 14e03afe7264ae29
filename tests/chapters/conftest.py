"""What a run leaves behind, for the tests of its chapter; each module has its own `folder`."""

import pandas as pd
import pytest

from helpers import runs
from notebooks.kit import findings
from tests.chapters import notebook_execution

pytest.register_assert_rewrite("tests.chapters.finished_runs")


@pytest.fixture(scope="module")
def answers(folder):
    return runs.load_answers(folder)


@pytest.fixture(scope="module")
def metrics(folder):
    return runs.load_metrics(folder)


@pytest.fixture(scope="module")
def found(folder):
    """Return the findings that the run saved, by claim."""
    return {finding.claim: finding for finding in findings.load_findings(folder)}


@pytest.fixture(scope="module")
def compared(folder):
    return pd.read_csv(folder / "tables" / "compared.csv").set_index("what")


@pytest.fixture(scope="module", autouse=True)
def _without_kernels():
    with notebook_execution.execute_in_process():
        yield
