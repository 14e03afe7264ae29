"""Prompts that name the relation: Table 5's where it has them, else written and mined ones."""

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.prompts import lists
from notebooks.analysis import latent_prompts, lpaqa
from notebooks.kit import published

TABLE = published.load_published_table("lke_table5")
FRAMES = datasets.prompt_frames("atlas")


def test_published_templates_come_by_label():
    found = latent_prompts.templates_from_table(
        TABLE, {"P36": "capital", "P413": "no such", "P178": "developer"}
    )
    assert found.groupby("relation").size().to_dict() == {"P36": 6, "P178": 6}
    first = found.set_index(["relation", "kind", "number"])["template"]
    assert first["P36", "HGP", 3] == "Its capital [X] is [Y]"
    assert first["P178", "MMP", 2] == "[X] 2008 [Y]"


def test_own_templates_of_every_relation_of_the_atlas():
    found = latent_prompts.templates_from_frames(FRAMES)
    assert set(found["relation"]) == set(FRAMES["relation"])
    assert found["template"].str.endswith("[Y]").all()
    assert all(lpaqa.ends_with_object(template) for template in found["template"])
    human = found[found["kind"] == "HGP"]
    assert human.groupby("relation").size().eq(3).all()
    mined = found[found["kind"] == "MMP"]
    assert mined.groupby("relation").size().ge(1).all()
    assert mined["template"].str.startswith("[X]").all()
    both = mined.merge(human, on=["relation", "template"])
    assert both.empty


def test_the_commonest_words_between_subject_and_object_come_first():
    frames = pd.DataFrame(
        {
            "relation": "r",
            "kind": ["wp", "wp", "wp", "qa", "qa"],
            "frame": [0, 1, 2, 0, 1],
            "template": [
                "[X] has [Y].",
                "A [X] is [Y].",
                "One [X] is [Y].",
                "Who is [X]?",
                "[X]?",
            ],
        }
    )
    found = (
        latent_prompts.templates_from_frames(frames, 2)
        .query("kind == 'MMP'")["template"]
        .tolist()
    )
    assert found == ["[X] is [Y]", "[X]? [Y]"]


def test_published_templates_are_preferred():
    first = latent_prompts.templates_from_table(TABLE, {"P36": "capital"})
    found = latent_prompts.templates_with_fallback(
        first, latent_prompts.templates_from_frames(FRAMES)
    )
    mined = found.query("relation == 'P36' and kind == 'MMP'")["template"].tolist()
    assert mined == [
        "[X] united states embassy in [Y]",
        "[X] representative legislature [Y]",
        "[X] rock band from [Y]",
    ]
    assert "P17" in set(found["relation"])


def test_prompts_ask_every_template_with_every_choice():
    tests = datasets.load("atlas", ["P36"], n=2)
    options = {fact: ["Lima", obj] for fact, obj in zip(tests["fact"], tests["object"])}
    probes = latent_prompts.probes_from_templates(
        tests, latent_prompts.templates_from_frames(FRAMES), options
    )
    assert len(probes) == 2 * 6 * 2
    assert probes["correct"].sum() == 12
    assert (probes["prompt"] == probes["prompt"].str.rstrip()).all()
    assert probes["continuation"].str.startswith(" ").all()
    nothing = latent_prompts.templates_from_frames(FRAMES[:0])
    assert latent_prompts.probes_from_templates(tests, nothing, {}).empty


def test_relations_to_compare_are_those_asked():
    tests = datasets.load("atlas", ["P17", "P36"], n=2)
    assert latent_prompts.facts_of_compared_relations(tests, []).equals(tests)
    assert set(
        latent_prompts.facts_of_compared_relations(tests, ["P36"])["relation"]
    ) == {"P36"}
    with pytest.raises(
        UserError, match="no test of P30 to compare: choose from P17, P36"
    ):
        latent_prompts.facts_of_compared_relations(tests, ["P30"])


def table(n, start=0):
    rows = range(start, start + n)
    made = {
        "fact": [f"r-{k}" for k in rows],
        "relation": "r",
        "subject": [f"s{k}" for k in rows],
    }
    return pd.DataFrame({**made, "object": [f"o{k}" for k in rows]})


def test_the_released_codes_slips():
    tests, pool = table(1, 9), table(2)
    probe = latent_prompts.probes_of_released_code(tests, pool, {"r-9": ["o9"]}).iloc[0]
    text = probe["prompt"] + probe["continuation"]
    # ' : ' twice before the choice, ' , ' between pairs, and no comma before the tested
    # subject.
    assert text in ("s0 : o0 , s1 : o1 s9 :  : o9", "s1 : o1 , s0 : o0 s9 :  : o9")
    ours = lists.ic_lke_probes(
        tests, pool, {"r-9": ["o9"]}, separator="colon and comma"
    ).iloc[0]
    assert (ours["prompt"] + ours["continuation"]).endswith(", s9 : o9")
    probe = latent_prompts.probes_without_examples(
        table(1), {"r-0": ["o0"]}, "colon and comma"
    ).iloc[0]
    assert (probe["prompt"], probe["continuation"]) == ("s0 :", " o0")
    assert (probe["way"], probe["examples"], probe["draw"]) == ("IC-LKE", 0, 0)


def test_other_lists_have_templates_between_names_and_the_released_strings():
    templates = pd.DataFrame(
        [
            ("r", "HGP", 1, "[X] is [Y]"),
            ("r", "HGP", 2, "[X] was [Y]"),
            ("q", "MMP", 1, "[X], [Y]"),
        ],
        columns=latent_prompts.TEMPLATE_COLUMNS,
    )
    made = latent_prompts.probes_with_other_separators(
        table(1, 9), table(1), {"r-9": ["o9"]}, templates
    )
    texts = pd.concat(made).set_index("separator")["prompt"].to_dict()
    assert texts == {"HGP 1": "s0 is o0 s9 is", "released": "s0 : o0 s9 :  :"}


def test_templates_of_lpaqa_can_be_asked(shared):
    chosen, skipped = lpaqa.best_templates_and_skipped_count(
        lpaqa.read_lpaqa_prompts(shared / "data" / "lpaqa", ["P36"])
    )
    tests = datasets.load("atlas", ["P36"], n=1)
    probes = latent_prompts.probes_from_templates(
        tests, chosen, {tests["fact"].item(): [tests["object"].item()]}
    )
    assert set(probes["way"]) == {"HGP", "MMP"}
    assert set(probes["template"]) == {1, 2, 3}
    assert skipped > 0
