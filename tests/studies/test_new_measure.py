"""A measure that is new in each study, computed from answers: nothing else is edited for it."""

from functools import partial
from zlib import crc32

import pandas as pd
import pytest

from bench.plugins import make_tasks as plugins
from helpers import UserError, exchange
from helpers.exchange import archive, report_card
from helpers.metrics import choices
from helpers.studies import STUDIES, compare_models
from helpers.studies.measures import mean_measure, measurable, summary_of_measures
from notebooks.analysis import comparison, training_run_differences
from notebooks.kit import runs_against_papers, trained_answers
from tests import saved_runs

NAMES = list(STUDIES)
NEW = "modal_share"


def coin(answers):
    """Return 0 or 1 of each item: it varies, and follows from nothing but the answers."""
    items = answers["item"].unique()
    return pd.Series([crc32(item.encode()) % 2 for item in items], items)


def modal_share(answers, *, rule="mean"):
    """Return the share of prompts that got the commonest option of each question."""
    options = choices.choices_by_variation(choices.chosen_options(answers, rule))
    counts = options.apply(lambda row: row.value_counts().iloc[0], axis=1)
    return counts / options.shape[1]


def add_measures(patch):
    """Add a measure to each study, as an import and one more entry of `MEASURES` do."""
    functions = dict.fromkeys(NAMES, coin) | {"multiplicity": modal_share}
    for name, study in STUDIES.items():
        added = mean_measure(NEW, "modal share", True, from_answers=functions[name])
        measures = (*study.MEASURES, added)
        patch.setattr(study, "MEASURES", measures)
        patch.setattr(study, "summary", partial(summary_of_measures, measures))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of runs of two models."""
    top = tmp_path_factory.mktemp("runs")
    for model, ability in (("small", 0.4), ("large", 0.7)):
        saved_runs.write_made_up_runs(top, model, ability, n_bootstrap=50)
        path = top / model / "monitor" / "answers.parquet"
        answers = pd.read_parquet(path)
        places = answers["variant"].map({"frame0": 0, "frame1": 1, "wrong0": 0})
        frame = places.where(answers["variant"] != "wrong0", 0)
        answers.assign(frame=frame, context_index=places).to_parquet(path)
    return top


@pytest.fixture(scope="module")
def older(folder, tmp_path_factory):
    """Return an archive that was packed before there were the measures."""
    shared = exchange.describe_runs(folder / "small")
    return exchange.pack_archive(shared, tmp_path_factory.mktemp("older"))


@pytest.fixture(autouse=True)
def _new_measures(monkeypatch, folder, older):
    runs_against_papers._facts.cache_clear()
    add_measures(monkeypatch)
    yield
    runs_against_papers._facts.cache_clear()


def reported(run):
    return {each["measure"]: each for each in run["measures"]}


@pytest.mark.parametrize("name", NAMES)
def test_models_are_compared_in_it(folder, name):
    study = STUDIES[name]
    facts = {
        model: runs_against_papers.facts_of_run(
            name, folder / model / name
        ).reset_index()
        for model in ("small", "large")
    }
    assert NEW in set(compare_models(study, facts, n_resamples=20)["measure"])
    before = facts | {"small": facts["small"].drop(columns=NEW)}
    with pytest.warns(UserWarning, match="modal_share is left out: some facts lack"):
        found = compare_models(study, before, n_resamples=20)
    assert found["measure"].tolist() == [m.name for m in study.MEASURES[:-1]]


def test_the_chapter_on_comparison_has_it_on_its_boards(folder):
    found = comparison.facts_by_chapter_and_model(
        comparison.load_comparable_runs(folder)
    )
    standing, gaps = comparison.estimates_and_differences(found, n_resamples=20)
    for table in (standing, gaps):
        assert set(table.loc[table["measure"] == NEW, "chapter"]) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_training_runs_of_before_leave_it_out_and_say_so(monkeypatch, name):
    monkeypatch.setattr(training_run_differences, "STUDIES", {name: STUDIES[name]})
    trained = trained_answers.load_training_runs()
    trained = trained[trained["relation"].isin(["P17", "P36"])]
    figures, gaps = training_run_differences.estimates_and_run_differences(
        trained, n_resamples=2
    )
    older = [m.name for m in STUDIES[name].MEASURES if set(m.columns) <= set(trained)]
    assert NEW not in older
    assert figures["measure"].unique().tolist() == older
    assert gaps["measure"].unique().tolist() == older
    note = training_run_differences.note_on_newer_measures(trained)
    assert note.startswith(f"{STUDIES[name].TITLE}: ")
    assert note.endswith("than these training runs.\n")
    assert "modal share" in note


def test_only_newer_measures_are_told_to_be_newer(monkeypatch):
    monkeypatch.undo()
    trained = trained_answers.load_training_runs()
    note = training_run_differences.note_on_newer_measures(trained)
    assert "modal share" not in note
    for study in STUDIES.values():
        for measure in study.MEASURES:
            is_newer = not set(measure.columns) <= set(trained)
            assert (measure.title in note) == is_newer


@pytest.mark.parametrize("name", NAMES)
def test_an_older_archive_holds_and_the_measure_is_shown(older, name):
    shared, verified = exchange.verify_archive(older)
    [run] = [run for run in verified if run.study == name]
    assert run.added == (NEW,)
    assert run.measures == len(STUDIES[name].MEASURES) - 1
    assert reported(shared.record["runs"][name])[NEW]["estimate"] is not None


def test_the_column_is_what_the_function_computes(folder):
    shared = exchange.describe_runs(folder / "small")
    estimate = reported(shared.record["runs"]["multiplicity"])[NEW]["estimate"]
    # Of ten prompts a steady answer comes in nine, every third question's in five
    assert estimate == pytest.approx((9 + 9 + 5) / 30)


def test_a_new_archive_holds_and_reports_it(folder, tmp_path):
    shared = exchange.describe_runs(folder / "small")
    packed = exchange.pack_archive(shared, tmp_path)
    assert all(run.added == () for run in exchange.verify_archive(packed)[1])
    for run in shared.record["runs"].values():
        reported(run)[NEW]["estimate"] = 0.123
    forged = exchange.pack_archive(shared, tmp_path / "forged")
    with pytest.raises(UserError, match="modal_share is reported with estimate"):
        exchange.verify_archive(forged)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["atlas-xs", "smollm2", "smollm2-chat"])
def test_contributed_archives_hold(root, name):
    _, verified = exchange.verify_archive(root / "results" / f"{name}.zip")
    assert all(NEW in run.added for run in verified)


def test_cards_and_exports_have_what_is_reported(older, tmp_path):
    for shared, has in (
        (exchange.verify_archive(older)[0], True),
        (archive.read_archive(older), False),
    ):
        text = "".join(
            path.read_text()
            for path in report_card.write_report_card(shared.record, tmp_path)
        )
        assert ("modal share" in text) == has
        paths = exchange.export_runs(shared, tmp_path / str(has))
        assert all(
            (f"/{NEW}" in path.read_text()) == has
            for path in paths
            if path.suffix == ".json"
        )


def test_a_plan_counts_the_facts_that_it_needs(monkeypatch, folder):
    for study in STUDIES.values():  # each takes a second
        newest = study.MEASURES[-1:]
        monkeypatch.setattr(study, "MEASURES", newest)
        monkeypatch.setattr(study, "summary", partial(summary_of_measures, newest))
    planned = exchange.facts_needed_by_measure(folder / "small")
    assert set(planned.loc[planned["measure"] == NEW, "study"]) == set(NAMES)


def test_tasks_for_other_tools_say_that_they_leave_it_out():
    for name in plugins.TASK_SETTINGS:
        left_out = plugins.measures_left_out(name)
        computed = plugins.measures(name)
        assert NEW in left_out
        assert not set(left_out) & set(computed)
        higher = {measure.name: measure.higher for measure in STUDIES[name].MEASURES}
        assert computed.items() <= higher.items()
        assert higher.keys() == computed.keys() | set(left_out)


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_before_are_measured_in_the_rest(name):
    study = STUDIES[name]
    columns = [column for m in study.MEASURES[:-1] for column in m.columns]
    whole = pd.DataFrame(columns=[*columns, NEW])
    assert measurable(study, whole) == list(study.MEASURES)
    assert measurable(study, whole, whole[columns]) == list(study.MEASURES[:-1])
