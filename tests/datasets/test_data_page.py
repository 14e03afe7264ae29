"""The data page says what the data hold."""

import re

import pandas as pd
import pytest

from helpers import datasets
from helpers.datasets import multiple_choice, seen_questions
from helpers.prompts import variations

# The item of each benchmark that the page prints, and its number of demonstrations.
PRINTED = {
    "truthfulqa": ("truthfulqa-0789", 6),
    "factor": ("expert-0207", 0),
    "medhalt": ("reasoning_fake-1441", 0),
    "commonsenseqa": ("597d2a1c9df7962218d8b807df1f8212", 2),
    "fever": ("75629", 2),
    "truefalse": ("elements-00674", 2),
}


@pytest.fixture(scope="module")
def page(root) -> str:
    return (root / "book" / "data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def composition(page) -> pd.DataFrame:
    """The table of relations, as printed."""
    rows = [
        [cell.strip() for cell in line.strip("|\n ").split("|")]
        for line in page.splitlines()
        if re.match(r"\| P\d+ \|", line)
    ]
    names = ["relation", "label", "example", "n_facts", "n_objects", "source"]
    return pd.DataFrame(rows, columns=names).astype({"n_facts": int, "n_objects": int})


def test_the_table_counts_every_relation(composition):
    columns = ["relation", "label", "n_facts", "n_objects"]
    assert composition[columns].equals(datasets.relation_table("atlas")[columns])


def test_the_examples_are_facts(composition):
    facts = datasets.load("atlas")
    said = set(facts["relation"] + " " + facts["subject"] + " → " + facts["object"])
    for row in composition.itertuples():
        assert f"{row.relation} {row.example.replace('`', '')}" in said


def test_the_totals_are_those_of_the_data(page):
    table = datasets.relation_table("atlas")
    total, many = table["n_facts"].sum(), (table["n_objects"] >= 100).sum()
    assert f"{total:,} facts in {len(table)} relations" in page
    assert f"{many} of the relations have 100 or more" in page
    others = {"14,810 facts", "16,186 facts"}  # of other sets
    assert set(re.findall(r"\d+,\d{3} facts", page)) == {f"{total:,} facts", *others}


def test_the_hand_made_tables_have_the_sizes_told(page, root):
    names = pd.read_csv(
        root / "helpers/datasets/data/atlas_names.csv", keep_default_na=False
    )
    fixed = pd.read_csv(
        root / "helpers/datasets/data/atlas_corrections.csv", keep_default_na=False
    )
    changed = (fixed["object"] != "").sum()
    assert f"the {len(names)} names" in page
    assert f"lists {len(fixed)} facts that we changed ({changed}) or left out" in page


def test_the_example_of_a_fact_is_one(page):
    fact = datasets.load("atlas", ["P36"]).set_index("subject").loc["Australia"]
    assert f"| {fact['fact']} | P36, capital | Australia | {fact['object']} |" in page


def test_the_example_of_your_own_file_loads(page, tmp_path):
    block = re.search(r"```text\n(\{\"relations.*?)```", page, re.S).group(1)
    (tmp_path / "author.json").write_text(block, encoding="utf-8")
    facts = datasets.load(tmp_path)
    assert facts["object"].tolist() == ["Shakespeare", "Goethe"]


def test_shares_told_of_fktc_are_those_of_the_files(page, shared):
    facts = datasets.load(shared / "data" / "fktc" / "FKTC")
    inside = pd.Series(
        [
            o.casefold() in s.casefold()
            for s, o in zip(facts["subject"], facts["object"])
        ]
    )
    is_maker = facts["relation"] == "P176"
    assert f"In {inside[is_maker].sum()} of the {is_maker.sum()} rows of P176" in page
    assert f"{inside.sum():,} rows" in page
    for relation, answer in {
        "P30": "Antarctica",
        "P103": "French",
        "P108": "BBC",
    }.items():
        share = (facts.loc[facts["relation"] == relation, "object"] == answer).mean()
        assert f"{share:.0%}".replace("%", " %") in page
    several = facts.groupby(["relation", "subject"])["object"].transform("nunique") > 1
    subjects = facts[several].groupby(["relation", "subject"]).ngroups
    assert f"{subjects} of them, in {several.sum()} rows" in page


def test_the_examples_of_published_questions_are_in_their_files(page, shared):
    names = {"Natural Questions": "nq_open", "TriviaQA": "triviaqa", "PopQA": "popqa"}
    for label, name in names.items():
        example = re.search(rf"^\| {label}[^|]*\| ([^|]+) \|", page, re.M).group(1)
        assert example in set(
            seen_questions.read_questions(shared / "data" / name)["question"]
        )


@pytest.mark.parametrize("name", PRINTED)
def test_the_items_of_benchmarks_are_printed_as_the_model_reads_them(
    page, shared, name
):
    bench = multiple_choice.load_benchmark(shared / "data" / name)
    item, n_shots = PRINTED[name]
    items = bench.items[bench.items["item"] == item].copy()
    if bench.kinds == (
        "paraphrases",
    ):  # the files hold none; variation 0 is the text itself
        items["paraphrases"] = [["in other words"]]
    kind = bench.kinds[0]
    made = variations.variation_probes(
        items, kind, 2, bench.style, bench.pool, n_shots, seed=0
    )
    row = made[made["correct"] & (made["variation"] == 0)].iloc[0]
    pattern = rf"```{{code-block}} text\n:name: item-{name}\n\n(.*?)\n```"
    assert (
        re.search(pattern, page, re.S).group(1) == row["prompt"] + row["continuation"]
    )


@pytest.mark.parametrize("name", PRINTED)
def test_the_table_of_benchmarks_counts_their_files(page, shared, name):
    bench = multiple_choice.load_benchmark(shared / "data" / name)
    row = re.search(rf"^\| `{name}` \|(.*)\|$", page, re.M).group(1).split("|")
    _, licence, there, asked, options, _ = (cell.strip() for cell in row)
    assert sum(int(n) for n in re.findall(r"\d+", there.replace(",", ""))) == int(
        bench.about["rows"]
    )
    assert asked == f"{len(bench.items):,}"
    sizes = bench.items["options"].str.len()
    least, most = sizes.min(), sizes.max()
    assert options == (str(most) if least == most else f"{least} to {most}")
    told = (shared / "data" / name / "SOURCE.md").read_text(encoding="utf-8")
    for words in re.findall(r"Apache-2.0|MIT|ODC-By 1.0|CC BY-SA 3.0", licence):
        assert words in told
    assert ("none" in licence) == ("No LICENSE file" in told)


def test_the_example_of_your_own_questions_loads(page, tmp_path):
    block = re.search(r"```text\n(question,options.*?)```", page, re.S).group(1)
    (tmp_path / "own.csv").write_text(block, encoding="utf-8")
    items = multiple_choice.load_benchmark(tmp_path / "own.csv").items
    correct = [
        options[answer] for options, answer in zip(items["options"], items["answer"])
    ]
    assert correct == ["Bern", "mercury"]
