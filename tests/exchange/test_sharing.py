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

from helpers import UserError, cli, exchange, runs
from helpers.exchange import archive, record, verification
from helpers.io import files
from helpers.metrics import responses
from helpers.runs import measuring
from helpers.studies import STUDIES, monitor
from notebooks.kit import runs_against_papers
from tests import saved_runs

FILE = "monitor/answers.parquet"
MONITOR = (
    np.sqrt((0.2**2 + 0.3**2 + 0.2 * 0.3) / 3) / 0.8
)  # as tests/saved_runs.py makes it
FEW = {"n_facts": 2, "relations": ["P17", "P36"], "n_bootstrap": 50}


def saved(folder, model="a", **given):
    """Save runs of all studies without a model, and return the model's folder."""
    saved_runs.write_made_up_runs(folder, model, 0.6, n_bootstrap=50, **given)
    return folder / model.replace("/", "--")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Return an archive of four studies' runs."""
    top = tmp_path_factory.mktemp("packed")
    return exchange.pack_archive(exchange.describe_runs(saved(top / "runs")), top)


@pytest.fixture(scope="module")
def shared(packed):
    return archive.read_archive(packed)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the folder of a run that `measure` made, of one study and a bundled model."""
    top = tmp_path_factory.mktemp("measured")
    [made] = measuring.measure_model("atlas-xs", ["monitor"], FEW, top)
    return made.folder.parent


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """Return a record of runs of all studies on a bundled model."""
    few = FEW | {
        "n_items": 2,
        "n_variations": 2,
        "n_seen": 1,
        "n_unseen": 1,
        "max_new_tokens": 2,
    }
    top = tmp_path_factory.mktemp("every")
    made = list(
        measuring.measure_model(
            "atlas-xs", (), few | {"n_choices": 5, "n_examples": 2}, top
        )
    )
    return exchange.describe_runs(made[0].folder.parent)


def amend(folder, chapter="*", **model):
    """Change what saved runs say of their model."""
    for path in folder.glob(f"{chapter}/run.json"):
        told = json.loads(path.read_text())
        told["model"] |= model
        path.write_text(json.dumps(told))


def changed(shared, folder, *changes):
    """Pack a record that `changes` have been at; return the archive."""
    told = copy.deepcopy(shared.record)
    for change in changes:
        change(told)
    return exchange.pack_archive(record.SharedRuns(told, shared.files), folder)


def rewritten(packed, folder, change):
    """Write an archive anew with other members: `change` gets and returns (info, bytes) pairs."""
    path = folder / packed.name
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
        for info, data in change([(info, old.read(info)) for info in old.infolist()]):
            new.writestr(info, data)
    return path


def refused(path) -> str:
    with pytest.raises(UserError) as error:
        exchange.verify_archive(path)
    said = str(error.value)
    assert said.startswith(f"{path.name} is refused: ")
    assert said.endswith(".")
    assert "\n" not in said
    return said


def test_what_was_packed_is_verified(packed):
    _, found = exchange.verify_archive(packed)
    assert {run.study for run in found} == set(STUDIES)
    assert {run.study: run.measures for run in found} == {
        name: len(study.MEASURES) for name, study in STUDIES.items()
    }


def test_measures_are_those_worked_out_by_hand(shared):
    found = {
        each["measure"]: each for each in shared.record["runs"]["monitor"]["measures"]
    }
    right = (saved_runs.made_up_facts()["hard"] < 0.6).mean()
    assert found["MONITOR"]["estimate"] == pytest.approx(MONITOR)
    assert found["MONITOR"]["n"] == 20  # every fifth of 24 facts does not count
    assert found["base"]["estimate"] == pytest.approx(right)
    assert found["base"]["low"] <= right <= found["base"]["high"]


def test_a_run_of_measure_is_packed_with_its_own_summary_and_cost(measured, tmp_path):
    shared = exchange.describe_runs(measured)
    assert list(shared.record["runs"]) == ["monitor"]
    run = shared.record["runs"]["monitor"]
    table = (
        runs.load_metrics(measured / "monitor")
        .query("level == 'run'")
        .set_index("measure")
    )
    for each in run["measures"]:
        assert [each[key] for key in ("estimate", "low", "high", "n")] == table.loc[
            each["measure"], ["estimate", "low", "high", "n"]
        ].tolist()
    assert run["cost"]["prompts"] == 2 * 2 * (
        19 + 19
    )  # each prompt is scored and answered
    assert run["cost"]["tokens"] > run["cost"]["prompts"]
    assert shared.record["model"]["origin"] == "bundled"
    assert exchange.verify_archive(exchange.pack_archive(shared, tmp_path))[1] == [
        ("monitor", 76, 4, (), ())
    ]
    assert exchange.describe_runs(measured / "monitor") == shared


def test_the_same_runs_make_the_same_bytes(packed, tmp_path):
    moved = shutil.copytree(packed.parent / "runs" / "a", tmp_path / "elsewhere")
    again = exchange.pack_archive(exchange.describe_runs(moved), tmp_path)
    assert again.name == packed.name == "a.zip"
    assert again.read_bytes() == packed.read_bytes()


def test_undefined_measures_hold_too(tmp_path):
    folder = saved(tmp_path, "deaf", heeds=False)
    shared = exchange.describe_runs(folder)
    first = shared.record["runs"]["monitor"]["measures"][0]
    assert first == {
        "measure": "MONITOR",
        "estimate": None,
        "low": None,
        "high": None,
        "n": 0,
    }
    assert len(exchange.verify_archive(exchange.pack_archive(shared, tmp_path))[1]) == 4


def test_no_path_of_a_machine_is_made_public(tmp_path):
    places = {
        "dataset": "/home/annabel/my facts",
        "judge": "~/annabel/judge",
        "sources": ["/annabel/q.csv"],
    }
    folder = saved(
        tmp_path, "/home/annabel/models/tiny", run_dir="/home/annabel/runs", **places
    )
    amend(folder, weights_sha="ab" * 32)  # else made of the name
    answers = runs.load_answers(folder / "multiplicity")
    answers.attrs["source"] = {
        "url": "/home/annabel/q.csv"
    }  # pandas writes it into the file
    answers.to_parquet(folder / "multiplicity" / "answers.parquet")
    shared = exchange.describe_runs(folder)
    path = exchange.pack_archive(shared, tmp_path / "out")
    assert path.name == "tiny.zip"
    assert b"annabel" not in path.read_bytes()
    assert shared.record["model"]["origin"] == "folder"
    given = shared.record["runs"]["monitor"]["parameters"]
    assert (given["dataset"], given["judge"], given["sources"]) == (
        "my facts",
        "judge",
        ["q.csv"],
    )
    assert len(exchange.verify_archive(path)[1]) == 4


def test_what_was_not_verified_is_not_unpacked_elsewhere(shared, tmp_path):
    told = copy.deepcopy(shared.record)
    told["runs"]["../outside"] = told["runs"].pop("monitor")
    with pytest.raises(UserError, match=r"run of '\.\./outside', which is no study"):
        exchange.unpack_archive(record.SharedRuns(told, shared.files), tmp_path / "in")
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_not_named(tmp_path):
    folder = saved(tmp_path, "m")
    server = {"url": "annabel", "cache_check": {"shared_tokens": 512, "warm": 0.05}}
    amend(folder, name="http://annabel.example:8000#org/m", server=server)
    shared = exchange.describe_runs(folder)
    assert shared.record["model"]["name"] == "org/m"
    assert "annabel" not in json.dumps(shared.record)
    for run in shared.record["runs"].values():
        told = run["model"]["server_differences"]
        assert told == "shared_tokens 512, warm 0.05"
    exchange.pack_archive(shared, tmp_path / "out")  # as its schema allows


def test_the_figures_of_a_contributed_archive_are_those_of_its_runs(packed):
    mine = runs_against_papers.runs_in_papers_measures(packed.parent / "runs", 50)
    theirs, left_out = runs_against_papers.contributed_runs_and_refusals(
        packed.parent, 50
    )
    assert left_out == []
    assert set(theirs["label"]) == {"a (contributed)"}
    assert set(theirs["origin"]) == {"contributed run"}
    same = ["measure", "value", "low", "high", "n", "same_questions", "why", "dataset"]
    pd.testing.assert_frame_equal(theirs[same], mine[same])


def test_an_archive_that_is_refused_is_left_out_with_the_reason(
    shared, packed, tmp_path
):
    shutil.copy(packed, tmp_path / "good.zip")
    (tmp_path / "bad.zip").write_bytes(packed.read_bytes()[:-100])
    found, left_out = runs_against_papers.contributed_runs_and_refusals(tmp_path, 50)
    assert set(found["folder"]) == {tmp_path / "good.zip"}
    assert [each.partition(" is refused")[0] for each in left_out] == ["bad.zip"]


# What is wrong in an archive, and what is said of it


def put(place, value):
    """Return what puts a value to a place of a run, such as "answers.rows", or of the record."""

    def change(told):
        *above, last = place.split(".")
        for name in above if place in told else ["runs", "monitor", *above]:
            told = told[int(name) if name.isdigit() else name]
        told[int(last) if last.isdigit() else last] = value

    return change


def run(change):
    return lambda told: change(told["runs"]["monitor"])


MANIFESTS = [  # changes, and the reason
    (
        put("measures.0.estimate", 0.1),
        "monitor: MONITOR is reported with estimate 0.1, and",
    ),
    (
        put("measures.2.high", 0.99),
        "monitor: base is reported with high 0.99, and its answers",
    ),
    (
        put("measures.0.n", 24),
        "monitor: MONITOR is reported with n 24, and its answers give 20",
    ),
    (
        put("measures.1.low", None),
        "coverage is reported with low undefined, and its answers",
    ),
    (
        put("measures.3.measure", "best"),
        "monitor: 'best' is no measure of the study, which has MONITOR, coverage",
    ),
    (
        run(lambda run: run["measures"].clear()),
        "monitor: its list of measures is empty: name some of MONITOR, coverage",
    ),
    (
        run(lambda run: run["measures"].append(run["measures"][0])),
        "monitor: it reports MONITOR twice",
    ),
    (
        put("parameters.n_facts", 4),
        "its settings say n_facts=4, and its answers hold 8",
    ),
    (
        put("parameters.n_frames", 1),
        "its settings say n_frames=1, and its answers hold 2",
    ),
    (put("parameters.n_bootstrap", 60), "monitor: coverage is reported with "),
    (
        put("parameters.n_bootstrap", 10**9),
        "schema at runs/monitor/parameters/n_bootstrap",
    ),
    (put("parameters.match", "contains "), "monitor: There is no rule"),
    (put("parameters.alphas", [1, 0, 0]), "monitor: MONITOR is reported with estimate"),
    (put("parameters.seed", 3), "monitor: its manifest gives two seeds"),
    (put("parameters.seed", 3), put("seed", 3), "monitor: coverage is reported with "),
    (put("answers.sha256", "0" * 64), f"{FILE} has the SHA-256 "),
    (put("answers.rows", 3), "its manifest says 3 answers, and it holds 96"),
    (put("answers.file", "../../x"), "schema at runs/monitor/answers/file"),
    (
        put("answers.file", "multiplicity/answers.parquet"),
        "once what it holds: see monitor/",
    ),
    (
        put("answers.file", "other/answers.parquet"),
        "see monitor/answers.parquet, other/",
    ),
    (
        put("dataset.checksum", 5),
        "does not fit the schema at runs/monitor/dataset/checksum",
    ),
    (
        put("parameters.\x1b[31m", {}),
        "schema at runs/monitor/parameters/: {} is not valid",
    ),
    (
        put("user", "ann"),
        "schema at runs/monitor: Additional properties are not allowed",
    ),
    (
        run(lambda run: run.pop("dataset")),
        "runs/monitor: 'dataset' is a required property",
    ),
    (put("format", 2), "it is of format 2, and this version of the package reads 1"),
    (put("format", 0), "it is of format 0, and this version of the package reads 1"),
    (
        lambda told: told["runs"].update(toy=told["runs"].pop("monitor")),
        "a run of 'toy', which is no study here",
    ),
]


@pytest.mark.parametrize("row", MANIFESTS, ids=lambda row: row[-1])
def test_a_changed_manifest_is_refused(shared, tmp_path, row):
    *changes, reason = row
    assert reason in refused(changed(shared, tmp_path, *changes))


@pytest.mark.parametrize(
    "change", [put("parameters.match", "contains"), put("seconds", 1.0)]
)
def test_an_edit_that_changes_no_measure_is_refused(shared, packed, tmp_path, change):
    told = copy.deepcopy(shared.record)
    change(told)

    def edited(members):
        return [(info, json.dumps(told)) if "manifest" in info.filename else (info, data)
                for info, data in members]  # fmt: skip

    path = rewritten(packed, tmp_path, edited)
    assert "its manifest was edited after it was packed" in refused(path)
    signed = exchange.pack_archive(record.SharedRuns(told, shared.files), tmp_path)
    assert len(exchange.verify_archive(signed)[1]) == 4  # whoever forges it can sign it


def test_intervals_drawn_in_an_older_way_are_drawn_anew(shared, tmp_path):
    """The measures are compared: an archive outlives a better interval, not a wrong figure."""
    older = (
        run(lambda run: run["versions"].pop("intervals")),
        put("measures.2.high", 0.99),
    )
    found = exchange.verify_archive(changed(shared, tmp_path, *older))[0].record[
        "runs"
    ]["monitor"]
    today = shared.record["runs"]["monitor"]["measures"][2]
    assert 0.99 > today["high"] == pytest.approx(found["measures"][2]["high"])
    forged = changed(shared, tmp_path, *older, put("measures.0.estimate", 0.1))
    assert "MONITOR is reported with estimate" in refused(forged)


def test_kinds_of_responses_by_older_rules_are_told_anew(shared, tmp_path, capsys):
    """A response that older rules called unsure is wrong by its text today."""
    run_today = shared.record["runs"]["knowledge_base"]
    assert run_today["versions"]["responses"] == responses.RESPONSES_VERSION
    today = {each["measure"]: each for each in run_today["measures"]}
    told = copy.deepcopy(shared.record)
    run_then = told["runs"]["knowledge_base"]
    del run_then["versions"]["responses"]
    [ncr] = [each for each in run_then["measures"] if each["measure"] == "NCR"]
    ncr["estimate"] += 0.1
    older = exchange.pack_archive(record.SharedRuns(told, shared.files), tmp_path)
    verified, found = exchange.verify_archive(older)
    of_study = {run.study: run for run in found}
    assert of_study["knowledge_base"].recomputed == ("NCR",)
    assert of_study["knowledge_base"].measures == len(today) - 1
    assert of_study["monitor"].recomputed == ()
    measures = verified.record["runs"]["knowledge_base"]["measures"]
    assert {each["measure"]: each for each in measures} == today
    cli.main(["verify", str(older)])
    assert "Made by older definitions: NCR computed anew" in capsys.readouterr().out
    run_then["versions"]["responses"] = responses.RESPONSES_VERSION
    forged = exchange.pack_archive(record.SharedRuns(told, shared.files), tmp_path)
    assert "knowledge_base: NCR is reported with estimate" in refused(forged)


def as_bytes(table):
    stream = io.BytesIO()
    table.to_parquet(stream, index=False)
    return stream.getvalue()


def other_answers(shared, folder, data, sign=True, study="monitor"):
    """Pack other answers, and sign them with their own checksum."""
    told = copy.deepcopy(shared.record)
    if sign:
        told["runs"][study]["answers"]["sha256"] = hashlib.sha256(data).hexdigest()
    found = shared.files | {f"{study}/answers.parquet": data}
    return exchange.pack_archive(record.SharedRuns(told, found), folder)


def answers_of(shared, study="monitor"):
    return pd.read_parquet(io.BytesIO(shared.files[f"{study}/answers.parquet"]))


def righted(answers):
    """Turn the first wrong answer in a base wording into a right one."""
    base = (answers["context"] == "none") & (answers["frame"] == 0)
    wrong = base & (answers["text"] != "Fr")
    return answers.assign(
        text=answers["text"].mask(answers.index == wrong.idxmax(), "Fr")
    )


@pytest.mark.parametrize(
    ("change", "sign", "reason"),
    [
        (righted, False, f"{FILE} has the SHA-256 "),
        (righted, True, "monitor: base is reported with estimate "),
        (lambda answers: answers.drop(columns="logprobs"), True, "monitor: "),
        (lambda answers: answers.assign(logprobs="none"), True, "monitor: "),
        (
            lambda answers: answers.assign(frame="first"),
            True,
            "monitor: its answers cannot be measu",
        ),
        (lambda answers: answers.assign(mine="a"), True, "have the column 'mine'"),
        (lambda answers: answers.head(0), True, "monitor: it holds no answers"),
    ],
)
def test_other_answers_are_refused(shared, tmp_path, change, sign, reason):
    data = as_bytes(change(answers_of(shared)))
    assert reason in refused(other_answers(shared, tmp_path, data, sign))


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_each_item_of_the_atlas_is_held_against_what_is_right(every, tmp_path, study):
    """Of two items, each counts the other's answer as right: sums may stay."""
    column = {"knowledge_base": "answers", "multiplicity": "text"}.get(
        study, "continuation"
    )
    answers = answers_of(every, study)
    right = answers[answers.get("correct", pd.Series(True, answers.index)).astype(bool)]
    said = right.drop_duplicates("item").set_index("item")[column][:2]
    other = right["item"].map(dict(zip(said.index, said[::-1])))
    swapped = as_bytes(answers.assign(**{column: other.combine_first(answers[column])}))
    said = refused(other_answers(every, tmp_path, swapped, study=study))
    assert f"{study}: it counts " in said


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (
            pa.DictionaryArray.from_arrays(np.zeros(2**10, "int32"), ["x" * 2**11]),
            "of memory",
        ),
        (pa.array([["x" * 2**11] * 2**10]), "of memory"),
        (pa.array(np.zeros(2**18, "int8")), "of memory"),
        (pa.array([b"1234"], pa.binary(4)), "it holds bytes"),
    ],
    ids=["a text, often", "a list of them", "a number, often", "bytes"],
)
def test_a_small_file_of_a_large_table_is_refused(
    shared, tmp_path, monkeypatch, column, reason
):
    monkeypatch.setattr(files, "LARGEST_TABLE_IN_MEMORY", 2**20)
    stream = io.BytesIO()
    pq.write_table(pa.table({"item": column}), stream, write_statistics=False)
    assert len(stream.getvalue()) < 2**14
    assert reason in refused(other_answers(shared, tmp_path, stream.getvalue()))


