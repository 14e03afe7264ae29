"""A model on a server is named by one address, and its runs by a folder of their own."""

import re

import pytest

from helpers import UserError
from helpers.models import server_address
from helpers.models.checkpoints import find_checkpoint, model_slug
from helpers.models.server_address import ServerAddress, ServerLimits


@pytest.mark.parametrize(
    ("name", "url", "model"),
    [
        ("http://localhost:8000#atlas-m", "http://localhost:8000", "atlas-m"),
        (
            "https://gpu.example.org/v1#org/model",
            "https://gpu.example.org",
            "org/model",
        ),
        (
            "http://[::1]:8000/some/where/#/data/model",
            "http://[::1]:8000/some/where",
            "/data/model",
        ),
    ],
)
def test_an_address_has_a_place_and_a_model(name, url, model):
    assert server_address.is_server_address(name)
    assert server_address.parse_server_address(name) == ServerAddress(url, model)


def test_what_is_no_address_is_a_name():
    assert not any(
        map(
            server_address.is_server_address,
            ["atlas-m", "org/model", "./http", "ftp://host#m"],
        )
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "http://localhost:8000",
            "write http://localhost:8000#NAME, NAME being what the server",
        ),
        ("http://localhost:8000#", "write http://localhost:8000#NAME"),
        ("http://#name", "write http://host:8000#NAME"),
        (
            "http://localhost:port#name",
            "is no address: write it as http://host:8000#name",
        ),
        (
            "http://me:secret@host#name",
            "leave them out, and put the key .* in SERVER_API_KEY",
        ),
        (
            "http://host?key=secret#name",
            "leave them out, and put the key .* in SERVER_API_KEY",
        ),
    ],
)
def test_a_wrong_address_is_one_sentence_without_its_secrets(name, message):
    with pytest.raises(UserError, match=message) as told:
        server_address.parse_server_address(name)
    assert "secret" not in str(told.value)


COMMIT = "0" * 39
NAMES = [  # of one model each, a folder among them
    ("http://localhost:8000#a/b", "http://localhost:8000/v1#a/b"),
    *((f"http://localhost:{rest}",) for rest in ("8000/a#b", "8001#a/b", "8000#a--b")),
    ("https://localhost:8000#a/b",),
    *((f"o/m{rest}",) for rest in ("", "@v1", "_v1", "-v1", "@a/b", "@a-b")),
    *((f"o/m@{COMMIT}{last}",) for last in "01"),
    *(
        ("m@v1",),
        ("m/v1",),
        ("x/m", "./x/m", "x/m/", "x/../x/m"),
        ("y/m",),
        ("ein Modell: 1",),
    ),
]


def test_folders_of_runs_differ_where_the_models_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("x/m", "y/m", "ein Modell: 1"):
        (tmp_path / folder).mkdir(parents=True)
    folders = [{model_slug(name) for name in names} for names in NAMES]
    assert all(len(folder) == 1 for folder in folders)
    assert len(set.union(*folders)) == len(NAMES)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", folder) for (folder,) in folders)
    assert model_slug("http://localhost:8000#a/b").startswith("localhost_8000--a--b-")
    assert (model_slug("org/model-a"), model_slug("x/m")[:2]) == ("org--model-a", "m-")
    clashing = {model_slug(name) for name in ("a/b", "a--b", "a--b/c", "a/b--c")}
    assert len(clashing) == 4
    assert "a--b" in clashing


def test_a_server_has_no_files():
    with pytest.raises(
        UserError, match="is a server's address, where files are needed"
    ):
        find_checkpoint("http://localhost:8000#name")


def test_limits_come_from_the_environment(monkeypatch):
    for name in ("IN_FLIGHT", "TIMEOUT", "PATIENCE"):
        monkeypatch.delenv(f"SERVER_{name}", raising=False)
    assert server_address.limits_from_environment() == ServerLimits()
    monkeypatch.setenv("SERVER_IN_FLIGHT", "4")
    monkeypatch.setenv("SERVER_TIMEOUT", "2.5")
    assert server_address.limits_from_environment() == ServerLimits(
        in_flight=4, timeout=2.5
    )
    for wrong in ("0", "-1", "many", "nan"):
        monkeypatch.setenv("SERVER_PATIENCE", wrong)
        with pytest.raises(
            UserError, match=f"SERVER_PATIENCE is '{wrong}'; set it to a number"
        ):
            server_address.limits_from_environment()
