"""Archives of runs: the same each time, without paths, refused for whatever is wrong in them."""

import copy
import hashlib
import io
import json
import shutil
import stat
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import UserError, runs
from helpers.datasets import files
from helpers.runs import measuring, sharing
from helpers.runs.sharing import archive, record
from helpers.studies import STUDIES, monitor
from notebooks.analysis import beside
from tests import saved_runs

FILE = "monitor/answers.parquet"
MONITOR = np.sqrt((0.2**2 + 0.3**2 + 0.2 * 0.3) / 3) / 0.8  # as tests/saved_runs.py makes it
FEW = {"n_facts": 2, "relations": ["P17", "P36"], "n_bootstrap": 50}


def saved(folder, model="a", **given):
    """Save runs of all studies without a model, and return the model's folder."""
    saved_runs.write(folder, model, 0.6, n_bootstrap=50, **given)
    return folder / model.replace("/", "--")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Return an archive of four studies' runs."""
    top = tmp_path_factory.mktemp("packed")
    return sharing.pack(sharing.describe(saved(top / "runs")), top)


@pytest.fixture(scope="module")
def shared(packed):
    return archive.read(packed)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the folder of a run that `measure` made, of one study and a bundled model."""
    top = tmp_path_factory.mktemp("measured")
    [made] = measuring.measure("atlas-xs", ["monitor"], FEW, top)
    return made.folder.parent


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """Return a record of runs of all studies on a bundled model."""
    few = FEW | {"n_items": 2, "n_variations": 2, "n_seen": 1, "n_unseen": 1, "max_new_tokens": 2}
    top = tmp_path_factory.mktemp("every")
    made = list(measuring.measure("atlas-xs", (), few | {"n_choices": 5, "n_examples": 2}, top))
    return sharing.describe(made[0].folder.parent)


def amend(folder, chapter="*", **model):
    """Change what saved runs say of their model."""
    for path in folder.glob(f"{chapter}/run.json"):
        told = json.loads(path.read_text())
        told["model"] |= model
        path.write_text(json.dumps(told))


def changed(shared, folder, change):
    """Pack a record that `change` has been at; return the archive."""
    told = copy.deepcopy(shared.record)
    change(told["runs"]["monitor"])
    return sharing.pack(record.Shared(told, shared.files), folder)


def rewritten(packed, folder, change):
    """Write an archive anew with other members: `change` gets and returns (info, bytes) pairs."""
    path = folder / packed.name
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
        for info, data in change([(info, old.read(info)) for info in old.infolist()]):
            new.writestr(info, data)
    return path


def refused(path) -> str:
    with pytest.raises(UserError) as error:
        sharing.verify(path)
    said = str(error.value)
    assert said.startswith(f"{path.name} is refused: ")
    assert said.endswith(".")
    assert "\n" not in said
    return said


def test_what_was_packed_is_verified(packed):
    _, found = sharing.verify(packed)
    assert {run.study for run in found} == set(STUDIES)
    assert {run.study: run.measures for run in found} == {
        name: len(study.MEASURES) for name, study in STUDIES.items()
    }


def test_measures_are_those_worked_out_by_hand(shared):
    found = {each["measure"]: each for each in shared.record["runs"]["monitor"]["measures"]}
    right = (saved_runs.facts()["hard"] < 0.6).mean()
    assert found["MONITOR"]["estimate"] == pytest.approx(MONITOR)
    assert found["MONITOR"]["n"] == 20  # every fifth of 24 facts does not count
    assert found["base"]["estimate"] == pytest.approx(right)
    assert found["base"]["low"] <= right <= found["base"]["high"]


def test_a_run_of_measure_is_packed_with_its_own_summary_and_cost(measured, tmp_path):
    shared = sharing.describe(measured)
    assert list(shared.record["runs"]) == ["monitor"]
    run = shared.record["runs"]["monitor"]
    table = runs.metrics(measured / "monitor").query("level == 'run'").set_index("measure")
    for each in run["measures"]:
        assert [each[key] for key in ("estimate", "low", "high", "n")] == table.loc[
            each["measure"], ["estimate", "low", "high", "n"]
        ].tolist()
    assert run["cost"]["prompts"] == 2 * 2 * (18 + 18)  # each prompt is scored and answered
    assert run["cost"]["tokens"] > run["cost"]["prompts"]
    assert shared.record["model"]["origin"] == "bundled"
    assert sharing.verify(sharing.pack(shared, tmp_path))[1] == [("monitor", 72, 4)]
    assert sharing.describe(measured / "monitor") == shared


def test_the_same_runs_make_the_same_bytes(packed, tmp_path):
    moved = shutil.copytree(packed.parent / "runs" / "a", tmp_path / "elsewhere")
    again = sharing.pack(sharing.describe(moved), tmp_path)
    assert again.name == packed.name == "a.zip"
    assert again.read_bytes() == packed.read_bytes()


def test_undefined_measures_hold_too(tmp_path):
    folder = saved(tmp_path, "deaf", heeds=False)
    shared = sharing.describe(folder)
    first = shared.record["runs"]["monitor"]["measures"][0]
    assert first == {"measure": "MONITOR", "estimate": None, "low": None, "high": None, "n": 0}
    assert len(sharing.verify(sharing.pack(shared, tmp_path))[1]) == 4


def test_no_path_of_a_machine_is_made_public(tmp_path):
    places = {
        "dataset": "/home/annabel/my facts",
        "judge": "~/annabel/judge",
        "sources": ["/annabel/q.csv"],
    }
    folder = saved(tmp_path, "/home/annabel/models/tiny", run_dir="/home/annabel/runs", **places)
    amend(folder, weights_sha="ab" * 32)  # else made of the name
    answers = runs.answers(folder / "multiplicity")
    answers.attrs["source"] = {"url": "/home/annabel/q.csv"}  # pandas writes it into the file
    answers.to_parquet(folder / "multiplicity" / "answers.parquet")
    shared = sharing.describe(folder)
    path = sharing.pack(shared, tmp_path / "out")
    assert path.name == "tiny.zip"
    assert b"annabel" not in path.read_bytes()
    assert shared.record["model"]["origin"] == "folder"
    given = shared.record["runs"]["monitor"]["parameters"]
    assert (given["dataset"], given["judge"], given["sources"]) == ("my facts", "judge", ["q.csv"])
    assert len(sharing.verify(path)[1]) == 4


def test_a_server_is_not_named(tmp_path):
    folder = saved(tmp_path, "m")
    amend(folder, name="http://annabel.example:8000#org/m", server={"url": "annabel"})
    shared = sharing.describe(folder)
    assert shared.record["model"]["name"] == "org/m"
    assert "annabel" not in json.dumps(shared.record)


def test_the_figures_of_a_contributed_archive_are_those_of_its_runs(packed):
    mine = beside.runs_beside(packed.parent / "runs", 50)
    theirs, left_out = beside.contributed(packed.parent, 50)
    assert left_out == []
    assert set(theirs["label"]) == {"a (contributed)"}
    assert set(theirs["origin"]) == {"contributed run"}
    same = ["measure", "value", "low", "high", "n", "same_questions", "why", "dataset"]
    pd.testing.assert_frame_equal(theirs[same], mine[same])


def test_an_archive_that_is_refused_is_left_out_with_the_reason(shared, packed, tmp_path):
    shutil.copy(packed, tmp_path / "good.zip")
    (tmp_path / "bad.zip").write_bytes(packed.read_bytes()[:-100])
    found, left_out = beside.contributed(tmp_path, 50)
    assert set(found["folder"]) == {tmp_path / "good.zip"}
    assert [each.partition(" is refused")[0] for each in left_out] == ["bad.zip"]


# What is wrong in an archive, and what is said of it


def put(place, value):
    """Return what puts a value to a place of a run in the record, such as "answers.rows"."""

    def change(run):
        *above, last = place.split(".")
        for name in above:
            run = run[int(name) if name.isdigit() else name]
        run[int(last) if last.isdigit() else last] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("measures.0.estimate", 0.1), "monitor: MONITOR is reported with estimate 0.1, and"),
        (put("measures.2.high", 0.99), "monitor: base is reported with high 0.99, and its answers"),
        (
            put("measures.0.n", 24),
            "monitor: MONITOR is reported with n 24, and its answers give 20",
        ),
        (put("measures.1.low", None), "coverage is reported with low undefined, and its answers"),
        (put("measures.3.measure", "best"), "monitor: its measures are not the study's, which are"),
        (lambda run: run["measures"].pop(), "monitor: its measures are not the study's, which are"),
        (lambda run: run["measures"].append(run["measures"][0]), "are not the study's"),
        (put("parameters.n_facts", 4), "its settings say n_facts=4, and its answers hold 8"),
        (put("parameters.n_frames", 1), "its settings say n_frames=1, and its answers hold 2"),
        (put("parameters.n_bootstrap", 60), "monitor: coverage is reported with "),
        (put("parameters.n_bootstrap", 10**9), "schema at runs/monitor/parameters/n_bootstrap"),
        (put("parameters.match", "contains "), "monitor: There is no rule"),
        (put("parameters.alphas", [1, 0, 0]), "monitor: MONITOR is reported with estimate"),
        (put("parameters.seed", 3), "monitor: its manifest gives two seeds"),
        (put("answers.sha256", "0" * 64), f"{FILE} has the SHA-256 "),
        (put("answers.rows", 3), "its manifest says 3 answers, and it holds 96"),
        (put("answers.file", "../../x"), "schema at runs/monitor/answers/file"),
        (
            put("answers.file", "multiplicity/answers.parquet"),
            "does not name once what it holds: see monitor/",
        ),
        (put("answers.file", "other/answers.parquet"), "see monitor/answers.parquet, other/"),
        (put("dataset.checksum", 5), "does not fit the schema at runs/monitor/dataset/checksum"),
        (put("parameters.\x1b[31m", {}), "schema at runs/monitor/parameters/[31m: {} is not valid"),
        (put("user", "ann"), "schema at runs/monitor: Additional properties are not allowed"),
        (
            lambda run: run.pop("dataset"),
            "schema at runs/monitor: 'dataset' is a required property",
        ),
    ],
)
def test_a_changed_manifest_is_refused(shared, tmp_path, change, reason):
    assert reason in refused(changed(shared, tmp_path, change))


@pytest.mark.parametrize("change", [put("parameters.match", "contains"), put("seconds", 1.0)])
def test_an_edit_that_changes_no_measure_is_refused(shared, packed, tmp_path, change):
    told = copy.deepcopy(shared.record)
    change(told["runs"]["monitor"])

    def edited(members):
        return [(info, json.dumps(told)) if "manifest" in info.filename else (info, data)
                for info, data in members]  # fmt: skip

    path = rewritten(packed, tmp_path, edited)
    assert "its manifest was edited after it was packed" in refused(path)
    signed = sharing.pack(record.Shared(told, shared.files), tmp_path)
    assert len(sharing.verify(signed)[1]) == 4  # whoever forges it can sign it


def test_intervals_drawn_in_an_older_way_are_not_compared(shared, tmp_path):
    """The measures are: an archive outlives a better interval, not a wrong figure."""

    def older(run):
        run["versions"].pop("intervals")
        put("measures.2.high", 0.99)(run)

    assert sharing.verify(changed(shared, tmp_path, older))

    def forged(run):
        older(run)
        put("measures.0.estimate", 0.1)(run)

    assert "MONITOR is reported with estimate" in refused(changed(shared, tmp_path, forged))


def test_a_changed_seed_is_refused(shared, tmp_path):
    def change(run):
        run["seed"] = run["parameters"]["seed"] = 3

    assert "monitor: coverage is reported with " in refused(changed(shared, tmp_path, change))


@pytest.mark.parametrize("version", [2, 0])
def test_another_format_is_refused(shared, tmp_path, version):
    told = shared.record | {"format": version}
    path = sharing.pack(record.Shared(told, shared.files), tmp_path)
    reads = f"it is of format {version}, and this version of the package reads 1"
    assert reads in refused(path)


def test_a_run_of_no_study_is_refused(shared, tmp_path):
    told = copy.deepcopy(shared.record)
    told["runs"]["toy"] = told["runs"].pop("monitor")
    path = sharing.pack(record.Shared(told, shared.files), tmp_path)
    assert "a run of 'toy', which is no study here" in refused(path)


def other_answers(shared, folder, change, sign=True, study="monitor"):
    """Pack other answers, and sign them with their own checksum."""
    file = f"{study}/answers.parquet"
    stream = io.BytesIO()
    change(pd.read_parquet(io.BytesIO(shared.files[file]))).to_parquet(stream, index=False)
    told = copy.deepcopy(shared.record)
    if sign:
        digest = hashlib.sha256(stream.getvalue()).hexdigest()
        told["runs"][study]["answers"]["sha256"] = digest
    return sharing.pack(record.Shared(told, shared.files | {file: stream.getvalue()}), folder)


def right(answers):
    """Turn the first wrong answer in a base wording into a right one."""
    wrong = (answers["variant"] == "frame0") & (answers["text"] != "Fr")
    answers.loc[wrong.idxmax(), "text"] = "Fr"
    return answers


def test_a_changed_answer_is_refused(shared, tmp_path):
    assert f"{FILE} has the SHA-256 " in refused(other_answers(shared, tmp_path, right, sign=False))
    said = refused(other_answers(shared, tmp_path, right))
    assert "monitor: base is reported with estimate " in said


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_each_item_of_the_atlas_is_held_against_what_is_right(every, tmp_path, study):
    """Of two items, each counts the other's answer as right: sums may stay."""
    column = {"knowledge_base": "answers", "multiplicity": "text"}.get(study, "continuation")

    def swap(answers):
        right = answers[answers.get("correct", pd.Series(True, answers.index)).astype(bool)]
        said = right.drop_duplicates("item").set_index("item")[column][:2]
        other = right["item"].map(dict(zip(said.index, said[::-1])))
        return answers.assign(**{column: other.combine_first(answers[column])})

    assert f"{study}: it counts " in refused(other_answers(every, tmp_path, swap, study=study))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda answers: answers.drop(columns="logprobs"), "monitor: "),
        (lambda answers: answers.assign(logprobs="none"), "monitor: "),
        (lambda answers: answers.assign(variant=1), "monitor: its answers cannot be measured"),
    ],
)
def test_a_table_of_something_else_is_refused(shared, tmp_path, change, reason):
    assert reason in refused(other_answers(shared, tmp_path, change))


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (pa.DictionaryArray.from_arrays(np.zeros(2**10, "int32"), ["x" * 2**11]), "of memory"),
        (pa.array([["x" * 2**11] * 2**10]), "of memory"),
        (pa.array(np.zeros(2**18, "int8")), "of memory"),
        (pa.array([b"1234"], pa.binary(4)), "it holds bytes"),
    ],
    ids=["a text, often", "a list of them", "a number, often", "bytes"],
)
def test_a_small_file_of_a_large_table_is_refused(shared, tmp_path, monkeypatch, column, reason):
    monkeypatch.setattr(files, "IN_MEMORY", 2**20)
    stream = io.BytesIO()
    pq.write_table(pa.table({"item": column}), stream, write_statistics=False)
    assert len(stream.getvalue()) < 2**14
    told = copy.deepcopy(shared.record)
    told["runs"]["monitor"]["answers"]["sha256"] = hashlib.sha256(stream.getvalue()).hexdigest()
    found = shared.files | {FILE: stream.getvalue()}
    said = refused(sharing.pack(record.Shared(told, found), tmp_path))
    assert reason in said


