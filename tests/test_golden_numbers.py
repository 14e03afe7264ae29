"""What the studies say of two bundled models, in seconds: a change shows which number it moved.

``python -m tests.test_golden_numbers`` writes the table anew, where a number should move.
"""

import tempfile
from pathlib import Path

import pandas as pd
import pytest

from helpers.runs import measuring

TABLE = Path(__file__).with_name("golden_numbers.csv")
MODELS = ("atlas-xs", "atlas-m-chat")
SETTINGS = {
    "n_facts": 2,
    "relations": ["P17", "P36"],
    "n_items": 12,
    "n_variations": 4,
    "n_seen": 2,
    "n_unseen": 1,
    "n_examples": 20,
    "n_choices": 8,
    "n_bootstrap": 50,
    "max_new_tokens": 12,
}
KEYS = ["model", "study", "relation", "measure"]
NUMBERS = ["estimate", "low", "high", "n"]
TOLERANCE = 1e-5  # of probabilities, from one processor to another


def measured(model: str, folder: Path) -> pd.DataFrame:
    """Return all numbers of the studies on a model."""
    tables = []
    for run in measuring.measure_model(model, settings=SETTINGS, folder=folder):
        tables.append(run.summary.assign(model=model, study=run.study))
    return pd.concat(tables)[KEYS + NUMBERS].reset_index(drop=True)


@pytest.mark.parametrize("model", MODELS)
def test_the_studies_say_what_they_said(model, tmp_path):
    expected = pd.read_csv(TABLE)
    expected = expected[expected["model"] == model].reset_index(drop=True)
    numbers = measured(model, tmp_path)
    pd.testing.assert_frame_equal(
        numbers, expected, check_dtype=False, rtol=0, atol=TOLERANCE
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        every = [measured(model, Path(place)) for model in MODELS]
    pd.concat(every).to_csv(TABLE, index=False)
