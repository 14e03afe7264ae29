"""Runs in the papers' measures: each figure by hand, and who asked the papers' questions."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers import runs, stats
from notebooks.kit import runs_against_papers
from notebooks.kit.published import paper_models
from tests import saved_runs


def found(folder, **kept):
    table = runs_against_papers.runs_in_papers_measures(folder, 50)
    for column, value in kept.items():
        table = table[table[column] == value]
    return table.set_index("measure")


def amend(folder, dataset, **parameters):
    """Change what a saved run says of its data set and its parameters."""
    path = folder / "run.json"
    told = json.loads(path.read_text())
    told["dataset"] |= dataset
    told["parameters"] |= parameters
    path.write_text(json.dumps(told))


def lists(folder, right, dataset="trex_mc"):
    """Save a run of lists: relation to marks, each fact with two choices of 0.9 and 0.1."""
    rows = [
        (f"{relation}-{fact}", relation, option, name, option == 0, [np.log(p)])
        for relation, marks in right.items()
        for fact, good in enumerate(marks)
        for option, (name, p) in enumerate(
            (("Peru", 0.1 + 0.8 * good), ("Chad", 0.9 - 0.8 * good))
        )
    ]
    columns = ["item", "relation", "option", "choice", "correct", "logprobs"]
    answers = pd.DataFrame(rows, columns=columns).assign(variant="ic", part="lists")
    given = {"model": folder.parent.name, "dataset": dataset, "seed": 0}
    run = runs.start("latent_knowledge", given, folder)
    about = {"model": {"name": folder.parent.name, "prompt_format": "bare"}}
    about |= {"dataset": saved_runs.dataset_with_checksum(dataset)}
    return runs.save(run, answers=answers, metrics=answers[["item"]], **about)


def test_without_a_printed_measure_the_table_is_empty_and_has_its_columns(tmp_path):
    table = runs_against_papers.runs_in_papers_measures(tmp_path / "none")
    assert table.empty
    assert list(table) == runs_against_papers.PAPER_MEASURE_COLUMNS
    saved_runs.write_made_up_runs(
        tmp_path, "m", 0.6, ("multiplicity",)
    )  # on questions of no paper
    assert found(tmp_path).empty
    saved_runs.write_made_up_runs(
        tmp_path, "deaf", 0.6, ("monitor",), heeds=False
    )  # has no MONITOR
    assert list(found(tmp_path).index) == ["MONITOR: mean accuracy"]


def test_figures_are_those_worked_out_by_hand(tmp_path):
    """Of 24 facts the easier 0.6 are right; `saved_runs` says what each answer's chances are."""
    saved_runs.write_made_up_runs(tmp_path, "org/a", 0.6)
    table = found(tmp_path)
    assert set(table.index) <= set(paper_models.published_measures().index)
    assert set(table["model"]) == {"org--a"}
    assert set(table["label"]) == {"a"}
    facts = saved_runs.made_up_facts()
    right = (facts["hard"] < 0.6).to_numpy()
    cr = right[np.arange(24) % 2 == 0].mean()
    deviation = np.sqrt((0.2**2 + 0.3**2 + 0.2 * 0.3) / 3)
    for name, value, n in (
        ("IC-LKE: accuracy", right.mean(), 24),
        ("MONITOR: score", deviation / 0.8, 20),  # every fifth fact does not count
        ("MONITOR: mean anchor", 0.8, 20),
        ("MONITOR: mean accuracy", right.mean() * 2 / 3, 24),
        ("knowledge bases: CR, four-shot", cr, 12),
        ("knowledge bases: NCR, zero-shot", 2 * cr - 1, 12),
        ("knowledge bases: NCCR, four-shot", 0.8 * cr - 0.4 * (1 - cr), 12),
        ("knowledge bases: IUR, four-shot", 1 - 0.4 * (1 - right[1::2].mean()), 12),
    ):
        assert table.loc[name, "value"] == pytest.approx(value)
        assert table.loc[name, "n"] == n
    bounded = table.dropna(subset="low")
    assert (bounded["low"] <= bounded["value"]).all()
    assert (bounded["value"] <= bounded["high"]).all()
    assert set(table.index.difference(bounded.index)) == {
        "MONITOR: score",
        "MONITOR: mean anchor",
    }
    assert not table["same_questions"].any()  # all of it asks the atlas


