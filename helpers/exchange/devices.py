"""Which devices there are, and what a model needs of one, by its configuration."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import torch

from helpers import UserError, first_line_of_error, reraise_as_user_error
from helpers.models import (
    adapters,
    checkpoints,
    gpu,
    loading,
    placement,
    server_address,
)

if TYPE_CHECKING:  # slow to import
    from transformers import PretrainedConfig, PreTrainedModel

DEVICE_HIDING_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
)
NVIDIA_DRIVER_FILE = Path("/proc/driver/nvidia/version")
# Layers beyond any published model's: a configuration that claims more would be built
# for hours.
MOST_LAYERS = 2000
# Share of a matrix product's speed that reading prompts reaches, and the seconds that a
# token takes besides on a GPU, of the processor; as measured with models of 6 and 1,600
# million parameters.
REACHED_SHARE_OF_SPEED = 0.5
SECONDS_BESIDES_PER_TOKEN = 8e-5
N_PRODUCTS = 8  # that are timed


@dataclass(frozen=True)
class DeviceNeed:
    """What a model takes of the device that it would run on; memory in bytes."""

    name: str
    device: torch.device
    format: str
    number: torch.dtype  # of what is computed
    parameters: int
    weights: int
    activations: int
    logits: int
    pack: int  # tokens
    free: int
    spread: bool  # whether layers may go to other devices too

    @property
    def fits(self) -> bool:
        """Whether the device's free memory holds all of it at once."""
        return self.weights + self.activations + self.logits <= self.free

    def __str__(self) -> str:
        weights = gpu.format_gigabytes(self.weights)
        activations = gpu.format_gigabytes(self.activations)
        logits = gpu.format_gigabytes(self.logits)
        pack = gpu.format_gigabytes(self.activations + self.logits)
        room = f"the {gpu.format_gigabytes(self.free)} free"
        if self.fits:
            verdict = f"It fits into {room}."
        else:
            verdict = f"It does not fit into {room}."
            if self.spread:
                verdict += (
                    " Its layers would be spread over all GPUs and the machine's "
                    "memory."
                )
        return (
            f"{self.name}, {self.parameters:,} parameters, would run on {self.device} "
            f"in {self.format}: {weights} of weights, and {pack} for a pack of "
            f"{self.pack:,} tokens (activations {activations}, logits {logits}). "
            f"{verdict}"
        )


def device_descriptions() -> list[str]:
    """Return a line on each device, and on what hides others."""
    cpu = torch.device("cpu")
    lines = [f"cpu: {_memory_description(cpu)}, float32"]
    if torch.cuda.is_available():
        for place in range(torch.cuda.device_count()):
            lines.append(_gpu_description(torch.device("cuda", place)))
    if torch.backends.mps.is_available():
        lines.append(
            "mps: Apple's GPU, which shares the memory above, float32, float16"
        )
    for name in DEVICE_HIDING_VARIABLES:
        if name in os.environ:
            lines.append(f"{name}={os.environ[name]!r} hides GPUs")
    lines.append(_software_description())
    return lines


def _memory_description(device: torch.device) -> str:
    """Return how much of a device's memory is free."""
    memory = gpu.device_memory(device)
    free = gpu.format_gigabytes(memory.free)
    return f"{free} of {gpu.format_gigabytes(memory.total)} free"


def _gpu_description(device: torch.device) -> str:
    """Return a line on a CUDA device, with the number formats that it computes in."""
    memory = _memory_description(device)
    formats = ["float32", "float16"]
    with torch.cuda.device(device):
        if torch.cuda.is_bf16_supported(including_emulation=False):
            formats.append("bfloat16")
    name = torch.cuda.get_device_name(device)
    return f"{device}: {name}, {memory}, {', '.join(formats)}"


def _software_description() -> str:
    """Return the version of torch, what it was built for, and the driver."""
    driver = "no NVIDIA driver"
    if NVIDIA_DRIVER_FILE.is_file():
        text = NVIDIA_DRIVER_FILE.read_text()
        driver = first_line_of_error(text)
    built = "no CUDA"
    if torch.version.hip:
        built = f"ROCm {torch.version.hip}"
    elif torch.version.cuda:
        built = f"CUDA {torch.version.cuda}"
    return f"torch {torch.__version__} with {built}; {driver}"


