"""Which devices there are, and what a model needs of one, known from its configuration alone."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

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
REACHED_SHARE_OF_SPEED, SECONDS_BESIDES_PER_TOKEN = 0.5, 8e-5


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
        pack = gpu.format_gigabytes(self.activations + self.logits)
        room = f"the {gpu.format_gigabytes(self.free)} free"
        verdict = (
            f"It fits into {room}." if self.fits else f"It does not fit into {room}."
        )
        if self.spread and not self.fits:
            verdict += (
                " Its layers would be spread over all GPUs and the machine's memory."
            )
        return (
            f"{self.name}, {self.parameters:,} parameters, would run on {self.device} in "
            f"{self.format}: {gpu.format_gigabytes(self.weights)} of weights, and {pack} for a pack of "
            f"{self.pack:,} tokens (activations {gpu.format_gigabytes(self.activations)}, logits "
            f"{gpu.format_gigabytes(self.logits)}). {verdict}"
        )


def device_descriptions() -> list[str]:
    """Return a line on each device, and on what hides others."""
    cpu = gpu.device_memory(torch.device("cpu"))
    lines = [
        f"cpu: {gpu.format_gigabytes(cpu.free)} of {gpu.format_gigabytes(cpu.total)} free, float32"
    ]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for on in [torch.device("cuda", place) for place in range(count)]:
        room, formats = gpu.device_memory(on), ["float32", "float16"]
        with torch.cuda.device(on):
            formats += ["bfloat16"] * torch.cuda.is_bf16_supported(
                including_emulation=False
            )
        lines.append(
            f"{on}: {torch.cuda.get_device_name(on)}, {gpu.format_gigabytes(room.free)} of "
            f"{gpu.format_gigabytes(room.total)} free, {', '.join(formats)}"
        )
    if torch.backends.mps.is_available():
        lines.append(
            "mps: Apple's GPU, which shares the memory above, float32, float16"
        )
    lines += [
        f"{name}={os.environ[name]!r} hides GPUs"
        for name in DEVICE_HIDING_VARIABLES
        if name in os.environ
    ]
    driver = (
        first_line_of_error(NVIDIA_DRIVER_FILE.read_text())
        if NVIDIA_DRIVER_FILE.is_file()
        else "no NVIDIA driver"
    )
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
    built = f"ROCm {torch.version.hip}" if torch.version.hip else built
    return [*lines, f"torch {torch.__version__} with {built}; {driver}"]


def device_need_of_model(
    name: str, device: str | None = None, dtype: str | None = None
) -> DeviceNeed:
    """Return what a model needs; its weights need not be there, and none of its code runs."""
    if server_address.is_server_address(name):
        raise UserError(
            f"{name} is on a server, which has the memory; nothing is needed here."
        )
    folder = checkpoints.configuration_folder(name)
    if (folder / adapters.ADAPTER_CONFIG_FILE).is_file() and not (
        folder / "config.json"
    ).is_file():
        folder = checkpoints.configuration_folder(
            adapters.base_model_name(folder, name)
        )
    config = loading._config(folder, name, code=False)
    text = config.get_text_config(decoder=True)
    if (getattr(text, "num_hidden_layers", 0) or 0) > MOST_LAYERS:
        raise UserError(
            f"The config of {name} claims more than {MOST_LAYERS:,} layers; mend it."
        )
    auto = loading._kind(config, name)[1]
    build = getattr(auto, "from_config", None) or auto._from_config
    nothing = f"No model can be made of the config of {name}"
    with reraise_as_user_error(nothing, "fetch it anew"), torch.device("meta"):
        model = build(config)
    vocabulary, width = model.get_input_embeddings().weight.shape
    where = gpu.choose_device(device)
    number, share = placement.dtype_and_bytes_per_weight(
        name, where, dtype, model.num_parameters()
    )
    quantised = None  # bytes of a weight in a checkpoint that is already quantised
    if settings := getattr(config, "quantization_config", None):
        told = settings if isinstance(settings, dict) else settings.to_dict()
        bits = (
            4
            if told.get("load_in_4bit") or "fp4" in str(told.get("quant_method"))
            else 8
        )
        quantised = told.get("bits", bits) / 8
    weights = int(model.num_parameters() * (quantised or share))
    pack = gpu.pack_length_on_device(where, width, vocabulary, weights)
    each = gpu.bytes_per_token(width, vocabulary)
    shown = dtype if dtype == placement.FOUR_BIT else str(number).removeprefix("torch.")
    return DeviceNeed(
        name=str(name),
        device=where,
        format=f"{shown}, weights quantised in its files" if quantised else shown,
        number=number,
        parameters=model.num_parameters(),
        weights=weights,
        activations=pack * each["activations"],
        logits=pack * each["logits"],
        pack=pack,
        free=gpu.device_memory(where).free,
        spread=device is None and where.type == "cuda",
    )


def estimated_reading_seconds(
    parameters: int, tokens: int, on: torch.device, dtype: torch.dtype
) -> float:
    """Return about how long so many tokens take, by the speed of a matrix product there."""
    size, times = (1024 if on.type == "cpu" else 8192), 8
    square = torch.ones(size, size, device=on, dtype=dtype)
    float(
        (square @ square)[0, 0]
    )  # the first is slower; reading a number waits for the device
    start = perf_counter()
    for _ in range(times):
        product = square @ square
    float(product[0, 0])
    speed = times * 2 * size**3 / (perf_counter() - start)
    besides = 0.0 if on.type == "cpu" else SECONDS_BESIDES_PER_TOKEN
    return tokens * (2 * parameters / (REACHED_SHARE_OF_SPEED * speed) + besides)
