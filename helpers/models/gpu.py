"""What device, number format and memory this machine offers a model."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from helpers import UserError, reraise_as_user_error

# Logits of a large vocabulary in large pages of memory, of which the system clears
# fewer (Linux). Read once, when the process makes its first tensor.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
# Up to so many parameters a GPU too computes in float32, so that all devices give the
# same numbers: bfloat16 moves a log-probability of the bundled models by up to 1.4, and
# a measure by two points.
SMALL_MODEL_PARAMETERS = 10**9
MEMORY_FILE = Path("/proc/meminfo")
PROCESS_MEMORY_FILE = Path("/proc/self/statm")
CONTAINER_FOLDER = Path("/sys/fs/cgroup")
MOST_LOGITS = 1 << 27  # the most numbers of one batch's logits
NO_ROOM_MESSAGE = (
    "A single prompt does not fit into the memory of the device; choose a smaller "
    "model, a shorter dtype (bfloat16) or another device."
)


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of memory of one device: `total`, and `free` at the moment of asking."""

    total: int
    free: int


def choose_device(name: str | torch.device | None = None) -> torch.device:
    """Return the device to compute on: the one asked for, else cuda, mps or cpu."""
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(
            f"{name!r} is not a device; give 'cpu', 'cuda', 'cuda:0' or 'mps', or "
            "leave it out."
        ) from error
    if not _present(device):
        raise UserError(
            f"The device {str(name)!r} was asked for, but this machine has no such "
            f"device that torch {torch.__version__} can use; leave the device out or "
            "give 'cpu'."
        )
    return device


def best_dtype(on: torch.device, parameters: float) -> torch.dtype:
    """Return float32 on a CPU or for a small model, else bfloat16 or float16."""
    if on.type == "cpu" or parameters <= SMALL_MODEL_PARAMETERS:
        return torch.float32
    if on.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16


def device_memory(on: torch.device) -> DeviceMemory:
    """Return the memory of a device, the machine's own for a CPU."""
    if on.type == "cuda":
        failure = f"The device {on} does not answer"
        remedy = "mend its driver, or give device=cpu"
        with reraise_as_user_error(failure, remedy, RuntimeError):
            free, total = torch.cuda.mem_get_info(on)
        return DeviceMemory(total, free)
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    available = _available_memory()
    if available is None:
        available = total // 2
    free = min(available, *_memory_limits())
    return DeviceMemory(total, max(0, free))


def _available_memory() -> int | None:
    """Return the machine's free bytes; None where the system does not list them."""
    if not MEMORY_FILE.is_file():
        return None
    entries = dict(line.split(":", 1) for line in MEMORY_FILE.read_text().splitlines())
    if "MemAvailable" not in entries:
        return None
    kilobytes = entries["MemAvailable"].split()[0]
    return 1024 * int(kilobytes)


def format_gigabytes(size: int) -> str:
    """Return a size as people read it.

    >>> format_gigabytes(3 << 29), format_gigabytes(5 << 20)
    ('1.5 GiB', '0.005 GiB')
    """
    decimals = 1 if size >= 2**30 else 3
    return f"{size / 2**30:.{decimals}f} GiB"


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error is a lack of memory, whatever the device calls it."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    if not isinstance(error, RuntimeError | OSError):
        return False
    message = str(error).lower()
    phrases = ("out of memory", "allocate memory", "enough memory")
    return any(phrase in message for phrase in phrases)


def tokens_per_batch(on: torch.device) -> int:
    """Return how many tokens, padding included, a forward pass should hold."""
    return 2048 if on.type == "cpu" else 16384


def bytes_per_token(width: int, vocabulary: int) -> dict[str, int]:
    """Return a pack token's bytes: activations with its mask row, and logits."""
    return {"activations": 4 * 40 * width + 2 * 8192, "logits": 8 * vocabulary}


def pack_length_on_device(
    on: torch.device, width: int, vocabulary: int, weights: int = 0
) -> int:
    """Return the tokens of a pack: 512 on a CPU, a quarter of a GPU's free memory."""
    length = 512
    if on.type != "cpu":
        token_bytes = sum(bytes_per_token(width, vocabulary).values())
        n_tokens = (device_memory(on).free - weights) // 4 // token_bytes
        length = min(8192, max(512, n_tokens // 512 * 512))
    return max(1, min(length, 4 * MOST_LOGITS // vocabulary))


def half_pack_length(length: int) -> int:
    """Return half of a pack's length, for a device that did not hold the whole."""
    if length < 2:
        raise UserError(NO_ROOM_MESSAGE)
    return length // 2


def run_in_halves(run: Callable[[list], list], batch: list) -> list:
    """Return a function's results for a batch, in halves where memory is short.

    >>> run_in_halves(lambda numbers: [2 * n for n in numbers], [1, 2, 3])
    [2, 4, 6]
    """
    try:
        return run(batch)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise UserError(NO_ROOM_MESSAGE) from error
    # Outside the except clause, where the failed attempt's tensors are let go.
    middle = len(batch) // 2
    return run_in_halves(run, batch[:middle]) + run_in_halves(run, batch[middle:])


def _memory_limits() -> list[int]:
    """Return the bytes left of this process's limits (ulimit) and its container's."""
    limits = [1 << 62]
    if PROCESS_MEMORY_FILE.is_file():
        import resource  # Linux has it wherever it has this file

        soft_limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft_limit != resource.RLIM_INFINITY:
            n_pages = int(PROCESS_MEMORY_FILE.read_text().split()[0])
            limits.append(soft_limit - resource.getpagesize() * n_pages)
    limit_file = CONTAINER_FOLDER / "memory.max"
    if limit_file.is_file():
        container_limit = limit_file.read_text().strip()
        if container_limit.isdecimal():
            used = int((CONTAINER_FOLDER / "memory.current").read_text())
            limits.append(int(container_limit) - used)
    return limits


def _present(device: torch.device) -> bool:
    """Return whether this machine has a device."""
    if device.type == "cuda":
        index = device.index or 0
        return torch.cuda.is_available() and index < torch.cuda.device_count()
    if device.type == "mps":
        return torch.backends.mps.is_available()
    return device.type == "cpu"
