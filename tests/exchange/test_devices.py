"""What devices there are, and what a model needs of one, without its weights."""

import json
import shutil

import pytest
import torch

from helpers import UserError, cli, models
from helpers.exchange import devices
from helpers.models import gpu, loading, placement
from tests import tiny_models

GIB = 1 << 30


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def machine(monkeypatch):
    """Pretend to be a machine with such CUDA devices, (free, total) bytes of each."""

    def pretend(*rooms, bf16=True):
        places = {
            place: gpu.DeviceMemory(total, free)
            for place, (free, total) in enumerate(rooms)
        }
        real = gpu.device_memory
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(rooms))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(rooms))
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **settings: bf16)
        monkeypatch.setattr(
            torch.cuda, "get_device_name", lambda on: f"Card {on.index}"
        )
        monkeypatch.setattr(torch.cuda.device, "__enter__", lambda self: None)
        monkeypatch.setattr(torch.cuda.device, "__exit__", lambda self, *error: None)
        on_cpu = real(torch.device("cpu"))
        monkeypatch.setattr(
            gpu,
            "device_memory",
            lambda on: on_cpu if on.type == "cpu" else places[on.index or 0],
        )

    return pretend


def test_every_device_has_a_line_and_what_hides_others(machine, monkeypatch):
    machine((10 * GIB, 24 * GIB), (1 * GIB, 8 * GIB), bf16=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    cpu, first, second, *rest = devices.device_descriptions()
    assert cpu.startswith("cpu: ")
    assert first == "cuda:0: Card 0, 10.0 GiB of 24.0 GiB free, float32, float16"
    assert second.startswith("cuda:1: Card 1, 1.0 GiB of 8.0 GiB")
    assert any("CUDA_VISIBLE_DEVICES='0,3' hides" in line for line in rest)


@pytest.mark.parametrize("name", ["atlas-xs", "tiny"])
def test_a_config_alone_tells_what_loading_finds(name, saved, tmp_path):
    lm = models.load(saved if name == "tiny" else name, device="cpu")
    if name == "tiny":
        shutil.copy(saved / "config.json", tmp_path)
        name = str(tmp_path)
    need = devices.device_need_of_model(name, "cpu")
    assert (need.parameters, need.weights) == (lm.n_parameters, 4 * lm.n_parameters)
    assert (str(need.device), need.format, need.fits) == ("cpu", "float32", True)


@pytest.mark.parametrize(
    ("rooms", "device", "dtype", "on", "form", "fits", "spread"),
    [
        ([(8 * GIB, 8 * GIB)], None, None, "cuda", "float32", True, True),
        ([(1000, 8 * GIB)], None, None, "cuda", "float32", False, True),
        (
            [(1000, 8 * GIB), (GIB, GIB)],
            "cuda:1",
            "bfloat16",
            "cuda:1",
            "bfloat16",
            True,
            False,
        ),
        ([(8 * GIB, 8 * GIB)], "cpu", None, "cpu", "float32", True, False),
        ([(8 * GIB, 8 * GIB)], None, "4bit", "cuda", "4bit", True, True),
        ([], None, "bfloat16", "cpu", "bfloat16", True, False),
    ],
)
def test_where_and_in_what_format_a_model_would_run(
    machine, rooms, device, dtype, on, form, fits, spread
):
    machine(*rooms)
    need = devices.device_need_of_model("atlas-xs", device, dtype)
    assert (str(need.device), need.format, need.fits, need.spread) == (
        on,
        form,
        fits,
        spread,
    )
    size = {"float32": 4, "bfloat16": 2, "4bit": 0.5}[form]
    assert need.weights == int(size * need.parameters)
    assert ("spread over all GPUs" in str(need)) == (spread and not fits)


def test_a_model_of_any_size_is_told_at_once(tmp_path, machine):
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": 128256,
    }
    config |= {
        "hidden_size": 8192,
        "intermediate_size": 28672,
        "num_attention_heads": 64,
    }
    config |= {"num_hidden_layers": 80, "num_key_value_heads": 8}
    (tmp_path / "config.json").write_text(json.dumps(config))
    machine((80 * GIB, 80 * GIB))
    need = devices.device_need_of_model(str(tmp_path))
    assert (need.format, need.fits, need.spread) == ("bfloat16", False, True)
    assert need.parameters == 70_553_706_496  # as the model's card says
    assert need.logits == need.pack * 8 * 128256
    quantised = {"quantization_config": {"quant_method": "gptq", "bits": 4}}
    (tmp_path / "config.json").write_text(json.dumps(config | quantised))
    assert devices.device_need_of_model(str(tmp_path)).weights == need.parameters // 2
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"num_hidden_layers": 10**9})
    )
    with pytest.raises(UserError, match="claims more than 2,000 layers"):
        devices.device_need_of_model(str(tmp_path))


def test_the_command_prints_what_there_is_and_about_how_long(capsys, monkeypatch):
    monkeypatch.setattr(
        devices,
        "estimated_reading_seconds",
        lambda parameters, tokens, *on: tokens / 100,
    )
    assert cli.main(["devices", "atlas-xs", "--set", "tokens=5000"]) == 0
    assert (
        "Reading 5,000 tokens would take about 50 seconds." in capsys.readouterr().out
    )


def test_twice_the_tokens_take_twice_as_long(monkeypatch):
    clock = iter([0.0, 1.0, 0.0, 1.0])
    monkeypatch.setattr(devices, "perf_counter", lambda: next(clock))
    on = torch.device("cpu")
    once, twice = (
        devices.estimated_reading_seconds(10**6, n, on, torch.float32)
        for n in (1000, 2000)
    )
    assert (
        twice
        == 2 * once
        == pytest.approx(
            2 * 10**6 * 2000 / (devices.REACHED_SHARE_OF_SPEED * 16 * 1024**3)
        )
    )


def test_weights_that_no_memory_holds_are_refused_before_they_are_read(
    saved, monkeypatch
):
    monkeypatch.setattr(gpu, "device_memory", lambda on: gpu.DeviceMemory(GIB, 1000))
    with pytest.raises(
        UserError, match=r"do not fit into the 0.000 GiB .* free on cpu; choose"
    ):
        models.load(saved, device="cpu")


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (torch.OutOfMemoryError("CUDA"), True),
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), True),
        (OSError("Cannot allocate memory (os error 12)"), True),
        (RuntimeError("shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_each_device_says_in_its_own_way_that_memory_lacks(error, is_one, saved):
    assert gpu.is_out_of_memory(error) == is_one
    place = placement.Placement(torch.device("cpu"), torch.float32)
    with pytest.MonkeyPatch.context() as patch:
        stub = type(
            "Auto",
            (),
            {"from_pretrained": lambda *a, **k: (_ for _ in ()).throw(error)},
        )
        patch.setattr(placement, "count_parameters", lambda weights: 1)
        with pytest.raises(UserError) as said:
            loading._model_and_report(saved, "m", stub(), place, False)
    assert ("do not fit" in str(said.value)) == is_one


def test_limits_of_a_container_count(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    monkeypatch.setattr(gpu, "CONTAINER_FOLDER", tmp_path)
    assert gpu.device_memory(torch.device("cpu")).free == 4000
