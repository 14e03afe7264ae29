"""Models of the hub, from a small hub on this machine: revisions, progress, failures, moves."""

import os
import re
from unittest.mock import Mock

import httpx2
import pandas as pd
import pytest

from book.tools import __main__ as commands
from helpers import UserError, models
from helpers.datasets import seen_questions
from helpers.models import checkpoints
from helpers.probing import score
from tests import tiny_models
from tests.hub_server import (
    HubServer,
    drop_connection,
    refuse_gated_files,
    status_fault,
    truncation_fault,
)
from tests.program_calls import run_python

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return two tiny models that differ."""
    top = tmp_path_factory.mktemp("hub")
    return tiny_models.save_tiny_model(top / "one"), tiny_models.save_tiny_model(
        top / "two", "gpt2"
    )


@pytest.fixture
def waits(monkeypatch):
    """Return the seconds that were waited, of which none passes."""
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


@pytest.fixture
def hub(folders, tmp_path, monkeypatch, waits):
    """Return a hub with owner/tiny, as the hub of this process, and an empty cache."""
    constants = "huggingface_hub.constants"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with HubServer() as server:
        server.push("owner/tiny", folders[0], tag="v1")
        template = f"{server.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(f"{constants}.ENDPOINT", server.url)
        monkeypatch.setattr(f"{constants}.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(f"{constants}.HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(f"{constants}.HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(f"{constants}.HF_HUB_OFFLINE", False)
        monkeypatch.setattr(f"{constants}.HF_HUB_DISABLE_XET", True)
        yield server


@pytest.fixture
def offline(monkeypatch):
    """Return a function that takes the hub away, as HF_HUB_OFFLINE=1 does."""
    return lambda: monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_a_revision_is_loaded_scored_and_recorded(hub, folders):
    first = hub.repositories["owner/tiny"].tags["v1"]
    second = hub.push("owner/tiny", folders[1])
    lm = models.load("owner/tiny@v1", device="cpu")
    probes = pd.DataFrame({"prompt": ["Lyon is in"], "continuation": " France"})
    found, local = (
        score(m, probes, progress=False)
        for m in (lm, models.load(folders[0], device="cpu"))
    )
    assert found["logprobs"].iloc[0] == local["logprobs"].iloc[0]
    assert models.describe_model(lm)["revision"] == lm.revision == first
    assert (
        lm.slug
        == checkpoints.model_slug("owner/tiny@v1")
        != checkpoints.model_slug("owner/tiny")
    )
    newest = models.load("owner/tiny", device="cpu")
    assert (newest.revision, newest.slug) == (second, "owner--tiny")
    assert newest.weights_sha != lm.weights_sha
    pinned = models.load("owner/tiny", device="cpu", revision=first)
    assert (pinned.name, pinned.revision) == (f"owner/tiny@{first}", first)
    assert checkpoints.cached_commit_of_model("owner/tiny@v1") == first
    assert checkpoints.cached_commit_of_model("owner/tiny") == second


def test_a_folder_with_an_at_sign_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny_models.save_tiny_model(tmp_path / "owner" / "tiny@v1")
    assert models.load("owner/tiny@v1", device="cpu").revision is None
    assert checkpoints.cached_commit_of_model("owner/tiny@v1") is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("atlas-xs@v1", "atlas-xs is on this machine, and only .* leave @v1 out"),
        ("./here@v1", r"\./here is on this machine, and only .* leave @v1 out"),
        ("./nowhere@v1", r"There is no folder \./nowhere@v1"),
        ("owner/tiny@", "There is no folder owner/tiny@;"),
        ("owner/tiny@../../x", r"There is no folder owner/tiny@\.\./\.\./x;"),
    ],
)
def test_revisions_are_of_models_on_the_hub_only(tmp_path, monkeypatch, name, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    with pytest.raises(UserError, match=sentence):
        checkpoints.find_checkpoint(name)
    assert checkpoints.repository_and_revision(name) is None
    assert checkpoints.cached_commit_of_model(name) is None


def test_a_branch_that_moved_is_fetched_anew_and_one_line_says_so(
    hub, folders, offline, capsys
):
    assert checkpoints.cached_commit_of_model("owner/tiny") is None
    first = checkpoints.find_checkpoint("owner/tiny").revision
    assert capsys.readouterr().err == ""
    second = hub.push("owner/tiny", folders[1])
    assert (
        checkpoints.cached_commit_of_model("owner/tiny") == first
    )  # nothing was asked of the hub
    assert checkpoints.find_checkpoint("owner/tiny").revision == second
    assert capsys.readouterr().err == (
        f"main of owner/tiny moved from {first[:7]} to {second[:7]}; runs of the former are "
        f"repeated; pin it with owner/tiny@{first}\n"
    )
    assert checkpoints.find_checkpoint("owner/tiny").revision == second
    assert checkpoints.find_checkpoint(f"owner/tiny@{first}").revision == first
    hub.push("owner/tiny", folders[0])
    offline()
    assert (
        checkpoints.find_checkpoint("owner/tiny").revision
        == checkpoints.cached_commit_of_model("owner/tiny")
        == second
    )
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("reset", "times", "again"),
    [(False, 2, 0), (True, 1, 50_000)],
    ids=["lost", "reset"],
)
def test_a_lost_connection_goes_on_where_it_was(
    hub, folders, monkeypatch, waits, reset, times, again
):
    """After a reset, which the library does not mend, the file is fetched again."""
    if not reset:
        monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    hub.fault = truncation_fault(WEIGHTS, 50_000, times=times, reset=reset)
    file = checkpoints.find_checkpoint("owner/tiny").weights[0]
    assert waits == [1] * times
    assert hub.served[WEIGHTS] == (folders[0] / WEIGHTS).stat().st_size + again
    assert file.read_bytes() == (folders[0] / WEIGHTS).read_bytes()


def test_a_command_that_failed_fetches_only_the_files_that_had_not_come(hub, tmp_path):
    folder = tiny_models.save_tiny_model(tmp_path / "shards", max_shard_size="60KB")
    shards = sorted(path.name for path in folder.glob("*.safetensors"))
    hub.push("owner/shards", folder)
    hub.fault = truncation_fault(shards[-1], 100)
    with pytest.raises(
        UserError, match=r"run the same command again .files that came whole are"
    ):
        checkpoints.find_checkpoint("owner/shards")
    first = dict(hub.served)
    hub.fault = None
    checkpoints.find_checkpoint("owner/shards")
    again = {name for name in hub.served if hub.served[name] > first.get(name, 0)}
    assert again == {shards[-1]}


def faults():
    """Return each failure: the fault, the name asked for, and what its sentence says."""
    again = r"run the same command again \(files that came whole are kept\)"
    return {
        "gated": (
            refuse_gated_files,
            "",
            rf"is gated: accept its terms on http\S+/owner/tiny, log in.*{again}",
        ),
        "missing": (
            None,
            "owner/none",
            "no model owner/none here.*spelling.*HF_TOKEN.*bundled",
        ),
        "no id": (None, "owner/a--b", "no model owner/a--b here.*spelling"),
        "revision": (
            None,
            "owner/tiny@v9",
            "no revision 'v9' on the hub: give one of its",
        ),
        "commit": (
            None,
            "owner/tiny@" + "1" * 40,
            "no revision '1{40}' on the hub: give one of",
        ),
        "token": (
            status_fault(
                401, X_Error_Message="Invalid credentials in Authorization header"
            ),
            "",
            "does not accept your token: log in",
        ),
        "too many": (
            status_fault(429, Retry_After=77),
            "",
            f"429.; wait 77 seconds, or log in.*{again}",
        ),
        "too many files": (
            status_fault(429, "resolve"),
            "",
            f"429.; wait some minutes.*{again}",
        ),
        "down": (status_fault(503), "", f"status 503.; wait a while, and {again}"),
        "files down": (
            status_fault(503, "resolve"),
            "",
            f"status 503.; wait a while, and {again}",
        ),
        "forbidden": (status_fault(403), "", "status 403.; ask its owner"),
        "silent": (
            drop_connection,
            "",
            f"failed .RemoteProtocolError.; go online.*{again}",
        ),
        "lost": (
            truncation_fault(WEIGHTS, 500),
            "",
            f"failed .RemoteProtocolError.; go online.*{again}",
        ),
        "reset": (
            truncation_fault(WEIGHTS, 500, reset=True),
            "",
            f"failed .ReadError.; go online.*{again}",
        ),
    }


@pytest.mark.parametrize("case", faults())
def test_every_failure_is_one_sentence(hub, capfd, case):
    fault, name, sentence = faults()[case]
    hub.fault = fault
    name = name or "owner/tiny"
    assert commands.main(["book", "monitor", "--model", name]) == 2
    *before, last = capfd.readouterr().err.splitlines()
    assert last.startswith("error: ")
    assert not [line for line in before if not line.startswith("Fetching owner/tiny: ")]
    assert re.search(sentence, last), last


def test_a_hub_that_recovers_is_asked_again(hub, waits, capsys):
    hub.fault = status_fault(503, "revision", times=2)
    assert checkpoints.find_checkpoint("owner/tiny").weights
    assert waits == [1, 2]
    assert (
        "the server is out of order (status 503); trying again in 2 s"
        in capsys.readouterr().err
    )
    hub.fault = status_fault(429, "revision", times=1, Retry_After=7)
    assert checkpoints.find_checkpoint("owner/tiny").weights


def test_what_is_cached_needs_no_hub(hub, waits):
    commit = checkpoints.find_checkpoint("owner/tiny").revision
    for fault in (status_fault(503), status_fault(429), refuse_gated_files):
        hub.fault = fault
        assert checkpoints.find_checkpoint("owner/tiny").revision == commit
    assert not waits


def test_offline_a_model_that_is_not_cached_whole_is_one_sentence(
    hub, offline, monkeypatch
):
    checkpoints.configuration_folder("owner/tiny")
    asked = len(hub.requests)
    offline()
    with pytest.raises(UserError, match="not all of its files, and HF_HUB_OFFLINE"):
        checkpoints.find_checkpoint("owner/tiny")
    with pytest.raises(
        UserError, match=r"no model owner/none here.*HF_HUB_OFFLINE .* unset it"
    ):
        checkpoints.find_checkpoint("owner/none")
    assert len(hub.requests) == asked


def test_without_a_network_the_other_models_are_named(hub):
    hub.__exit__()
    with pytest.raises(
        UserError,
        match=r"failed .ConnectError.; go online, and run .*, or give a bundled",
    ):
        checkpoints.find_checkpoint("owner/tiny")
    hub.__enter__()


def test_a_cache_that_cannot_be_written_is_one_sentence(hub, tmp_path):
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(
        UserError, match=r"cache.* cannot be written .*; free that folder"
    ):
        checkpoints.find_checkpoint("owner/tiny")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), r"the disk is full .*; free some room"),
        # What hf_xet raises after its own tries; an address may hold a signature.
        (RuntimeError("CAS Client Error: request for url (http://x?sign=1)"),
         r"CAS Client Error: request .RuntimeError.; check your network, and run"),
        (ValueError("no JSON"), "no JSON .ValueError.; check your network, and run"),
        (httpx2.ProxyError("407"), r"the proxy fails .ProxyError.; correct HTTPS_PROXY"),
        (httpx2.ConnectError("CERTIFICATE_VERIFY_FAILED"), "not trusted here .*; name your"),
    ],
)  # fmt: skip
def test_what_stops_a_download_on_this_side_is_one_sentence(
    hub, monkeypatch, waits, error, sentence
):
    monkeypatch.setattr(
        "huggingface_hub.file_download.http_get", Mock(side_effect=error)
    )
    with pytest.raises(UserError, match=sentence):
        checkpoints.find_checkpoint("owner/tiny")
    assert not waits


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            status_fault(401),
            "gated, private or not there .status 401.; ask its owner for access, or down",
        ),
        (status_fault(404), "not there .status 404.; check the spelling, or download"),
        (
            status_fault(429, Retry_After=60),
            "status 429.; wait 60 seconds, or download",
        ),
        (status_fault(503), "out of order .status 503.; wait a while, or download"),
        (
            drop_connection,
            "the connection failed .ConnectionError.; go online, or download",
        ),
    ],
)
def test_data_sets_fail_in_the_same_words(hub, tmp_path, monkeypatch, fault, sentence):
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path)
    hub.fault = fault
    with pytest.raises(
        UserError, match=rf"Fetching set.jsonl from {hub.url}/\S+ failed: .*{sentence}"
    ):
        seen_questions.read_questions(f"{hub.url}/set.jsonl")


def test_the_command_takes_a_revision_from_the_hub_that_the_environment_names(
    hub, root, tmp_path
):
    environment = {k: v for k, v in os.environ.items() if k != "HF_HUB_OFFLINE"}
    environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    check = (
        "from book.tools import book_making;"
        "book_making.check_models(['owner/tiny@v1'], {})"
    )
    book = [
        "-m",
        "book.tools",
        "book",
        "monitor",
        "--runs",
        str(tmp_path),
        "--model",
        "owner/none",
    ]
    done = run_python("-c", check, cwd=root, env=environment)
    none = run_python(*book, code=2, cwd=root, env=environment)
    assert (done.stdout, done.stderr, none.stdout) == ("", "", "")
    assert none.stderr.startswith(
        "error: There is no model owner/none here, and the hub"
    )
    assert none.stderr.count("\n") == 1
