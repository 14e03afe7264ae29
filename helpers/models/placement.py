"""In what number format a model's weights are loaded, and on which devices.

8 bits are not offered: bitsandbytes rounds them by what else is in a batch, so that a
text has no score of its own.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from helpers import UserError, first_line_of_error
from helpers.io import files
from helpers.models import gpu

FOUR_BIT = "4bit"
PINNED_PACKAGES = {
    "accelerate": "accelerate==1.15.0",
    "bitsandbytes": "bitsandbytes==0.50.2",
}
# Share of a GPU's free memory that weights may take; the rest is for what is computed.
MEMORY_SHARE_OF_WEIGHTS = 0.8


@dataclass(frozen=True)
class Placement:
    """Where weights go and how."""

    device: torch.device  # where inputs go; all weights too, unless they are spread
    dtype: torch.dtype  # of the weights, or of what is computed with quantized ones
    quantization: str | None = None  # BITS
    spread: bool = False  # whether transformers chooses a device for each layer

    @property
    def settings(self) -> dict[str, Any]:
        """What ``from_pretrained`` is told of all this."""
        settings: dict[str, Any] = {"dtype": self.dtype}
        if self.spread:
            settings["device_map"] = "auto"
        if self.quantization:
            from transformers import BitsAndBytesConfig

            settings["quantization_config"] = BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_compute_dtype=self.dtype,
            )
            settings.setdefault("device_map", {"": str(self.device)})
        return settings


def choose_placement(
    name: str | Path, weights: tuple[Path, ...], device: str | None, dtype: str | None
) -> Placement:
    """Return where a model's weights go, and in what format."""
    where = gpu.choose_device(device)
    try:
        parameters = count_parameters(weights)
    except SafetensorError:  # a file that was cut: loading it says so
        parameters = 0
    number_format, bytes_per_weight = dtype_and_bytes_per_weight(
        name, where, dtype, parameters
    )
    quantization = None
    if dtype == FOUR_BIT:
        quantization = FOUR_BIT
        _require_packages(f"For {FOUR_BIT} weights,", "accelerate", "bitsandbytes")
    size = int(parameters * bytes_per_weight)
    free = gpu.device_memory(where).free
    free_text = gpu.format_gigabytes(free)
    size_text = gpu.format_gigabytes(size)
    may_spread = device is None and where.type == "cuda"
    if may_spread and size > MEMORY_SHARE_OF_WEIGHTS * free:
        _require_packages(
            f"The {size_text} of {name} do not fit into the {free_text} free on "
            f"{where}, and to spread them over all devices",
            "accelerate",
        )
        return Placement(where, number_format, quantization, spread=True)
    if size > free:
        raise UserError(no_room_message(name, where, free_text, size_text))
    return Placement(where, number_format, quantization)


def no_room_message(
    name: str | Path, where: torch.device, free: str, size: str = ""
) -> str:
    """Return the sentence on weights that a device's memory does not hold."""
    weights = f"The weights of {name}"
    if size:
        weights += f" ({size})"
    return (
        f"{weights} do not fit into the {free} of memory free on {where}; choose a "
        "smaller model, a shorter dtype (bfloat16), another device or a server."
    )


def dtype_and_bytes_per_weight(
    name: str | Path, where: torch.device, dtype: str | None, parameters: int
) -> tuple[torch.dtype, float]:
    """Return the format to compute in, and the bytes that a weight takes."""
    if dtype == FOUR_BIT:
        if where.type != "cuda":
            raise UserError(
                f"{FOUR_BIT} weights need a GPU, and {name} goes to {where}; leave the "
                "dtype out, or choose bfloat16."
            )
        return gpu.best_dtype(where, math.inf), 0.5
    if not dtype:
        default = gpu.best_dtype(where, parameters)
        return default, default.itemsize
    number_format = gpu.DTYPES.get(str(dtype).removeprefix("torch."))
    if number_format is None:
        known = ", ".join([*gpu.DTYPES, FOUR_BIT])
        raise UserError(f"The dtype {str(dtype)!r} is not known; give one of {known}.")
    return number_format, number_format.itemsize


@contextlib.contextmanager
def reraise_refused_weights(
    folder: Path, name: str | Path, place: Placement
) -> Iterator[None]:
    """Explain a loading error where memory or a quantised checkpoint is its cause."""
    try:
        yield
    # Whatever the files, or code that comes with them, run into.
    except Exception as error:
        if gpu.is_out_of_memory(error):
            free = gpu.format_gigabytes(gpu.device_memory(place.device).free)
            raise UserError(no_room_message(name, place.device, free)) from error
        config_file = folder / "config.json"
        config = files.parse_json(files.read_text(config_file), config_file)
        method = (config.get("quantization_config") or {}).get("quant_method")
        if method:
            raise UserError(
                f"The weights of {name} are already quantised ({method}), which cannot "
                f"be read on {place.device} here ({first_line_of_error(error)}); "
                "install what it names, or choose the model's unquantised weights."
            ) from error
        raise


def count_parameters(weights: tuple[Path, ...]) -> int:
    """Return how many numbers safetensors files hold, without reading them."""
    from safetensors import safe_open

    total = 0
    for file in weights:
        with safe_open(file, framework="pt") as opened:
            names = opened.keys()  # not a mapping: it cannot be iterated over
            total += sum(math.prod(opened.get_slice(key).get_shape()) for key in names)
    return total


def _require_packages(what: str, *packages: str) -> None:
    """Refuse to go on where packages are not installed."""
    missing = [PINNED_PACKAGES[name] for name in packages if find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        raise UserError(
            f"{what} {needed} must be installed (pip install {' '.join(missing)}); or "
            "choose a smaller model or format, or a server."
        )
