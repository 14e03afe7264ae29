"""Every reader of strangers' files gives a table or one sentence: seeds of `tests.fuzz`."""

import ast
import subprocess
import sys

import pytest

from tests import fuzz

OPENS = {
    "open",
    "read_text",
    "read_bytes",
    "loads",
    "read_csv",
    "read_parquet",
    "ZipFile",
}
OPENS |= {"literal_eval", "read_table", "ParquetFile", "DictReader", "reader"}
COME_WITH_IT = (
    "DATA",
    "FREQUENCIES",
    "FOLDER",
    "SCHEMA",
    "__file__",
    "__package__",
    "tomllib",
)
# Who else opens files, which the project wrote itself or that come with it.
OWN = {
    "helpers/io/files.py": "the one place",
    "helpers/io/user_cache.py": "bytes, for their checksum",
    "helpers/datasets/atlas_facts.py": "comes with the package",
    "helpers/datasets/registry.py": "comes with the package",
    "helpers/metrics/responses.py": "comes with the package",
    "helpers/metrics/thoughts.py": "comes with the package",
    "helpers/datasets/testbed.py": "comes with the package",
    "helpers/schemas.py": "comes with the package",
    "helpers/datasets/exposure.py": "a bundled model's",
    "notebooks/kit/findings.py": "wordings, and findings of a run",
    "helpers/exchange/devices.py": "the system's",
    "helpers/models/file_faults.py": "the first bytes, which tell what a file is",
    "helpers/models/gguf_weights.py": "made here",
    "helpers/models/gpu.py": "the system's",
    "helpers/models/identity.py": "bytes, for their checksum",
    "helpers/models/model_packages.py": "a wheel whose checksum is pinned",
    "helpers/models/server/session.py": "an answer whose size is bounded there",
    "helpers/probing/result_cache.py": "made here, set aside if damaged",
    "helpers/probing/engine/trial.py": "made here",
    "notebooks/kit/published/__init__.py": "bundled tables",
    "helpers/runs/panel/panel_answers.py": "tables of runs",
    "helpers/runs/store.py": "tables of runs",
    "helpers/exchange/archive.py": "checks each member before it reads one",
}


@pytest.mark.parametrize("seed", range(40))
def test_an_odd_table_gives_facts_or_a_sentence(seed, tmp_path):
    said = fuzz.reader_outcome(fuzz.TABLES, seed, tmp_path)
    assert said in ("read", "refused"), said


@pytest.mark.parametrize("name", fuzz.READERS)
def test_a_broken_file_gives_a_table_or_a_sentence(name, tmp_path):
    whole = fuzz.reader_outcome(name, None, tmp_path / "whole")
    assert whole == ("refused" if name == "index" else "read"), whole
    for seed in range(3 if name == "archive" else 20):
        said = fuzz.reader_outcome(name, seed, tmp_path / str(seed))
        assert said in ("read", "refused"), f"seed {seed}: {said}"


FLIPPED = """
from helpers import UserError
from helpers.io import files
from tests import fuzz
data = (fuzz.SAMPLES_FOLDER / "choices.parquet" / "train.parquet").read_bytes()
start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # of what is said of the columns
for at in range(start, start + 600):
    try:
        files.read_parquet_table(data[:at] + bytes([data[at] ^ 2]) + data[at + 1:], "it")
    except UserError:
        pass
"""


def test_no_damage_of_a_table_ends_the_process(root):
    assert subprocess.run([sys.executable, "-c", FLIPPED], cwd=root).returncode == 0


def test_strangers_files_are_opened_in_one_place(root):
    found = {}
    for path in [
        *(root / "helpers").rglob("*.py"),
        root / "notebooks/analysis/lpaqa.py",
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            named = getattr(node.func, "attr", getattr(node.func, "id", ""))
            of = ast.unparse(node.func) + "".join(map(ast.unparse, node.args[:1]))
            bundled = any(word in of for word in COME_WITH_IT)
            ours = of.startswith(("files.", "items.", "os.", "read_text"))
            if named in OPENS and not (bundled or ours):
                found.setdefault(path.relative_to(root).as_posix(), of)
    assert {path: of for path, of in found.items() if path not in OWN} == {}
