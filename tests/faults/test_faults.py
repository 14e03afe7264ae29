"""Real faults: after each, no wrong number, nothing lost but what was in flight, the same tables.

``make faults`` prints the table. A process that is to be killed waits where it has to
be killed.
"""

import json
import os
import time

import pandas as pd
import pytest

from book.tools import __main__ as commands
from book.tools import chapters
from helpers import UserError, runs
from helpers.probing import engine
from tests.faults import fault_targets
from tests.faults.conftest import kill_process, wait_until

pytestmark = pytest.mark.slow
fault = pytest.mark.fault
YEAR = 365 * 86400


@pytest.fixture(scope="module")
def undisturbed():
    """Return the answers of a run that nothing happens to."""
    return fault_targets.parquet_bytes(fault_targets.score_probes_slowly(None))


@pytest.fixture
def forwarded(monkeypatch):
    """Return the list of how many rows went through the model in each pass."""
    engine.scorer_of_model(fault_targets.tiny_model())  # tried
    rows, passes = [], engine.PackScorer.score

    def counted(*arguments):
        for done in passes(*arguments):
            rows.append(len(done))
            yield done

    monkeypatch.setattr(engine.PackScorer, "score", counted)
    return rows


def saved_rows(folder):
    return sum(len(pd.read_parquet(path)) for path in folder.glob("answers-*.parquet"))


def files(folder, pattern="answers-*.parquet"):
    return sorted(folder.glob(pattern))


@fault("kill -9 in the middle of scoring")
def test_killed_scoring_loses_the_chunk_in_flight(
    begin, forwarded, undisturbed, tmp_path
):
    process = begin(fault_targets.write_scored_probes, tmp_path, 0.1)
    wait_until(lambda: len(files(tmp_path)) >= 2)
    kill_process(process)
    kept = saved_rows(tmp_path)
    assert 2 * fault_targets.CHUNK_ROWS_OF_TEST <= kept < len(fault_targets.PROBES)
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(tmp_path))
        == undisturbed
    )
    assert sum(forwarded) == len(fault_targets.PROBES) - kept


@fault("kill -9 in the middle of writing the cache")
def test_half_a_cache_file_is_no_answer(begin, forwarded, undisturbed, tmp_path):
    process = begin(fault_targets.score_until_half_cached, tmp_path)
    wait_until((tmp_path / "ready").exists)
    kill_process(process)
    assert len(files(tmp_path)) == 1
    assert len(files(tmp_path, "*.tmp")) == 1
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(tmp_path))
        == undisturbed
    )
    assert (
        sum(forwarded) == len(fault_targets.PROBES) - fault_targets.CHUNK_ROWS_OF_TEST
    )


@fault("kill -9 in the middle of writing a run's tables")
@pytest.mark.parametrize(
    "stop", ["half", "answers.parquet", "metrics.parquet", "run.json"]
)
def test_new_tables_never_stand_beside_an_old_manifest(begin, tmp_path, stop):
    folder = tmp_path / "tiny" / "monitor"
    fault_targets.save_tables(folder, 3)
    process = begin(fault_targets.save_tables_and_stall, folder, 5, stop)
    wait_until((folder / "ready").exists)
    kill_process(process)
    found = runs.load(tmp_path)
    if stop == "half":  # nothing had been moved yet: the old run is whole
        assert found["parameters"][0]["n"] == 3
        assert len(runs.load_answers(folder)) == len(runs.load_metrics(folder)) == 3
    else:
        assert found.empty
    fault_targets.save_tables(folder, 5)
    assert runs.load(tmp_path)["parameters"][0]["n"] == 5
    assert (
        set(runs.load_answers(folder)["n"])
        == set(runs.load_metrics(folder)["n"])
        == {5}
    )


@fault("a cache file is cut, or a bit in it flips")
@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_damaged_cache_file_is_noticed(forwarded, undisturbed, tmp_path, damage):
    fault_targets.score_probes_slowly(tmp_path)
    file = files(tmp_path)[1]
    broken = bytearray(file.read_bytes())
    broken[len(broken) // 3] ^= 1
    file.write_bytes(broken if damage == "flip" else broken[: len(broken) // 2])
    forwarded.clear()
    with pytest.warns(UserWarning, match="computed again"):
        assert (
            fault_targets.parquet_bytes(fault_targets.score_probes_slowly(tmp_path))
            == undisturbed
        )
    assert sum(forwarded) == fault_targets.CHUNK_ROWS_OF_TEST


@fault("a bit flips in a run's table")
def test_a_damaged_table_is_refused(tmp_path):
    fault_targets.save_tables(tmp_path, 2000)
    file = tmp_path / "answers.parquet"
    whole = file.read_bytes()
    for place in range(40, len(whole) // 2, len(whole) // 20):
        broken = bytearray(whole)
        broken[place] ^= 1
        file.write_bytes(broken)
        with pytest.raises(
            UserError, match=r"answers\.parquet is damaged .* run the chapter"
        ):
            runs.load_answers(tmp_path)


@fault("two processes at once on one cache")
def test_two_processes_share_a_cache(begin, forwarded, undisturbed, tmp_path):
    cache, outs = tmp_path / "cache", [tmp_path / "one", tmp_path / "two"]
    both = [begin(fault_targets.write_scored_probes, cache, 0.02, out) for out in outs]
    for process in both:
        process.join(400)
    assert [out.read_bytes() == undisturbed for out in outs] == [True, True]
    assert not files(cache, "*.corrupt")
    assert not files(cache, "*.tmp")
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(cache))
        == undisturbed
    )
    assert not forwarded


@fault("two processes at once write one cache file")
def test_a_process_that_is_slow_to_write_is_overtaken(begin, undisturbed, tmp_path):
    slow = begin(fault_targets.score_until_half_cached, tmp_path)
    wait_until((tmp_path / "ready").exists)
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(tmp_path))
        == undisturbed
    )
    kill_process(slow)
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(tmp_path))
        == undisturbed
    )
    assert not files(tmp_path, "*.corrupt")