def compressed(info):
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def linked(info):
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


MORE = (zipfile.ZipInfo("../../evil.py"), b"import os")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda all_: [each for each in all_ if each[0].filename != FILE],
            f"holds: see {FILE}",
        ),
        (lambda all_: all_[1:2], "it holds no manifest.json"),
        (lambda all_: [*all_, MORE], "it holds: see ../../evil.py"),
        (lambda all_: [*all_, (zipfile.ZipInfo("x/"), b"")], "its member 'x/' is no plain file"),
        (lambda all_: [(linked(info), data) for info, data in all_], "is no plain file"),
        (lambda all_: [(compressed(info), data) for info, data in all_], "is compressed, as"),
        (lambda all_: [(zipfile.ZipInfo(f"{n}"), b"") for n in range(101)], "it has 101 members"),
        (lambda _: [("manifest.json", b"{")], "its manifest.json is not JSON"),
        (lambda _: [("manifest.json", b"[" * 10**5)], "its manifest.json cannot be read"),
        (lambda _: [("manifest.json", b'{"format": NaN}')], "its manifest.json is not JSON"),
        (lambda _: [("manifest.json", b"[]")], "does not fit the schema at its top"),
        (lambda _: [("manifest.json", b"\xff\xfe\xff")], "its manifest.json is not JSON"),
    ],
)
def test_strange_members_are_refused(packed, tmp_path, change, reason):
    assert reason in refused(rewritten(packed, tmp_path, change))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(packed, tmp_path):
    path = rewritten(packed, tmp_path, lambda all_: [*all_, all_[0]])
    assert "is there twice" in refused(path)


