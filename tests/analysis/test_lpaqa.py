"""LPAQA's published prompts, and which of them a left-to-right model can be asked."""

import pytest

from helpers import UserError
from notebooks.analysis import lpaqa
from notebooks.kit import published


def test_all_published_prompts_are_read(shared):
    table = lpaqa.read_lpaqa_prompts(shared / "data" / "lpaqa")
    counts = table["source"].value_counts().to_dict()
    assert counts == {"mine": 1166, "paraphrase": 1073, "manual_paraphrase": 1018}
    assert table["relation"].nunique() == 41
    weights = table[table["source"] != "manual_paraphrase"].groupby(
        ["relation", "source"]
    )["weight"]
    assert weights.sum().sub(1).abs().max() < 1e-6
    # An independent count: after [X] and [Y] nothing but what is no word.
    mined = table[table["source"] == "mine"]
    strict = mined["template"].str.contains(r"\[X\].*\[Y\]\W*$")
    assert (mined["usable"] == strict).all()


def test_unusable_prompts_are_counted(shared):
    table = lpaqa.read_lpaqa_prompts(shared / "data" / "lpaqa", ["P17", "P36"])
    chosen, skipped = lpaqa.best_templates_and_skipped_count(table)
    asked = table[table["kind"] != ""]
    assert skipped == (~asked["usable"]).sum() > 0
    assert chosen["template"].str.endswith("[Y]").all()
    assert chosen.groupby(["relation", "kind"]).size().eq(3).all()
    best = table.query("relation == 'P17' and kind == 'MMP' and usable").sort_values(
        "weight"
    )
    first = chosen.query("relation == 'P17' and kind == 'MMP' and number == 1")[
        "template"
    ].item()
    assert best["template"].iloc[-1].startswith(first)


def test_table_5_took_its_prompts_from_here(shared):
    table = lpaqa.read_lpaqa_prompts(shared / "data" / "lpaqa")
    said = {
        relation: {
            text.partition("[Y]")[0].strip().casefold() for text in rows["template"]
        }
        for relation, rows in table.groupby("relation")
    }
    printed = published.load_published_table("lke_table5")

    def known(label, relation):
        texts = (
            printed.loc[label].dropna().str.replace("{subject}", "[X]").str.casefold()
        )
        return texts.isin({text.casefold() for text in said[relation]}).to_dict()

    assert all(known("capital", "P36")[f"HGP {n}"] for n in (1, 2))
    assert all(known("original broadcaster", "P449")[f"HGP {n}"] for n in (1, 2, 3))
    # What Table 5 prints for the manufacturer are prompts for the record label.
    assert known("manufacturer", "P264")["HGP 1"]
    assert not known("manufacturer", "P176")["HGP 1"]


def test_a_folder_without_prompts_and_a_damaged_file_are_refused(tmp_path):
    with pytest.raises(UserError, match="holds no prompts of LPAQA"):
        lpaqa.read_lpaqa_prompts(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "P17.jsonl").write_text('{"template": "[X] in [Y]"}\n')
    with pytest.raises(UserError, match=r"P17\.jsonl is not in its form \(KeyError"):
        lpaqa.read_lpaqa_prompts(tmp_path)
