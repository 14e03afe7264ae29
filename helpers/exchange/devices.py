"""Which devices there are, and what a model needs of one, known from its configuration alone."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import torch

from helpers import UserError, explained, first_line
from helpers.models import (
    adapters,
    checkpoints,
    gpu,
    loading,
    placement,
    server_address,
)

HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
DRIVER = Path("/proc/driver/nvidia/version")
# Layers beyond any published model's: a configuration that claims more would be built
# for hours.
LAYERS = 2000
# Share of a matrix product's speed that reading prompts reaches, and the seconds that a
# token takes besides on a GPU, of the processor; as measured with models of 6 and 1,600
# million parameters.
REACHED, BESIDES = 0.5, 8e-5


@dataclass(frozen=True)
class Need:
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
        pack = gpu.gigabytes(self.activations + self.logits)
        room = f"the {gpu.gigabytes(self.free)} free"
        verdict = (
            f"It fits into {room}." if self.fits else f"It does not fit into {room}."
        )
        if self.spread and not self.fits:
            verdict += (
                " Its layers would be spread over all GPUs and the machine's memory."
            )
        return (
            f"{self.name}, {self.parameters:,} parameters, would run on {self.device} in "
            f"{self.format}: {gpu.gigabytes(self.weights)} of weights, and {pack} for a pack of "
            f"{self.pack:,} tokens (activations {gpu.gigabytes(self.activations)}, logits "
            f"{gpu.gigabytes(self.logits)}). {verdict}"
        )


def found() -> list[str]:
    """Return a line on each device, and on what hides others."""
    cpu = gpu.memory(torch.device("cpu"))
    lines = [
        f"cpu: {gpu.gigabytes(cpu.free)} of {gpu.gigabytes(cpu.total)} free, float32"
    ]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for on in [torch.device("cuda", place) for place in range(count)]:
        room, formats = gpu.memory(on), ["float32", "float16"]
        with torch.cuda.device(on):
            formats += ["bfloat16"] * torch.cuda.is_bf16_supported(
                including_emulation=False
            )
        lines.append(
            f"{on}: {torch.cuda.get_device_name(on)}, {gpu.gigabytes(room.free)} of "
            f"{gpu.gigabytes(room.total)} free, {', '.join(formats)}"
        )
    if torch.backends.mps.is_available():
        lines.append(
            "mps: Apple's GPU, which shares the memory above, float32, float16"
        )
    lines += [
        f"{name}={os.environ[name]!r} hides GPUs"
        for name in HIDING
        if name in os.environ
    ]
    driver = first_line(DRIVER.read_text()) if DRIVER.is_file() else "no NVIDIA driver"
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
    built = f"ROCm {torch.version.hip}" if torch.version.hip else built
    return [*lines, f"torch {torch.__version__} with {built}; {driver}"]


def need(name: str, device: str | None = None, dtype: str | None = None) -> Need:
    """Return what a model needs; its weights need not be there, and none of its code runs."""
    if server_address.is_address(name):
        raise UserError(
            f"{name} is on a server, which has the memory; nothing is needed here."
        )
    folder = checkpoints.small_files(name)
    if (folder / adapters.CONFIG).is_file() and not (folder / "config.json").is_file():
        folder = checkpoints.small_files(adapters.base(folder, name))
    config = loading._config(folder, name, code=False)
    text = config.get_text_config(decoder=True)
    if (getattr(text, "num_hidden_layers", 0) or 0) > LAYERS:
        raise UserError(
            f"The config of {name} claims more than {LAYERS:,} layers; mend it."
        )
    auto = loading._kind(config, name)[1]
    build = getattr(auto, "from_config", None) or auto._from_config
    nothing = f"No model can be made of the config of {name}"
    with explained(nothing, "fetch it anew"), torch.device("meta"):
        model = build(config)
    vocabulary, width = model.get_input_embeddings().weight.shape
    where = gpu.device(device)
    number, share = placement.number_format(name, where, dtype, model.num_parameters())
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
    pack = gpu.pack_length(where, width, vocabulary, weights)
    each = gpu.bytes_of_token(width, vocabulary)
    shown = dtype if dtype == placement.BITS else str(number).removeprefix("torch.")
    return Need(
        name=str(name),
        device=where,
        format=f"{shown}, weights quantised in its files" if quantised else shown,
        number=number,
        parameters=model.num_parameters(),
        weights=weights,
        activations=pack * each["activations"],
        logits=pack * each["logits"],
        pack=pack,
        free=gpu.memory(where).free,
        spread=device is None and where.type == "cuda",
    )


def seconds(
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
    besides = 0.0 if on.type == "cpu" else BESIDES
    return tokens * (2 * parameters / (REACHED * speed) + besides)