@fault("disk full in the middle of scoring")
def test_a_full_disk_keeps_the_finished_chunks(disk, forwarded, undisturbed):
    place = disk("size=16k")
    (place / "filler").write_bytes(b"x" * 4096)
    with pytest.raises(UserError, match=r"No space left on device.*free space"):
        fault_targets.score_probes_slowly(place)
    kept = saved_rows(place)
    assert 0 < kept < len(fault_targets.PROBES)
    assert not files(place, "*.tmp")
    forwarded.clear()
    disk("size=1m")
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(place))
        == undisturbed
    )
    assert sum(forwarded) == len(fault_targets.PROBES) - kept


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """Return the folder of the chapter's template, and its tables where nothing happens."""
    run = runs.start(
        "monitor", {"model": "tiny"}, tmp_path_factory.mktemp("runs") / "m" / "c"
    )
    answers = fault_targets.score_probes_slowly(run.cache)
    runs.save(
        run,
        answers=answers,
        metrics=fault_targets.answer_metrics(answers),
        **fault_targets.MANIFEST_ENTRIES,
    )
    return fault_targets.write_chapter_template(
        tmp_path_factory.mktemp("notebooks")
    ), tables(run.folder)


def tables(folder):
    return [
        (folder / name).read_bytes() for name in ("answers.parquet", "metrics.parquet")
    ]


@fault("kill -9 of papermill in the middle of a chapter")
def test_a_killed_chapter_goes_on(begin, chapter, tmp_path):
    templates, expected = chapter
    folder = tmp_path / "tiny" / "monitor"
    process = begin(
        fault_targets.run_chapter_and_exit, templates, tmp_path, "pause=0.3"
    )
    wait_until(lambda: len(files(tmp_path / "tiny" / "cache")) >= 2)
    kill_process(process)
    assert not {"run.json", "notebook.ipynb", "answers.parquet"} & set(
        os.listdir(folder)
    )
    assert runs.load(tmp_path).empty
    chapters.run_chapter("monitor", "tiny", {}, tmp_path, templates)
    assert tables(folder) == expected


@fault("two runs at once of one chapter on one model")
def test_a_second_run_is_refused_while_the_first_is_at_work(begin, chapter, tmp_path):
    templates, expected = chapter
    first = begin(fault_targets.run_chapter_and_exit, templates, tmp_path, "pause=0.1")
    wait_until((tmp_path / "tiny" / "monitor" / "run.log").exists)
    time.sleep(0.2)
    with pytest.raises(
        UserError, match=r"Another run is at work in .*monitor: wait for it"
    ):
        chapters.run_chapter("monitor", "tiny", {}, tmp_path, templates)
    first.join(400)
    assert first.exitcode == 0
    assert tables(tmp_path / "tiny" / "monitor") == expected


@fault("disk full in the middle of a chapter")
def test_a_full_disk_ends_a_chapter_with_one_sentence(begin, disk, chapter, capfd):
    templates, expected = chapter
    place = disk("size=44k")
    words = ["run", "monitor", "--model", "tiny", "--runs", str(place)]
    words += ["--templates", str(templates)]
    assert commands.main(words) == 2
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "No space left on device" in last
    assert runs.load(place).empty
    disk("size=20m")
    assert commands.main(words) == 0
    assert tables(place / "tiny" / "monitor") == expected


@fault("read-only folder of the runs")
def test_a_read_only_folder_is_one_sentence(disk, chapter, capfd):
    place = disk("size=1m")
    disk("ro")
    for words in (
        ["run", "monitor", "--model", "tiny", "--templates", str(chapter[0])],
        ["sweep", "monitor", "--models", "atlas-xs"],
        ["book", "--model", "atlas-xs"],
    ):
        assert commands.main([*words, "--runs", str(place)]) == 2
        told = capfd.readouterr().err
        assert told.count("\n") == 1
        assert "cannot be written (" in told
        assert "Read-only file system" in told


@fault("the clock jumps back and forth")
@pytest.mark.parametrize("jump", [-YEAR, YEAR])
def test_a_clock_that_jumps_changes_no_number(
    forwarded, undisturbed, monkeypatch, tmp_path, jump
):
    run = runs.start("monitor", {"model": "tiny"}, tmp_path / "tiny" / "monitor")
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    table = fault_targets.score_probes_slowly(run.cache)
    for file in files(run.cache):  # what the jump leaves behind: files of another year
        os.utime(file, (now() + jump, now() + jump))
    runs.save(
        run, answers=table, metrics=table[["item"]], **fault_targets.MANIFEST_ENTRIES
    )
    assert fault_targets.parquet_bytes(table) == undisturbed
    assert 0 <= json.loads((run.folder / "run.json").read_text())["seconds"] < 60
    forwarded.clear()
    monkeypatch.undo()
    assert (
        fault_targets.parquet_bytes(fault_targets.score_probes_slowly(run.cache))
        == undisturbed
    )
    assert not forwarded
