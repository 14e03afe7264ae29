"""The knowledge-base paper's rankings, against places and numbers that its text names."""

from notebooks.analysis import published_rankings as analysis
from notebooks.kit import published


def test_places_are_those_of_the_text():
    """Section 4 names who is first, four-shot."""
    places = analysis.places_of_models().query("setting == 'four-shot'")
    first = {}
    for name in analysis.RANKED_MEASURES:
        first[name] = set(places.loc[places[name] == 1, "model"])
    assert first["NCR"] == first["NCCR"] == {"GPT-3.5 Turbo"}
    assert first["UR"] == {"Gemma-Instruct 7B"}
    assert first["Cons_c"] == {"Llama3Instruct 70B"}
    assert first["Cons_w"] == {"Llama2chat 7B"}  # the least consistent is the best
    assert "Gemma-Instruct 7B" in first["IUR"]
    assert places.set_index("model").loc["Llama3Instruct 8B", "NCCR"] == 13


def test_models_stand_in_the_order_of_the_printed_column():
    panels = analysis.measures_by_setting(["CR", "WR"], "zero-shot")
    printed = published.load_published_table("kb_table9")["zero-shot CR"]
    order = printed.sort_values(ascending=False, kind="stable").index
    assert all(list(table.index) == list(order) for table in panels.values())
    assert panels["four-two"].loc["GPT-3.5 Turbo"].tolist() == [0.573, 0.2793]
    kinds = analysis.measures_by_kind()
    assert kinds["reliability"]["NCCR"].is_monotonic_decreasing
    assert {len(table) for table in kinds.values()} == {26}


def test_panels_have_a_row_for_each_model_and_a_dot_for_each_measure():
    panels = analysis.measures_by_kind()
    axes = analysis.draw_models_in_order(panels)
    assert [ax.get_xlabel() for ax in axes] == list(panels)
    names = [text.get_text() for text in axes[0].get_yticklabels()]
    assert names == list(panels["factuality"].index)
    assert [len(line.get_xdata()) for line in axes[0].get_lines()] == [26, 26]
