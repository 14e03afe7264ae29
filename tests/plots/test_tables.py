"""Tables: what the page shows, and what the exports hold."""

import pandas as pd
import pytest

from helpers import stats
from notebooks.kit.plots import result_tables


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "model said": ["<b>Paris</b> & co | 50_%", "Lyon"],
            "accuracy": [0.123456, 0.5],
        },
        index=pd.Index(["a", "b"], name="relation"),
    )


def test_csv_reads_back_as_it_was(table, tmp_path):
    csv = result_tables.export_table(table, "t", tmp_path / "new")[0]
    back = pd.read_csv(csv, index_col="relation")
    pd.testing.assert_frame_equal(back, table, check_dtype=False)


def test_markdown_leaves_what_is_missing_empty(tmp_path):
    gaps = pd.DataFrame(
        {"a": ["x", None], "b": [1.5, float("nan")], "c": [["p"], ["q"]]}
    )
    last = (
        result_tables.export_table(gaps, "t", tmp_path)[1].read_text().splitlines()[-1]
    )
    assert [cell.strip() for cell in last.split("|")] == ["", "", "", "['q']", ""]


def test_wide_keeps_the_order_of_groups_and_leaves_gaps_empty():
    tidy = pd.DataFrame(
        [
            ("P36", "a", 0.1, 0.0, 0.2),
            ("all", "a", 0.2, 0.1, 0.3),
            ("P17", "a", 0.3, 0.2, 0.4),
            ("P17", "b", 2.0, 1.0, 3.0),
        ],
        columns=["relation", "measure", "estimate", "low", "high"],
    )
    laid = result_tables.wide_interval_table(
        tidy, {"b": "B", "a": "A, %"}, percent=["a"], digits=0
    )
    assert laid.index.tolist() == ["P36", "P17", "all"]
    assert laid.columns.tolist() == ["B", "A, %"]
    assert laid.loc["P17"].tolist() == ["2 [1, 3]", "30.0 [20.0, 40.0]"]
    assert pd.isna(laid.loc["P36", "B"])


def test_what_is_not_a_number_is_undefined_and_without_ends_an_estimate_stands_alone():
    nan = float("nan")
    assert (
        result_tables.interval(0.5, nan, nan, digits=2)
        == result_tables.interval(0.5, digits=2)
        == "0.50"
    )
    assert (
        result_tables.interval(nan, nan, nan)
        == result_tables.interval(nan, 0.0, 1.0)
        == "undefined"
    )
    tidy = pd.DataFrame(
        {"relation": ["P17"], "measure": "a", "estimate": nan, "low": nan}
    )
    assert (
        result_tables.wide_interval_table(tidy.assign(high=nan), {"a": "A"}).loc[
            "P17", "A"
        ]
        == "undefined"
    )
    paper = pd.DataFrame({"a": [0.25]}, index=["theirs"])
    laid = result_tables.our_row_above_published_table(
        {"a": nan}, paper, "ours", digits=1
    )
    assert laid["a"].to_dict() == {"ours": "undefined", "theirs": "0.2"}


def test_a_row_on_other_questions_says_so():
    paper = pd.DataFrame({"a": [0.25]}, index=["theirs"])
    laid = result_tables.our_row_above_published_table(
        {"a": 0.5}, paper, "ours", 2, other_questions=True
    )
    assert laid.index.tolist() == ["ours (other questions)", "theirs"]


@pytest.mark.parametrize(
    ("n", "said"), [(0, "fewer"), (5, "fewer than six models"), (6, "1.0")]
)
def test_a_correlation_over_few_models_is_not_written(n, said):
    found = stats.correlation(range(n), range(n))
    assert result_tables.correlation_text(found, digits=1).startswith(said)


def test_a_sortable_table_is_a_plain_one_with_a_class(tmp_path):
    table = pd.DataFrame({"a": [1, 2]})
    html = result_tables.show_table(
        table, "t", tmp_path, caption="", sortable=True
    ).to_html()
    assert 'class="dataframe sortable"' in html
    assert (
        "<button" not in html
    )  # that is the script's; without it the table reads the same
    assert (
        "sortable"
        not in result_tables.show_table(table, "t", tmp_path, caption="").to_html()
    )


@pytest.mark.parametrize(
    "cell", ["<b>x</b>", ["<b>x</b>"], ("<b>x</b>", 1), {"<b>x</b>"}, {"a": "<b>x</b>"}]
)
def test_nothing_in_a_table_is_markup(cell, tmp_path):
    table = pd.DataFrame({"a": [cell], "<b>x</b>": [0.123456]})
    page = result_tables.show_table(table, "t", tmp_path, "<b>x</b> & more").to_html()
    assert "<b>" not in page
    assert page.count("&lt;b&gt;x&lt;/b&gt;") == 3
    assert "&amp; more" in page
    assert "0.123<" in page


def test_folded_tables_keep_their_captions_behind_one_summary(tmp_path):
    shown = [
        result_tables.show_table(
            pd.DataFrame({"n": [at]}), f"t{at}", tmp_path, caption=f"Table <{at}>."
        )
        for at in range(2)
    ]
    page = result_tables.folded_tables(*shown, summary="Both <of> them").data
    assert page.startswith(
        '<details class="tables"><summary>Both &lt;of&gt; them</summary>'
    )
    assert page.count("<caption>Table &lt;") == 2
    assert page.endswith("</details>")
    assert (
        "<summary>Table &lt;0&gt;.</summary>"
        in result_tables.folded_tables(*shown).data
    )


CELLS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3+cmd|x",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1",
    "＝cmd|'/c calc'!A1",
    "＠SUM(A1)",
    "\x1b[2J=1+1",
    "a\rb",
    "a\nb",
]
CELLS += ["<b>x</b>", "[x](javascript:y)", "a|b", "`c`", "Ke$ha"]


def test_no_cell_is_a_formula_or_markup_elsewhere(tmp_path):
    table = pd.DataFrame({"=2+2|<b>\x1b[1m": CELLS, "r": "-0.5 [-0.6, -0.4]"})
    csv_file, md_file, _ = result_tables.export_table(table, "t", tmp_path)
    read = pd.read_csv(csv_file, dtype=str)
    assert len(read) == len(CELLS)
    assert not [
        cell
        for cell in [*read.columns, *read.iloc[:, 0]]
        if cell[0] in "=+-@\t\r\n＝＋－＠" or "\x1b" in cell or "[2J" in cell
    ]
    assert set(read["r"]) == {"-0.5 [-0.6, -0.4]"}
    lines = md_file.read_text().splitlines()
    assert len(lines) == len(CELLS) + 2
    assert {line.replace(r"\|", "").count("|") for line in lines} == {3}
    assert not any("<b>" in line or "](" in line for line in lines)