def compressed(info):
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def linked(info):
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def member(name, data=b""):
    return zipfile.ZipInfo(name), data


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda all_: [each for each in all_ if each[0].filename != FILE],
            f"holds: see {FILE}",
        ),
        (lambda all_: all_[1:2], "it holds no manifest.json"),
        (lambda all_: [*all_, all_[0]], "is there twice"),
        (
            lambda all_: [*all_, member("../x.py", b"import os")],
            "it holds: see ../x.py",
        ),
        (lambda all_: [*all_, member("x/")], "its member 'x/' is no plain file"),
        (
            lambda all_: [(linked(info), data) for info, data in all_],
            "is no plain file",
        ),
        (
            lambda all_: [(compressed(info), data) for info, data in all_],
            "is compressed, as",
        ),
        (lambda all_: [member(f"{n}") for n in range(101)], "it has 101 members"),
        (lambda _: [("manifest.json", b"{")], "its manifest.json is not JSON"),
        (
            lambda _: [("manifest.json", b"[" * 10**5)],
            "its manifest.json cannot be read",
        ),
        (
            lambda _: [("manifest.json", b'{"format": NaN}')],
            "its manifest.json is not JSON",
        ),
        (lambda _: [("manifest.json", b"[]")], "does not fit the schema at its top"),
        (
            lambda _: [("manifest.json", b"\xff\xfe\xff")],
            "its manifest.json is not JSON",
        ),
    ],
)
def test_strange_members_are_refused(packed, tmp_path, change, reason):
    assert reason in refused(rewritten(packed, tmp_path, change))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_damaged_is_refused_in_a_sentence(packed, tmp_path, seed):
    random, data = np.random.default_rng(seed), bytearray(packed.read_bytes())
    place = int(random.integers(len(data)))
    data[place : place + seed] = random.bytes(seed // 2)
    path = tmp_path / "damaged.zip"
    path.write_bytes(data)
    if data != packed.read_bytes():
        assert refused(path)


def encrypted(data):
    data = bytearray(data)
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + flags] |= 1
    return data


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (encrypted, "is encrypted, password required"),
        *(
            (lambda data, n=n: data[:n], "it is no whole zip archive")
            for n in (0, 1000, -100)
        ),
    ],
)
def test_an_encrypted_or_truncated_file_is_refused(packed, tmp_path, change, reason):
    path = tmp_path / "other.zip"
    path.write_bytes(change(packed.read_bytes()))
    assert reason in refused(path)