def test_an_encrypted_member_is_refused(packed, tmp_path):
    data = bytearray(packed.read_bytes())
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + flags] |= 1
    path = tmp_path / "secret.zip"
    path.write_bytes(data)
    assert "is encrypted, password required" in refused(path)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_damaged_is_refused_in_a_sentence(packed, tmp_path, seed):
    random, data = np.random.default_rng(seed), bytearray(packed.read_bytes())
    place = int(random.integers(len(data)))
    data[place : place + seed] = random.bytes(seed // 2)
    path = tmp_path / "damaged.zip"
    path.write_bytes(data)
    if data != packed.read_bytes():
        assert refused(path)


@pytest.mark.parametrize("kept", [0, 1000, -100])
def test_a_truncated_file_is_refused(packed, tmp_path, kept):
    path = tmp_path / "cut.zip"
    path.write_bytes(packed.read_bytes()[:kept])
    assert "it is no whole zip archive" in refused(path)


def test_a_flipped_byte_is_refused(packed, tmp_path):
    data = bytearray(packed.read_bytes())
    data[data.index(b"PAR1") + 100] ^= 1
    path = tmp_path / "flipped.zip"
    path.write_bytes(data)
    assert "it is no whole zip archive (Bad CRC-32 for file" in refused(path)


def test_a_huge_file_is_refused_unread(packed, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 2**20)
    monkeypatch.setattr(archive.zipfile, "ZipFile", None)
    with packed.open("rb") as file:
        assert file.seek(0, io.SEEK_END) < 2**20
    monkeypatch.setattr(archive, "LARGEST", 1000)
    assert "it is larger than" in refused(packed)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"no\.zip is refused: There is no file"):
        sharing.verify(tmp_path / "no.zip")