def test_a_sample_of_all_relations_is_of_the_papers_questions_and_a_part_of_them_is_not(
    tmp_path,
):
    for name, n in (("whole", 50), ("part", 12)):
        lists(tmp_path / name / "latent_knowledge", {f"T{i}": [1] for i in range(n)})
    whole, part = (found(tmp_path, model=name).iloc[0] for name in ("whole", "part"))
    assert (whole["same_questions"], whole["why"]) == (True, "")
    assert whole[["low", "high"]].tolist() == pytest.approx(
        stats.wilson_interval(50, 50)[1:3]
    )
    assert (part["same_questions"], part["why"]) == (False, "12 of 50 relations")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"n_choices": 20}, "n_choices 20, not 100"),
        (
            {"n_examples": 5, "separator": "comma"},
            "n_examples 5, not 50; separator comma, not",
        ),
        ({"n_choices": 100, "n_facts": 3, "seed": 4, "n_bootstrap": 9}, ""),
    ],
)
def test_settings_that_change_the_figure_are_named(tmp_path, parameters, why):
    folder = tmp_path / "m" / "latent_knowledge"
    lists(folder, {f"T{i}": [1] for i in range(50)})
    amend(folder, {}, **parameters)
    row = found(tmp_path).iloc[0]
    assert row["why"].startswith(why)
    assert row["same_questions"] == (not why)


