"""What device, number format and memory this machine offers a model."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch

from helpers import UserError

# Logits of a large vocabulary in large pages of memory, of which the system clears fewer (Linux).
# Read once, when the process makes its first tensor.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
NO_ROOM = (
    "A single prompt does not fit into the memory of the device; choose a smaller model, a "
    "shorter dtype (bfloat16) or another device."
)


@dataclass(frozen=True)
class Memory:
    """Bytes of memory of one device: `total`, and `free` at the moment of asking."""

    total: int
    free: int


def device(name: str | torch.device | None = None) -> torch.device:
    """Return the device to compute on: the one asked for, else cuda, mps or cpu, in this order."""
    if name is None:
        return torch.device(_best())
    try:
        wanted = torch.device(name)
    except RuntimeError as error:
        raise UserError(
            f"{name!r} is not a device; give 'cpu', 'cuda', 'cuda:0' or 'mps', or leave it out."
        ) from error
    if not _present(wanted):
        raise UserError(
            f"The device {str(name)!r} was asked for, but this machine has no such device that "
            f"torch {torch.__version__} can use; leave the device out or give 'cpu'."
        )
    return wanted


def dtype(name: str | torch.dtype | None, on: torch.device) -> torch.dtype:
    """Return the number format for weights: the one asked for, else what suits the device.

    Float32 on the CPU, where it is exact and no slower; on a GPU bfloat16, or float16 without it.

    >>> dtype(None, torch.device("cpu"))
    torch.float32
    >>> dtype("bfloat16", torch.device("cpu"))
    torch.bfloat16
    """
    if name is None:
        return _best_dtype(on)
    text = str(name).removeprefix("torch.")
    if text not in DTYPES:
        raise UserError(f"The dtype {text!r} is not known; give one of {', '.join(DTYPES)}.")
    return DTYPES[text]


def memory(on: torch.device) -> Memory:
    """Return the memory of a device, the machine's own for a CPU."""
    if on.type == "cuda":
        free, total = torch.cuda.mem_get_info(on)
        return Memory(total, free)
    page = os.sysconf("SC_PAGE_SIZE")
    total = page * os.sysconf("SC_PHYS_PAGES")
    # macOS does not count its free pages here; half of the whole is a careful guess.
    known = "SC_AVPHYS_PAGES" in os.sysconf_names
    return Memory(total, page * os.sysconf("SC_AVPHYS_PAGES") if known else total // 2)


def tokens_per_batch(on: torch.device) -> int:
    """Return how many tokens, padding included, one forward pass should hold on a device."""
    return 2048 if on.type == "cpu" else 16384


def pack_length(on: torch.device, width: int, vocabulary: int) -> int:
    """Return how many tokens a pack (`helpers.probing`) should hold on a device.

    On a CPU 512: longer packs gain nothing, for attention within a pack grows with its square. On
    a GPU as many as a quarter of the free memory holds, 512 to 8192: for each token its logits
    (read once more in float32), some forty activations as wide as the model, and a row of the
    mask.

    >>> pack_length(torch.device("cpu"), 768, 50257)
    512
    """
    if on.type == "cpu":
        return 512
    token = 8 * vocabulary + 4 * 40 * width + 2 * 8192
    return min(8192, max(512, memory(on).free // 4 // token // 512 * 512))


def halved(length: int) -> int:
    """Return half of a pack's length, for a device whose memory did not hold the whole."""
    if length < 2:
        raise UserError(NO_ROOM)
    return length // 2


def in_halves(run: Callable[[list], list], batch: list) -> list:
    """Return what a function gives for a batch, in halves where the memory does not hold it.

    >>> in_halves(lambda numbers: [2 * n for n in numbers], [1, 2, 3])
    [2, 4, 6]
    """
    try:
        return run(batch)
    except torch.OutOfMemoryError as error:
        if len(batch) == 1:
            raise UserError(NO_ROOM) from error
    # Outside the except clause, where the failed attempt's tensors are let go.
    middle = len(batch) // 2
    return in_halves(run, batch[:middle]) + in_halves(run, batch[middle:])


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _present(wanted: torch.device) -> bool:
    if wanted.type == "cuda":
        return torch.cuda.is_available() and (wanted.index or 0) < torch.cuda.device_count()
    if wanted.type == "mps":
        return torch.backends.mps.is_available()
    return wanted.type == "cpu"


def _best_dtype(on: torch.device) -> torch.dtype:
    if on.type == "cpu":
        return torch.float32
    if on.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16
