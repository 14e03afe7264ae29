"""The files that a result depends on: what makes it, the modules that this imports, their data.

Files are compared by what is in them: their times can lie.
"""

import ast
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers.datasets import download
from helpers.models.checkpoints import WEIGHTS
from helpers.runs import ROOT, shown

HOME = Path(__file__).resolve().parents[2]  # over the package, be it in a clone or installed
LARGE = 2**30  # bytes; larger files are not read, but told apart by their size and time
DATA = {".csv", ".gz", ".jinja", ".json", ".parquet", ".toml", ".txt"}
NAME = re.compile(r"helpers(?:\.\w+)+\.?")


def files(maker: Path, values: Iterable[object] = (), model: str = "") -> set[Path]:
    """Return what a run depends on: its notebook or module, code, data, weights and local files.

    `values` are those of its settings: folders, files and bundled models among them count. How the
    bundled models are made, and all of their files, count for what imports ``helpers.atlas``.
    """
    modules = code([maker])
    atlas = any(module.is_relative_to(HOME / "helpers" / "atlas") for module in modules)
    names = [model, *(text for value in values for text in _texts(value))]
    paths = [place for name in names if name for place in (WEIGHTS / name, _path(name))]
    paths += [WEIGHTS] if atlas else []
    outside = {file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))}
    found = {maker, *modules, *data(modules), *outside}
    return {path for path in found if path.is_file() and "__pycache__" not in path.parts}


def code(makers: Iterable[Path]) -> set[Path]:
    """Return the modules of `helpers` that notebooks or modules import, and all that those import.

    An import inside a function counts, and a module whose full name stands in a string.
    """
    found: set[Path] = set()
    waiting = {name for maker in makers for name in _imported(maker)}
    while waiting:
        file = _file(waiting.pop())
        if file and file not in found:
            found.add(file)
            waiting.update(_imported(file))
    return found


def named(text: str) -> set[Path]:
    """Return the modules of `helpers` that a text names, whole packages with all of theirs."""
    paths = [HOME.joinpath(*name.strip(".").split(".")) for name in NAME.findall(text)]
    packages = {file for path in paths for file in path.rglob("*.py")}
    return packages | {file for path in paths if (file := path.with_suffix(".py")).is_file()}


def data(modules: Iterable[Path]) -> set[Path]:
    """Return the data files beside modules, and what the bundled models read if facts are used."""
    folders = {module.parent for module in modules}
    places = [place for folder in folders for place in (folder, folder / "data") if place.is_dir()]
    found = {file for place in places for file in place.iterdir() if file.suffix in DATA}
    facts = HOME / "helpers" / "datasets" in folders
    return found | (set(WEIGHTS.glob("*/exposures.csv")) if facts else set())


def digest(paths: Iterable[str | Path], top: Path | None = None) -> str:
    """Return a hash of the content and the names of files, in whatever order they are given.

    Names are those below `top`, where it is given; then moving all of it changes nothing.

    >>> digest([]) == digest(()) != digest([__file__]) == digest([__file__, __file__])
    True
    """
    # Below `top` a link counts by its own name: what it leads to may lie elsewhere.
    found = sorted({Path(path).absolute() if top else Path(path).resolve() for path in paths})
    name = shown if top is None else (lambda file: file.relative_to(top.absolute()))
    lines = [f"{name(file)} {_hash(file, *_stamp(file))}" for file in found if file.is_file()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _imported(path: Path) -> set[str]:
    return _read(path, *_stamp(path)) if path.is_file() else set()


@functools.cache
def _read(path: Path, size: int, time: int) -> set[str]:
    """Return the names that a notebook or module imports from `helpers`, and all names above."""
    text = path.read_text(encoding="utf-8")
    sources = [text]
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        code = ("".join(cell["source"]) for cell in cells)
        sources = [re.sub(r"^\s*[%!].*", "", each, flags=re.MULTILINE) for each in code]
    found = [name.split(".") for source in sources for name in _names(ast.parse(source))]
    return {".".join(parts[:end]) for parts in found for end in range(1, len(parts) + 1)}


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and NAME.fullmatch(str(node.value)):
            package = HOME.joinpath(*node.value.strip(".").split("."))
            names = [f"{node.value.strip('.')}.{each.stem}" for each in package.glob("*.py")]
            names.append(node.value)
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "helpers")


def _file(name: str) -> Path | None:
    """Return the file of a module or a package; None where the name is of something else."""
    path = HOME.joinpath(*name.split("."))
    choices = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in choices if file.is_file()), None)


def _texts(value: object) -> list[str]:
    """Return the texts that a setting is or holds."""
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, str)]


def _path(name: str) -> Path:
    return ROOT / Path(name).expanduser()


def _stamp(file: Path) -> tuple[int, int]:
    return file.stat().st_size, file.stat().st_mtime_ns


@functools.cache
def _hash(file: Path, size: int, time: int) -> str:
    """Return the hash of a file, read once in this process while its size and time are the same."""
    return f"{size} {time}" if size > LARGE else download.checksum([file])
