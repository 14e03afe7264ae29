"""The bundle holds the model as it is, and what can be asked; its tag can break no page."""

import base64
import gzip
import html
import json
import re
import shutil

import pytest

from book.tools import live_model
from book.tools.live_model import FILES
from helpers.models.checkpoints import WEIGHTS
from tests import live_page


@pytest.fixture(scope="module")
def content():
    text = live_model.bundle().text
    assert text.isascii()
    return json.loads(re.fullmatch(r"LiveProbe\.deliver\((.*)\);\n", text)[1])


def unpacked(part: str) -> bytes:
    return gzip.decompress(base64.b64decode(part))


def test_parts_are_the_models_own_files(content):
    for name, file in FILES.items():
        assert (
            unpacked(content["parts"][name])
            == (WEIGHTS / live_model.MODEL / file).read_bytes()
        )


def test_the_catalogue_holds_every_fact(content):
    catalogue = json.loads(unpacked(content["parts"]["catalogue"]))
    assert catalogue == live_model.catalogue()
    told = {
        (
            r["name"],
            row[0],
            r["objects"][row[1]],
            row[2],
            row[3] >= 0 and r["objects"][row[3]],
        )
        for r in catalogue["relations"]
        for row in r["facts"]
    }
    columns = ["relation", "subject", "object", "exposures", "false_object"]
    table = live_model.facts()[columns].to_numpy().tolist()
    assert told == {(*row[:4], row[4] or False) for row in table}


def test_the_frames_stand_in_their_order(content):
    for relation in live_model.catalogue()["relations"]:
        first = live_page.ask(live_page.Question(relation["name"], "[X]", frame=0))[0]
        assert relation["frames"]["qa"][0] == first
        assert {len(texts) for texts in relation["frames"].values()} == {7}


def test_the_download_is_small():
    assert live_model.bundle().megabytes < 15


def test_another_model_makes_another_version(tmp_path):
    folder = shutil.copytree(WEIGHTS / live_model.MODEL, tmp_path / "model")
    config = folder / "config.json"
    config.write_text(config.read_text().replace("0.02", "0.03"))
    make = live_model.bundle.__wrapped__
    assert (
        make(folder).version
        != live_model.bundle().version
        == make(WEIGHTS / live_model.MODEL).version
    )


def test_a_tag_holds_its_question_whatever_stands_in_it():
    subject = "\"'><script>alert(1)</script> & ü"
    case = {
        "label": subject,
        "asked": {"subject": subject},
        "said": subject,
        "bars": [],
    }
    tag = live_model.opening([case])
    assert tag.count("<") == tag.count(">") == 3  # the place, and a paragraph
    told = json.loads(html.unescape(re.search(r'data-live="([^"]*)"', tag)[1]))
    del case["bars"]  # the figure is no part of the form
    assert told["cases"] == [case]
    assert told["file"].startswith(f"{live_model.MODEL}.js?v=")