def device_need_of_model(
    name: str, device: str | None = None, dtype: str | None = None
) -> DeviceNeed:
    """Return what a model needs, without its weights and without running its code."""
    if server_address.is_server_address(name):
        raise UserError(
            f"{name} is on a server, which has the memory; nothing is needed here."
        )
    config = _model_config(name)
    model = _model_without_weights(config, name)
    n_parameters = model.num_parameters()
    # To torch, a module's attribute may be a module; an embedding's weight is none.
    weight = model.get_input_embeddings().weight
    vocabulary, width = weight.shape  # type: ignore[misc]
    place = gpu.choose_device(device)
    number, bytes_per_weight = placement.dtype_and_bytes_per_weight(
        name, place, dtype, n_parameters
    )
    number_format = str(number).removeprefix("torch.")
    if dtype == placement.FOUR_BIT:
        number_format = dtype
    quantised = _bytes_per_quantised_weight(config)
    if quantised:
        bytes_per_weight = quantised
        number_format += ", weights quantised in its files"
    weights = int(n_parameters * bytes_per_weight)
    pack = gpu.pack_length_on_device(place, width, vocabulary, weights)
    bytes_per_token = gpu.bytes_per_token(width, vocabulary)
    return DeviceNeed(
        name=str(name),
        device=place,
        format=number_format,
        number=number,
        parameters=n_parameters,
        weights=weights,
        activations=pack * bytes_per_token["activations"],
        logits=pack * bytes_per_token["logits"],
        pack=pack,
        free=gpu.device_memory(place).free,
        spread=device is None and place.type == "cuda",
    )


def _model_config(name: str) -> "PretrainedConfig":
    """Return the configuration of a model, of an adapter that of its base."""
    folder = checkpoints.configuration_folder(name)
    has_config = (folder / "config.json").is_file()
    if (folder / adapters.ADAPTER_CONFIG_FILE).is_file() and not has_config:
        base = adapters.base_model_name(folder, name)
        folder = checkpoints.configuration_folder(base)
    config = loading.read_config(folder, name, code=False)
    text_config = config.get_text_config(decoder=True)
    if (getattr(text_config, "num_hidden_layers", 0) or 0) > MOST_LAYERS:
        raise UserError(
            f"The config of {name} claims more than {MOST_LAYERS:,} layers; mend it."
        )
    return config


def _model_without_weights(config: "PretrainedConfig", name: str) -> "PreTrainedModel":
    """Return a model whose parameters have shapes, but take no memory."""
    _, model_class = loading.model_kind_and_class(config, name)
    build = getattr(model_class, "from_config", None) or model_class._from_config
    nothing = f"No model can be made of the config of {name}"
    with reraise_as_user_error(nothing, "fetch it anew"), torch.device("meta"):
        return build(config)


def _bytes_per_quantised_weight(config: "PretrainedConfig") -> float | None:
    """Return the bytes of a weight in a checkpoint that is already quantised."""
    quantisation = getattr(config, "quantization_config", None)
    if not quantisation:
        return None
    if not isinstance(quantisation, dict):
        quantisation = quantisation.to_dict()
    method = str(quantisation.get("quant_method"))
    bits = 8
    if quantisation.get("load_in_4bit") or "fp4" in method:
        bits = 4
    return quantisation.get("bits", bits) / 8


def estimated_reading_seconds(
    parameters: int, tokens: int, on: torch.device, dtype: torch.dtype
) -> float:
    """Return about how long so many tokens take, by the speed of a matrix product."""
    size = 1024 if on.type == "cpu" else 8192
    square = torch.ones(size, size, device=on, dtype=dtype)
    product = square @ square  # the first is slower
    float(product[0, 0])  # reading a number waits for the device
    start = perf_counter()
    for _ in range(N_PRODUCTS):
        product = square @ square
    float(product[0, 0])
    speed = N_PRODUCTS * 2 * size**3 / (perf_counter() - start)
    besides = 0.0 if on.type == "cpu" else SECONDS_BESIDES_PER_TOKEN
    return tokens * (2 * parameters / (REACHED_SHARE_OF_SPEED * speed) + besides)
