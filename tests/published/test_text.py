"""Tables that were copied from the papers' text are held against it once more."""

import re

import pytest

from helpers import published

PAPERS = {
    "monitor": "000_a0160f3987283b5d.txt",
    "kb": "002_b46eda59b53c8136.txt",
    "lke": "003_f44cecac2bc50a79.txt",
    "multiplicity": "004_2f29636a8e49ec19.txt",
}


def text_of(shared, name):
    return (shared / "papers" / PAPERS[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "columns"), [(1, 12), (3, 12)], ids=["multiplicity 1", "multiplicity 3"]
)
def test_rows_of_multiplicity_stand_in_the_paper(shared, number, columns):
    lines = re.sub(r"\\pm", " ", text_of(shared, "multiplicity")).splitlines()
    rows = {tuple(line.split()) for line in lines}
    for model, group in published.load_tidy(f"multiplicity_table{number}").groupby("row"):
        values = tuple(group["value"])
        assert len(values) == columns
        assert (model, *values) in rows or (model.replace("GPT-", "GPT"), *values) in rows


def test_rows_of_multiplicitys_table_2_stand_in_the_paper(shared):
    rows = {tuple(line.split()) for line in text_of(shared, "multiplicity").splitlines()}
    for model, group in published.load_tidy("multiplicity_table2").groupby("row"):
        assert (model.replace("GPT-", "GPT"), *group["value"]) in rows


def test_models_of_knowledge_bases_stand_in_the_paper(shared):
    marks = {"\\usym2713": "yes", "\\usym2717": "no"}
    found = []
    for line in text_of(shared, "kb").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if "\\usym2713" in line or "\\usym2717" in line:
            rest = cells[cells.index("Dec-only" if "Dec-only" in cells else "Enc-Dec") :]
            size = cells[cells.index(rest[0]) - 1]
            found.append([size, *[marks.get(cell, cell) for cell in rest if cell]])
    stored = published.load_tidy("kb_table4").groupby("row", sort=False)["value"].agg(list)
    assert [row[:9] for row in found] == stored.tolist()


@pytest.mark.parametrize("name", ["lke_table2"])
def test_the_laureates_stand_in_the_paper(shared, name):
    text = text_of(shared, "lke")
    for laureate, group in published.load_tidy(name).groupby("row"):
        assert " ".join([laureate, *group["value"]]) in text


@pytest.mark.parametrize("paper", PAPERS)
def test_numbers_of_the_running_text_stand_in_the_paper(shared, paper):
    text = text_of(shared, paper)
    for _, row in published.load_tidy(f"{paper}_text").iterrows():
        value = row["value"]
        if "rank" in row["row"] or "place" in row["row"]:
            continue  # said in words: "performs best", "the least ambiguity"
        forms = [re.escape(value), re.escape(f"{int(float(value)):,}")]
        words = {"20": "20 hand-written", "1": "1%"}
        forms.append(re.escape(words.get(value, value)))
        assert re.search(rf"(?<![\d.])(?:{'|'.join(forms)})(?!\d)", text), (row["row"], value)


def test_what_appendix_a_says_stands_in_the_paper(shared):
    text = text_of(shared, "multiplicity")
    assert all(value in text for value in published.load_tidy("multiplicity_appendix")["value"])


def test_restored_signs_and_headings_are_not_in_the_paper(shared):
    signs = published.restored().query("reason.str.startswith('sign')")
    stored = published.load_tidy("kb_table2").set_index(["row", "column"])["value"]
    for _, row in signs.iterrows():
        assert stored[tuple(row["place"].split(", "))] == row["stored"] == "-" + row["printed"]
        assert f"| {row['printed']} |" in text_of(shared, "kb")
    negative = stored[stored.str.startswith("-")]
    assert len(negative) == len(signs)


def test_corpus_and_figure_5_stand_in_the_paper(shared):
    text = text_of(shared, "monitor")
    corpus = published.load("monitor_corpus").loc["FKTC"]
    assert f"{corpus['facts']:,.0f}" in text
    assert f"{corpus['prompts']:,.0f}" in text
    for value in published.load_tidy("monitor_figure5")["value"]:
        assert f"**{value}%**" in text


def test_table_4s_correlation_stands_in_the_paper(shared):
    r, p = published.load_tidy("monitor_table4_correlation")["value"]
    text = re.sub(r"</?b>", "", text_of(shared, "monitor"))
    assert re.search(rf"r\(MONITOR, avg acc\)\s+{re.escape(r)}\s+{re.escape(p)}", text)
