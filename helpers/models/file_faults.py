"""What is wrong with a model's files, told by its true cause, for every loader.

Files are looked at before a library reads them, for libraries blame what they were
doing: a pointer of Git LFS is to them a header that is too large.
"""

import contextlib
import errno
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers import UserError, first_line_of_error
from helpers.io import files

# A library that cannot write fails with one of these, whatever it was asked for.
ERRORS_OF_DISK = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EIO,
    errno.ENOSPC,
    errno.EPERM,
    errno.EROFS,
}
JSON_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "adapter_config.json",
    "model.safetensors.index.json",
)
LARGEST_HEADER = 100_000_000  # bytes, of a file of weights in safetensors
GENERATION_FILE = "generation_config.json"


def refuse_broken_files(folder: Path, name: str, patterns: Iterable[str]) -> None:
    """Refuse a folder of which a file is no plain file, a pointer, or no JSON.

    Parameters
    ----------
    folder : Path
    name : str
        What the user calls the model.
    patterns : iterable of str
        The files that are read; of JSON files, those that transformers reads.

    Raises
    ------
    UserError
        Naming the file and what is wrong with it.
    """
    found: set[Path] = set()
    for pattern in patterns:
        found.update(folder.glob(pattern))
    for file in sorted(found):
        files.refuse_unreadable_file(file)
        if file.name in JSON_FILES:
            _refuse_damaged_json(file, name)


def _refuse_damaged_json(file: Path, name: str) -> None:
    """Refuse a file of settings that is no JSON object."""
    remedy = "fetch or save it anew"
    try:
        settings = files.parse_json(files.read_text(file), "it")
    except UserError as error:
        raise UserError(
            f"The {file.name} of {name} is damaged ({first_line_of_error(error)}): "
            f"{remedy}."
        ) from error
    if not isinstance(settings, dict):
        raise UserError(
            f"The {file.name} of {name} holds no settings (a JSON object): {remedy}."
        )


def refuse_other_weights(file: Path) -> None:
    """Refuse a file that is no weights in its form, and say what it is.

    Parameters
    ----------
    file : Path
        In GGUF, if it is called so, and else in safetensors, whose first 8 bytes give
        the length of the header.

    Raises
    ------
    UserError
        Naming the file and what it is.
    """
    with file.open("rb") as stream:
        start = stream.read(files.LONGEST_MARK)
    if file.suffix.casefold() == ".gguf":
        form = "GGUF"
        is_right = start.startswith(b"GGUF")
    else:
        form = "safetensors"
        is_right = int.from_bytes(start[:8], "little") <= LARGEST_HEADER
    if not is_right:
        kind = files.other_kind(start) or "a text, or damaged"
        raise UserError(
            f"{file} is {kind}, and should hold weights in {form}: fetch it anew, or "
            "save the model again."
        )


def refuse_contradictions(folder: Path, name: str) -> None:
    """Refuse settings for writing that transformers would refuse with the weights.

    Parameters
    ----------
    folder : Path
        Of the model; without such settings nothing is refused.
    name : str
        As the user gave it.

    Raises
    ------
    UserError
        Naming the file and what it says.
    """
    if not (folder / GENERATION_FILE).is_file():
        return
    from transformers import GenerationConfig

    with reraise_true_cause(
        f"The {GENERATION_FILE} of {name} cannot be used",
        "mend what it says, or leave the file out",
    ):
        GenerationConfig.from_pretrained(folder)


@contextlib.contextmanager
def reraise_true_cause(what: str, remedy: str) -> Iterator[None]:
    """Make one sentence of a library's error, of a full or locked disk where it is so.

    Parameters
    ----------
    what : str
        What failed, if the disk is not to blame.
    remedy : str
        What helps then.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # of what libraries and trusted code run into, any
        on_disk = _error_of_disk(error)
        if on_disk is not None:
            place = on_disk.filename or "A file that the library needs"
            raise UserError(
                f"{place} cannot be read or written ({on_disk.strerror}): make room "
                "there or mend its permissions, then run again."
            ) from error
        cause = first_line_of_error(error)
        if isinstance(error, KeyError):  # whose text is but the name
            cause = f"there is no {cause}"
        raise UserError(f"{what} ({cause}): {remedy}.") from error


def _error_of_disk(error: BaseException | None) -> OSError | None:
    """Return the disk's error that an error came of, if one did."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in ERRORS_OF_DISK:
            return error
        error = error.__cause__ or error.__context__
    return None
