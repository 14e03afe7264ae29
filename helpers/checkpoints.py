"""Find a model's files: bundled, in a local folder or on the hub; safetensors only."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from helpers import adapters
from helpers.errors import UserError
from helpers.servers import address

WEIGHTS = Path(__file__).resolve().parent / "weights"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack")
TOKENIZERS = ("tokenizer.json", "*.model", "vocab.*", "*.tiktoken", "tekken.json")
SMALL_FILES = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True)
class Checkpoint:
    """Where a model's files are: its folder, its weights in name order, its commit on the hub.

    An adapter's weights come after those of the model that it changes, whose folder is `base`.
    """

    folder: Path
    weights: tuple[Path, ...]
    revision: str | None
    base: Path | None = None


def bundled() -> list[str]:
    """Return the names of the models that come with the book.

    Returns
    -------
    list of str
        Sorted; each is a folder of `helpers/weights`.

    Examples
    --------
    >>> all(name == slug(name) for name in bundled())
    True
    """
    return sorted(path.parent.name for path in WEIGHTS.glob(f"*/{SINGLE}"))


def slug(name: str | Path) -> str:
    """Return a name for the folders of a model's runs: safe, and different for different models.

    A hub id keeps its words; a local folder gets eight digits of its path's SHA-256, so that two
    folders of one name do not share their runs. So does a model on a server, of its address.

    Parameters
    ----------
    name : str or Path
        Bundled name, hub id, local folder, or address of a model on a server.

    Returns
    -------
    str
        Letters, digits, ``.``, ``_`` and ``-`` only.

    Examples
    --------
    >>> slug("org/model-a")
    'org--model-a'
    """
    text = str(name)
    if address.is_address(text):
        text = address.folder_name(text)
    elif text not in bundled() and _is_path(text):
        path = Path(text).expanduser().resolve()
        text = f"{path.name}-{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    return re.sub(r"[^A-Za-z0-9._-]", "_", text.replace("/", "--")).lstrip(".") or "model"


def find(name: str | Path, revision: str | None = None, *, code: bool = False) -> Checkpoint:
    """Return where a model's files are, fetched from the hub where they have to be.

    Parameters
    ----------
    name : str or Path
        Bundled name, local folder or hub id, looked for in this order.
    revision : str, optional
        Branch, tag or commit on the hub.
    code : bool
        Whether the model's own Python files are fetched too.

    Returns
    -------
    Checkpoint

    Raises
    ------
    UserError
        Where there is no such model, the hub cannot be reached, or the weights are missing or are
        pickles.

    Examples
    --------
    >>> find("./no-such-folder")
    Traceback (most recent call last):
    ...
    helpers.errors.UserError: There is no folder ./no-such-folder; give a bundled model..., a ...
    """
    text = str(name)
    if address.is_address(text):
        raise UserError(f"{text} is a server's address, where files are needed; give {_choices()}.")
    folder = small_files(name, revision, code=code)
    commit = None
    if text not in bundled() and not _is_path(text):
        commit = folder.name
        _fetch(text, commit, _weight_names(folder) | {SINGLE})
    files = weight_files(folder, text)
    if files[0].name != adapters.WEIGHTS:
        return Checkpoint(folder, files, commit)
    needed, its_revision = adapters.base(folder, text)
    try:
        base = find(needed, its_revision, code=code)
    except UserError as error:
        raise UserError(f"{text} is an adapter of {needed}, which is missing: {error}") from error
    return Checkpoint(folder, base.weights + files, commit, base.folder)


def small_files(name: str | Path, revision: str | None = None, *, code: bool = False) -> Path:
    """Return the folder of a model's configuration and tokenizer, its weights perhaps not there.

    Parameters
    ----------
    name, revision, code
        As for `find`.

    Returns
    -------
    Path

    Raises
    ------
    UserError
        Where there is no such model, or the hub cannot be reached.
    """
    text = str(name)
    if text in bundled():
        return WEIGHTS / text
    if text.lower().endswith(".gguf"):
        raise _gguf(text)
    if not _is_path(text):
        return _fetch(text, revision, (*SMALL_FILES, *(("*.py",) if code else ())))
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise UserError(f"There is no folder {text}; give {_choices()}.")
    return folder


def on_hub(name: str | Path) -> bool:
    """Tell whether a name is that of a model on the hub: no bundled model, no folder, no address.

    Examples
    --------
    >>> on_hub("org/model-a"), on_hub("atlas-s"), on_hub("./folder"), on_hub("http://host:1#m")
    (True, False, False, False)
    """
    return str(name) not in bundled() and not _is_path(str(name))


def weight_files(folder: Path, name: str) -> tuple[Path, ...]:
    """Return the safetensors files that hold a model's weights, shards included, in name order.

    Parameters
    ----------
    folder : Path
    name : str
        What the user called the model, for the message.

    Returns
    -------
    tuple of Path

    Raises
    ------
    UserError
        Where a file is missing, or the folder holds pickles.
    """
    files = tuple(folder / part for part in sorted(_weight_names(folder)))
    missing = [file.name for file in files if not file.is_file()]
    if not missing:
        return files
    if (folder / INDEX).is_file():
        raise UserError(f"{name} lacks the weights {missing[0]} that its index names; add them.")
    if (folder / adapters.WEIGHTS).is_file():
        raise UserError(f"{name} holds an adapter without its {adapters.CONFIG}; add it.")
    if any(file for pattern in PICKLES for file in folder.glob(pattern)):
        raise UserError(
            f"{name} has its weights as pickles only, which can run code when they are read; "
            "convert them to safetensors on a machine you can lose "
            "(AutoModelForCausalLM.from_pretrained(folder).save_pretrained(new_folder))."
        )
    if any(folder.glob("*.gguf")):
        raise _gguf(name)
    raise UserError(f"{name} has no weights ({SINGLE}); put them there or give {_choices()}.")


def _gguf(name: str) -> UserError:
    return UserError(
        f"{name} has its weights in llama.cpp's format (gguf), which is not read here; give the "
        "folder or the hub id of the model that it was made from."
    )


def has_tokenizer(folder: Path) -> bool:
    """Tell whether a folder holds the files of a tokenizer."""
    return any(file for pattern in TOKENIZERS for file in folder.glob(pattern))


def sha256(files: tuple[Path, ...]) -> str:
    """Return the SHA-256 (hex) over the bytes of files, one after another.

    Parameters
    ----------
    files : tuple of Path

    Returns
    -------
    str

    Examples
    --------
    >>> sha256(())[:8]
    'e3b0c442'
    """
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _is_path(text: str) -> bool:
    return Path(text).expanduser().is_dir() or not HUB_ID.fullmatch(text)


def _choices() -> str:
    names = ", ".join(bundled()) or "none is installed"
    return f"a bundled model ({names}), a folder with a model, or the id of one on the hub"


def _weight_names(folder: Path) -> set[str]:
    if not (folder / INDEX).is_file():
        adapter = (folder / adapters.CONFIG).is_file() and not (folder / SINGLE).is_file()
        return {adapters.WEIGHTS if adapter else SINGLE}
    try:
        names = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
    except (ValueError, KeyError, AttributeError) as error:
        raise UserError(f"{folder / INDEX} is not an index of weights; fetch it anew.") from error
    return set(names)


def _fetch(name: str, revision: str | None, patterns: tuple[str, ...] | set[str]) -> Path:
    """Return the hub's snapshot of a model in the local cache, with the files named by patterns."""
    from huggingface_hub import errors, snapshot_download

    try:
        path = snapshot_download(
            name, revision=revision, allow_patterns=sorted(patterns), ignore_patterns=["*/*"]
        )
    except errors.GatedRepoError as error:
        raise UserError(
            f"{name} is gated: accept its terms on huggingface.co and run `hf auth login`."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise UserError(f"{name} has no revision {revision!r} on the hub; leave it out.") from error
    except (OSError, ValueError, errors.HfHubHTTPError) as error:
        raise UserError(
            f"There is no model {name} here, and the hub does not have it or cannot be reached "
            f"({type(error).__name__}); give {_choices()}."
        ) from error
    return Path(path)
