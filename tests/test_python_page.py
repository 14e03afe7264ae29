"""The page on scripts: its examples run as printed, and print what it shows."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests import printed as examples

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "python.md").read_text(encoding="utf-8")
BLOCKS = examples.blocks(PAGE)
NAMES = [code.strip().splitlines()[-1][:40] for code, _ in BLOCKS]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Run all examples in order in one folder; return it, what they print and their names."""
    folder = tmp_path_factory.mktemp("session")
    return folder, *examples.run(BLOCKS, folder)


@pytest.mark.parametrize("place", range(len(BLOCKS)), ids=NAMES)
def test_the_example_prints_what_the_page_shows(printed, place):
    examples.compare(printed[1][place], BLOCKS[place][1])


def test_the_figure_is_the_one_shown(printed):
    folder, _, names = printed
    known = names["rows"].set_index("relation")["n"]
    assert f"({known['capital']} capitals, {known['country']} countries)" in PAGE
    if names["axes"].title.get_fontname() != "DejaVu Sans":
        pytest.skip("the letters of the page's figure are of another font")
    drawn = plt.imread(folder / "monitor.png")
    shown = plt.imread(ROOT / "book" / "_static" / "python_figure.png")
    assert drawn.shape == shown.shape
    assert np.abs(drawn - shown).mean() < 0.0005  # 0.001 if one dot moves by its width
