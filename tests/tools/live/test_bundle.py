"""The bundle holds the model as it is, and what can be asked; its tag can break no page."""

import base64
import gzip
import html
import json
import re
import shutil

import pytest

from book.tools import live_model
from book.tools.live_model import MODEL_FILES
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from tests import live_page


@pytest.fixture(scope="module")
def content():
    text = live_model.model_bundle().text
    assert text.isascii()
    return json.loads(re.fullmatch(r"LiveProbe\.deliver\((.*)\);\n", text)[1])


def unpacked(part: str) -> bytes:
    return gzip.decompress(base64.b64decode(part))


def test_parts_are_the_models_own_files(content):
    for name, file in MODEL_FILES.items():
        assert (
            unpacked(content["parts"][name])
            == (BUNDLED_MODELS_FOLDER / live_model.LIVE_MODEL / file).read_bytes()
        )


def test_the_catalogue_holds_every_fact(content):
    catalogue = json.loads(unpacked(content["parts"]["catalogue"]))
    assert catalogue == live_model.question_catalogue()
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
    table = live_model.facts_with_exposures()[columns].to_numpy().tolist()
    assert told == {(*row[:4], row[4] or False) for row in table}


def test_the_frames_stand_in_their_order(content):
    for relation in live_model.question_catalogue()["relations"]:
        first = live_page.prompt_and_choices(
            live_page.Question(relation["name"], "[X]", frame=0)
        )[0]
        assert relation["frames"]["qa"][0] == first
        assert {len(texts) for texts in relation["frames"].values()} == {7}


def test_the_download_is_small():
    assert live_model.model_bundle().megabytes < 15


def test_another_model_makes_another_version(tmp_path):
    folder = shutil.copytree(
        BUNDLED_MODELS_FOLDER / live_model.LIVE_MODEL, tmp_path / "model"
    )
    config = folder / "config.json"
    config.write_text(config.read_text().replace("0.02", "0.03"))
    make = live_model.model_bundle.__wrapped__
    assert (
        make(folder).version
        != live_model.model_bundle().version
        == make(BUNDLED_MODELS_FOLDER / live_model.LIVE_MODEL).version
    )


def test_a_tag_holds_its_question_whatever_stands_in_it():
    subject = "\"'><script>alert(1)</script> & ü"
    case = {
        "label": subject,
        "asked": {"subject": subject},
        "said": subject,
        "bars": [],
    }
    tag = live_model.live_probe_opening_html([case])
    assert tag.count("<") == tag.count(">") == 3  # the place, and a paragraph
    told = json.loads(html.unescape(re.search(r'data-live="([^"]*)"', tag)[1]))
    del case["bars"]  # the figure is no part of the form
    assert told["cases"] == [case]
    assert told["file"].startswith(f"{live_model.LIVE_MODEL}.js?v=")
