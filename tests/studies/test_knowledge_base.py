"""The study of knowledge bases, asked of a model that says nothing."""

import numpy as np
import pandas as pd

from helpers import models
from helpers.studies import knowledge_base as study
from tests import extreme_models


def test_a_model_that_says_nothing_is_measured(tmp_path):
    lm = models.load(str(extreme_models.MODEL_MAKERS["endless"](tmp_path / "endless")))
    facts = study.facts(study.ask(lm, n_seen=1, n_unseen=1, max_new_tokens=12))
    assert set(facts["label"]) == {"uninformative"}
    found = study.summary(facts, n_resamples=20).set_index(["relation", "measure"])[
        "estimate"
    ]
    assert found["all"][["NCR", "UR", "NCCR", "IUR"]].tolist() == [0, 1, 0, 1]
    assert np.isnan(found["all"][["Cons_c", "Cons_w"]]).all()
    assert study.verdict(facts)["known"].eq(0).all()


def test_facts_have_the_kinds_of_today_and_the_verdicts_of_a_judge():
    question = "What is the ISO 639-3 code of the Silesian language?"
    answers = pd.DataFrame(
        {
            "item": ["a", "b", "c"],
            "group": "P220",
            "question": question,
            "answers": [["szl"]] * 3,
            "text": [f"{question[8:-1]} is zza.", "something like szl", "unsure"],
            # Of older rules, of a judge, of both.
            "kind": ["none", "correct", "unsure"],
            "label": ["uninformative", "correct", "uninformative"],
            "seen": True,
            "setting": "four-shot",
            "consistency": [np.nan, 0.5, np.nan],
        }
    )
    facts = study.facts(answers)
    assert facts["label"].tolist() == ["wrong", "wrong", "uninformative"]
    assert facts["correct"].tolist() == [0, 1, 0]
    assert facts["wrong"].tolist() == [1, 0, 0]