@pytest.mark.parametrize(
    ("change", "drawn", "others"),
    [({"n_facts": 3}, 6, 0), ({"relations": ["P17", "P30"]}, 4, 2), ({"n_facts": 0}, None, 0)],
)
def test_other_questions_of_the_atlas_than_the_settings_draw_are_refused(
    measured, tmp_path, change, drawn, others
):
    path = changed(
        sharing.describe(measured), tmp_path, lambda run: run["parameters"].update(change)
    )
    said = refused(path)
    assert drawn is None or f"its settings draw {drawn} questions from the atlas" in said
    assert f"about 4, {others} of which are not among them" in said


# What cannot be packed


def test_runs_of_different_weights_are_not_mixed(tmp_path):
    folder = saved(tmp_path)
    amend(folder, "monitor", weights_sha="another")
    with pytest.raises(UserError, match="are of different weights: run the older studies again"):
        sharing.describe(folder)
    assert list(sharing.describe(folder / "monitor").record["runs"]) == ["monitor"]


@pytest.mark.parametrize("harm", ["nothing", "empty", "other", "manifest", "answers", "entry"])
def test_what_is_no_run_is_refused_in_a_sentence(tmp_path, harm):
    folder = saved(tmp_path, chapters=("monitor",))
    file = folder / "monitor" / "run.json"
    if harm in ("nothing", "empty"):
        shutil.rmtree(folder)
    if harm == "empty":
        folder.mkdir()
    if harm == "other":
        file.write_text(file.read_text().replace('"chapter": "monitor"', '"chapter": "atlas"'))
    if harm == "manifest":
        file.write_text("{")
    if harm == "entry":
        file.write_text('{"chapter": "monitor"}')
    if harm == "answers":
        (folder / "monitor" / "answers.parquet").unlink()
    reasons = {
        "nothing": "There is no folder",
        "empty": "holds no finished run of a study",
        "other": "is a run of atlas: give one of monitor",
        "manifest": "is damaged",
        "entry": "is damaged",
        "answers": "holds no answers.parquet",
    }
    with pytest.raises(UserError, match=reasons[harm]):
        sharing.describe(folder)


def test_an_archive_that_cannot_be_written_is_one_sentence(shared, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written .*: give another --folder"):
        sharing.pack(shared, tmp_path / "file")


@pytest.mark.slow
def test_the_bundled_archives_and_the_schema_are_good(root):
    found = sorted((root / "results").glob("*.zip"))
    assert found
    for path in found:
        assert sharing.verify(path)[1]
        assert path.stat().st_size < 2**21  # the whole folder is a few megabytes
    assert json.loads((root / "results" / "schema.json").read_text())["properties"]["format"] == {
        "const": record.FORMAT
    }


def test_every_measure_says_what_it_means():
    assert all(measure.meaning for study in STUDIES.values() for measure in study.MEASURES)
    assert len({measure.meaning for measure in monitor.MEASURES}) == len(monitor.MEASURES)
