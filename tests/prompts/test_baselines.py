"""Prompts that name the relation: Table 5's where it has them, else written and mined ones."""

import pandas as pd
import pytest

from helpers import UserError, datasets, published
from helpers.prompts import baselines
from notebooks.analysis import lpaqa

TABLE = published.load("lke_table5")
FRAMES = datasets.frames("atlas")


def test_published_templates_come_by_label():
    found = baselines.published(TABLE, {"P36": "capital", "P413": "no such", "P178": "developer"})
    assert found.groupby("relation").size().to_dict() == {"P36": 6, "P178": 6}
    first = found.set_index(["relation", "kind", "number"])["template"]
    assert first["P36", "HGP", 3] == "Its capital [X] is [Y]"
    assert first["P178", "MMP", 2] == "[X] 2008 [Y]"


def test_own_templates_of_every_relation_of_the_atlas():
    found = baselines.own(FRAMES)
    assert set(found["relation"]) == set(FRAMES["relation"])
    assert found["template"].str.endswith("[Y]").all()
    assert all(lpaqa.usable(template) for template in found["template"])
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
            "template": ["[X] has [Y].", "A [X] is [Y].", "One [X] is [Y].", "Who is [X]?", "[X]?"],
        }
    )
    found = baselines.own(frames, 2).query("kind == 'MMP'")["template"].tolist()
    assert found == ["[X] is [Y]", "[X]? [Y]"]


def test_published_templates_are_preferred():
    first = baselines.published(TABLE, {"P36": "capital"})
    found = baselines.prefer(first, baselines.own(FRAMES))
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
    probes = baselines.prompts(tests, baselines.own(FRAMES), options)
    assert len(probes) == 2 * 6 * 2
    assert probes["correct"].sum() == 12
    assert (probes["prompt"] == probes["prompt"].str.rstrip()).all()
    assert probes["continuation"].str.startswith(" ").all()


def test_a_relation_without_templates_is_refused():
    tests = datasets.load("atlas", ["P36"], n=1)
    with pytest.raises(UserError, match="no template for P36"):
        baselines.prompts(tests, baselines.own(FRAMES[:0]), {})


def test_templates_of_lpaqa_can_be_asked(shared):
    chosen, skipped = lpaqa.templates(lpaqa.read(shared / "data" / "lpaqa", ["P36"]))
    tests = datasets.load("atlas", ["P36"], n=1)
    probes = baselines.prompts(tests, chosen, {tests["fact"].item(): [tests["object"].item()]})
    assert set(probes["variant"]) == {"HGP1", "HGP2", "HGP3", "MMP1", "MMP2", "MMP3"}
    assert skipped > 0
