"""Whatever is written into a folder that is none ends in one sentence with a remedy."""

import pandas as pd
import pytest

from helpers import UserError, datasets, exchange, probing, runs
from helpers.exchange import report_card
from helpers.runs.panel import panel_answers
from notebooks.kit import findings
from notebooks.kit.plots import result_tables
from tests import saved_runs, tiny_models

TABLE = pd.DataFrame({"item": ["a"], "relation": "r", "subject": "a", "object": "b"})
PROBES = pd.DataFrame({"prompt": ["Lyon is in"], "continuation": " France"})


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    saved_runs.write_made_up_runs(folder, "small", 0.6, ("monitor",), n_bootstrap=20)
    return exchange.describe_runs(folder / "small")


FOLDER = r"cannot be written .*: give another --folder"
WRITERS = [  # what writes something of a run into a folder, and the sentence
    (
        lambda _, to: datasets.write_dataset(TABLE, {"r": ["[X]?"]}, to),
        "cannot be written to",
    ),
    (
        lambda _, to: result_tables.export_table(TABLE, "t", to),
        "t.csv cannot be written",
    ),
    (lambda _, to: findings.Findings().summary(to), "findings.json cannot be written"),
    (
        lambda _, to: probing.score(
            tiny_models.tiny_language_model("llama"), PROBES, to, progress=False
        ),
        r"cache folder .* cannot be written",
    ),
    (lambda run, to: report_card.write_report_card(run.record, to), FOLDER),
    (lambda run, to: exchange.export_runs(run, to), FOLDER),
    (lambda run, to: exchange.pack_archive(run, to), FOLDER),
    (
        lambda _, to: panel_answers.save_panel_answers(to, TABLE, {}),
        "cannot be written",
    ),
    (
        lambda _, to: runs.start("monitor", {"model": "m"}, to / "monitor"),
        "file/monitor cannot be written .*run_dir",
    ),
]


@pytest.mark.parametrize(("write", "sentence"), WRITERS)
def test_a_folder_that_cannot_be_written_is_one_sentence(
    shared, tmp_path, write, sentence
):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=sentence) as told:
        write(shared, tmp_path / "file")
    assert "\n" not in str(told.value)


def test_the_file_that_is_in_the_way_is_named(tmp_path):
    run = runs.start("monitor", {"model": "m"}, tmp_path / "monitor")
    (tmp_path / "monitor" / "answers.parquet").mkdir()
    with pytest.raises(UserError, match=r"answers\.parquet cannot be written"):
        runs.save(run, metrics=TABLE, answers=TABLE, model={}, dataset={})


@pytest.mark.parametrize("text", ["[]", '{"parameters": null}', '{"parameters": 3}'])
def test_a_manifest_of_another_form_is_damaged(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(
        UserError, match=r"run\.json is damaged .*run the chapter again"
    ):
        runs.load_manifest(tmp_path)
