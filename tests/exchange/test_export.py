"""Runs in the format Every Eval Ever: its own validator, and back through `logs`."""

import json
import os

import pytest

from helpers import UserError, exchange
from helpers.exchange import logs, multiplicity_of_logs, record
from tests import saved_runs
from tests.program_calls import run_program


@pytest.fixture
def shared(tmp_path):
    saved_runs.write_made_up_runs(tmp_path / "runs", "small", 0.6, n_bootstrap=50)
    return exchange.describe_runs(tmp_path / "runs" / "small")


def files(shared, folder):
    """Return the aggregate and the path of the instances of each study."""
    paths = exchange.export_runs(shared, folder)
    found = [json.loads(path.read_text()) for path in paths[::2]]
    return {each["evaluation_id"].partition("/")[0]: each for each in found}, paths


def test_each_study_is_an_aggregate_and_its_instances(shared, tmp_path):
    found, paths = files(shared, tmp_path)
    assert list(found) == list(shared.record["runs"])
    for (name, whole), path in zip(found.items(), paths[1::2]):
        assert whole["detailed_evaluation_results"]["file_path"] == str(
            path.relative_to(tmp_path)
        )
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert len(rows) == whole["detailed_evaluation_results"]["total_rows"]
        told = {
            each["measure"]: each for each in shared.record["runs"][name]["measures"]
        }
        for result in whole["evaluation_results"]:
            one, details = (
                told[result["evaluation_result_id"].split("/")[1]],
                result["score_details"],
            )
            interval = details["uncertainty"].get("confidence_interval")
            assert (details["score"], interval and interval["lower"]) == (
                one["estimate"],
                one["low"],
            )
            bounds = result["metric_config"]
            assert bounds["min_score"] <= details["score"] <= float(bounds["max_score"])
            of = [
                r
                for r in rows
                if r.get("evaluation_result_id") == result["evaluation_result_id"]
            ]
            if of:  # this measure is the mean over its instances
                scores = [row["evaluation"]["score"] for row in of]
                assert sum(scores) / len(scores) == pytest.approx(
                    one["estimate"], abs=1e-12
                )
    assert exchange.export_runs(shared, tmp_path) == paths


def back(shared, folder):
    """Return the facts of a run of multiplicity, and those that `logs` makes of its export."""
    run = shared.record["runs"]["multiplicity"]
    table = record.read_parquet_table(shared.files[run["answers"]["file"]], "it")
    only = shared._replace(record=shared.record | {"runs": {"multiplicity": run}})
    path = exchange.export_runs(only, folder)[1]
    return record.facts_from_answers(
        "multiplicity", run["parameters"], table
    ), multiplicity_of_logs.from_logs([path]).table


def test_what_was_exported_has_the_same_multiplicity(shared, tmp_path):
    ours, again = back(shared, tmp_path)
    for name in (
        "accuracy",
        "self_consistency",
        "entropy",
        "class",
        "ambiguous_binary",
    ):
        assert ours[name].tolist() == again[name].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["atlas-xs", "smollm2"])
def test_kept_runs_pass_the_formats_own_validator(name, root, tmp_path):
    """The format's package wants Python 3.12 and older libraries: an interpreter that has it."""
    shared = exchange.read_archive(root / "results" / f"{name}.zip")
    ours, again = back(shared, tmp_path)
    assert ours["class"].tolist() == again["class"].tolist()
    paths = [
        path.relative_to(tmp_path) for path in exchange.export_runs(shared, tmp_path)
    ]
    if not (python := os.environ.get("PYTHON_OF_EVERY_EVAL_EVER")):
        pytest.skip("PYTHON_OF_EVERY_EVAL_EVER names no interpreter")
    done = run_program(
        python, "-m", "every_eval_ever", "validate", *paths, cwd=tmp_path
    )
    assert "8 passed, 0 warning-only, 0 failed" in done.stdout


def line(
    item, said, right, prompt="Q?", options=("Rome", "Oslo"), target="Rome", **more
):
    """Return a line of an instance file as the format's own converters write it."""
    row = {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "o/m",
        "sample_id": item,
    }
    row |= {
        "evaluation_name": "capitals",
        "evaluation_result_id": "acc",
        "output": {"raw": [said]},
    }
    row |= {
        "input": {
            "raw": prompt,
            "reference": [target],
            "choices": options and list(options),
        }
    }
    row |= {
        "evaluation": {"score": float(right), "is_correct": right},
        "answer_attribution": [],
    }
    return row | more


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_instances_of_others_are_read(tmp_path):
    first = write(
        tmp_path / "a.jsonl",
        line("1", "Rome", True),
        line(
            "1", "Oslo", False, evaluation_result_id="acc_norm"
        ),  # another metric of the answer
        line("2", "B", True, target="1"),  # a letter, and the target's number
    )
    other = write(
        tmp_path / "b.jsonl",
        line("2", "A", False, "R?", target="B"),
        line("1", "x", False, "R?"),
    )
    table = logs.read_logs([first, other]).table
    assert table["option"].tolist() == [0, 4, 1, 0]  # no option
    assert table["right"].tolist() == [True, False, True, False]
    texts = write(
        tmp_path / "c.jsonl",
        *(
            line("1", said, said == "Rome", options=None)
            for said in ("Rome", "Oslo", "Rome")
        ),
    )
    assert logs.read_repeated_answers([texts]).table["repeats"].tolist() == [
        [("Oslo", False), ("Rome", True)]
    ]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([line("1", "Rome", True) | {"evaluation": {}}], "line 1 lacks right"),
        ([line("1", "Rome", True) | {"output": None}], "line 1 lacks an answer"),
        (
            [line("1", "Rome", True), line("2", "Rome", True, model_id="n")],
            "several models",
        ),
        ([line("1", "Oslo", True)], "marked True, against its answer"),
    ],
)
def test_instances_that_cannot_be_measured_are_refused(rows, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        logs.read_logs([write(tmp_path / "a.jsonl", *rows)])