def test_a_missing_file_is_refused_and_a_huge_one_unread(packed, monkeypatch, tmp_path):
    assert "There is no file" in refused(tmp_path / "no.zip")
    monkeypatch.setattr(archive, "LARGEST_ARCHIVE", packed.stat().st_size - 1)
    monkeypatch.setattr(archive.zipfile, "ZipFile", None)
    assert "it is larger than" in refused(packed)


@pytest.mark.parametrize(
    ("name", "value", "drawn", "others"),
    [
        ("n_facts", 3, 6, 0),
        ("relations", ["P17", "P30"], 4, 2),
        ("n_facts", 0, None, 0),
    ],
)
def test_other_questions_of_the_atlas_than_the_settings_draw_are_refused(
    measured, tmp_path, name, value, drawn, others
):
    path = changed(
        exchange.describe_runs(measured), tmp_path, put(f"parameters.{name}", value)
    )
    said = refused(path)
    assert (
        drawn is None or f"its settings draw {drawn} questions from the atlas" in said
    )
    assert f"about 4, {others} of which are not among them" in said


# What cannot be packed


def test_runs_of_different_weights_are_not_mixed(tmp_path):
    folder = saved(tmp_path)
    amend(folder, "monitor", weights_sha="another")
    with pytest.raises(
        UserError, match="are of different weights: run the older studies again"
    ):
        exchange.describe_runs(folder)
    assert list(exchange.describe_runs(folder / "monitor").record["runs"]) == [
        "monitor"
    ]