def test_monitor_is_of_the_papers_questions_on_all_of_fktc_in_bare_prompts(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(runs_against_papers.RELATION_COUNTS, "fktc", 3)
    saved_runs.write_made_up_runs(tmp_path, "bare", 0.6, ("monitor",), dataset="fktc")
    saved_runs.write_made_up_runs(
        tmp_path, "qa", 0.6, ("monitor",), dataset="fktc", prompt_format="qa"
    )
    saved_runs.write_made_up_runs(
        tmp_path, "short", 0.6, ("monitor",), dataset="fktc", n_frames=4
    )
    why = found(tmp_path).loc["MONITOR: score"].set_index("label")["why"].to_dict()
    assert why == {
        "bare": "",
        "qa (qa)": "prompts in format qa",
        "short": "n_frames 4, not 7",
    }


@pytest.mark.parametrize(
    ("chapter", "name"),
    [
        ("monitor", "fktc"),
        ("knowledge_base", "seen_qa"),
        ("multiplicity", "truthfulqa"),
    ],
)
def test_a_data_set_is_known_by_its_checksum_and_not_by_its_name(chapter, name):
    told = saved_runs.dataset_with_checksum(name) | {
        "title": runs_against_papers.SEEN_QA_TITLE,
        "rows": "817",
    }
    parameters = {"as_of": runs_against_papers.PAPERS_UNSEEN_DAY}
    manifest = {"model": {}, "parameters": parameters}
    assert (
        runs_against_papers.differences_from_paper(
            chapter, manifest | {"dataset": told}, 20
        )
        == ""
    )
    for checksum in ("x", "", None, "x; ; "):
        data = told | {"checksum": checksum}
        assert "not the published" in runs_against_papers.differences_from_paper(
            chapter, manifest | {"dataset": data}, 20
        )


def test_seen_questions_need_all_sources_and_unseen_ones_the_papers_day(tmp_path):
    saved_runs.write_made_up_runs(
        tmp_path / "questions", "m", 0.6, ("knowledge_base",), dataset="seen_qa"
    )
    folder = tmp_path / "questions" / "m" / "knowledge_base"
    amend(folder, {"title": "SeenQA: nq_open, triviaqa, popqa"})
    why = found(tmp_path)["why"]
    assert why["knowledge bases: NCCR, zero-shot"] == ""
    assert why["knowledge bases: UR, zero-shot"] == "unseen after 2026-12-31"
    amend(folder, {}, as_of="2024-04-13")
    assert found(tmp_path)["same_questions"].all()
    amend(folder, {"title": "SeenQA: popqa"})
    assert set(found(tmp_path)["why"]) == {"other sources"}


def test_a_benchmark_is_the_papers_if_its_files_and_its_variation_are(tmp_path):
    top, name = tmp_path / "benchmarks" / "fever", "multiplicity: FEVER "
    saved_runs.write_made_up_runs(top, "m", 0.6, ("multiplicity",), dataset="fever")
    folder = top / "m" / "multiplicity"
    amend(folder, {"rows": "9999"}, focus="")
    table = found(tmp_path)
    assert list(table.index) == [
        name + "accuracy",
        name + "ambiguity",
        name + "binary ambiguity",
    ]
    assert table["same_questions"].all()
    right = (saved_runs.made_up_facts()["hard"] < 0.6).to_numpy()
    hits = np.select([np.arange(24) % 3 == 0, right], [5, 9], 1)
    assert table.loc[name + "accuracy", "value"] == pytest.approx(hits.mean() / 10)
    assert (
        table.loc[name + "ambiguity", "value"] == 1
    )  # no answer is the same ten times
    amend(folder, {}, focus="order")
    assert set(found(tmp_path)["why"]) == {"variation of order"}
    amend(folder, {"rows": "50"})
    assert set(found(tmp_path)["why"]) == {"50 questions in the files, not 9,999"}


def test_of_two_runs_the_one_with_more_facts_counts_and_data_sets_stay_apart(tmp_path):
    lists(tmp_path / "m" / "latent_knowledge", {"T1": [1, 1], "T2": [0, 0, 0, 0]})
    lists(tmp_path / "measured" / "m" / "latent_knowledge", {"T1": [1]})
    lists(tmp_path / "questions" / "m" / "latent_knowledge", {"P1": [1]}, "atlas")
    table = found(tmp_path).set_index("dataset")
    assert table["value"].to_dict() == {
        "trex_mc": 0.5,
        "atlas": 1.0,
    }  # relations count alike
    assert table.loc["trex_mc", "folder"] == tmp_path / "m" / "latent_knowledge"


@pytest.mark.parametrize("harm", ["missing", "damaged", "lacking"])
def test_a_broken_run_is_left_out_with_a_warning(tmp_path, harm):
    for name in ("whole", "broken"):
        lists(tmp_path / name / "latent_knowledge", {"T1": [1, 0]})
    answers = tmp_path / "broken" / "latent_knowledge" / "answers.parquet"
    if harm == "missing":
        answers.unlink()
    elif harm == "damaged":
        answers.write_bytes(answers.read_bytes()[:100])
    else:
        pd.read_parquet(answers).drop(columns="correct").to_parquet(answers)
    with pytest.warns(UserWarning, match="broken.* is left out"):
        table = runs_against_papers.runs_in_papers_measures(tmp_path, 50)
    assert table["model"].tolist() == ["whole"]


def test_facts_of_many_runs_stand_side_by_side(tmp_path):
    for model, marks in (("a", {"P17": [0, 1]}), ("org/b", {"P17": [0], "P36": [1]})):
        lists(tmp_path / model.replace("/", "--") / "latent_knowledge", marks, "atlas")
        about = {"name": model, "n_parameters": len(marks)}
        path = tmp_path / model.replace("/", "--") / "latent_knowledge" / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"model": about}))
    found, sizes = runs_against_papers.measure_by_fact_and_model(
        "latent_knowledge", "atlas", "right", tmp_path
    )
    assert sizes == {"a": 1, "b": 2}
    assert found.fillna(-1).to_dict("index") == {
        "P17-0": {"a": 0.0, "b": 0.0},
        "P17-1": {"a": 1.0, "b": -1},
        "P36-0": {"a": -1, "b": 1.0},
    }
    assert runs_against_papers.measure_by_fact_and_model(
        "latent_knowledge", "fktc", "right", tmp_path
    )[0].empty