HARM = {  # what is done to the folder of a run, and what is said of it
    "There is no folder": lambda folder: shutil.rmtree(folder),
    "holds no finished run of a study": lambda folder: shutil.rmtree(
        folder / "monitor"
    ),
    "is a run of atlas: give one of monitor": lambda folder: said(
        folder, chapter="atlas"
    ),
    r"run\.json is damaged": lambda folder: (folder / "monitor/run.json").write_text(
        "{"
    ),
    "is damaged": lambda folder: (folder / "monitor/run.json").write_text(
        '{"chapter": "monitor"}'
    ),
    "holds no answers.parquet": lambda folder: (
        folder / "monitor/answers.parquet"
    ).unlink(),
}


def said(folder, **changes):
    path = folder / "monitor" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("reason", HARM)
def test_what_is_no_run_is_refused_in_a_sentence(tmp_path, reason):
    folder = saved(tmp_path, chapters=("monitor",))
    HARM[reason](folder)
    with pytest.raises(UserError, match=reason):
        exchange.describe_runs(folder)


@pytest.mark.slow
def test_the_bundled_archives_and_the_schema_are_good(root):
    found = sorted((root / "results").glob("*.zip"))
    assert found
    for path in found:
        assert exchange.verify_archive(path)[1]
        assert path.stat().st_size < 2**21  # the whole folder is a few megabytes
    schema = json.loads(verification.SCHEMA_FILE.read_text())
    assert schema["properties"]["format"] == {"const": record.ARCHIVE_FORMAT_VERSION}


def test_every_measure_says_what_it_means():
    assert all(
        measure.meaning for study in STUDIES.values() for measure in study.MEASURES
    )
    assert len({measure.meaning for measure in monitor.MEASURES}) == len(
        monitor.MEASURES
    )
