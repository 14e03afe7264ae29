"""What only a real GPU shows; left out where there is none."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import torch

from bench import workloads
from helpers import models, probing
from helpers.exchange import devices
from helpers.probing import engine

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.fixture(scope="module")
def asked():
    """Return lists of pairs with choices, and their log-probabilities on the CPU."""
    lm = models.load("atlas-m", device="cpu")
    probes = workloads.list_probes(lm, workloads.ListShape(subjects=40, tokens=(1, 9)))
    return probes, scored(lm, probes)


def scored(lm: models.LanguageModel, probes: pd.DataFrame) -> np.ndarray:
    return np.concatenate(
        probing.score(lm, probes, progress=False)["logprobs"].to_list()
    )


def apart(lm: models.LanguageModel, asked: tuple) -> float:
    return np.abs(scored(lm, asked[0]) - asked[1]).max()


@pytest.fixture
def held():
    """Let this process have so many bytes more; the whole GPU again afterwards."""
    total = torch.cuda.mem_get_info()[1]

    def limit(more: int) -> None:
        torch.cuda.empty_cache()
        share = (torch.cuda.memory_allocated() + more) / total
        torch.cuda.set_per_process_memory_fraction(share)

    yield limit
    torch.cuda.set_per_process_memory_fraction(1.0)


def test_small_models_give_what_they_give_on_a_cpu(asked):
    lm = models.load("atlas-m")
    assert (lm.device.type, lm.dtype) == ("cuda", torch.float32)
    assert probing.scoring_method(lm)["method"] == "packed"
    assert apart(lm, asked) < 5e-4
    assert apart(models.load("atlas-m", dtype="bfloat16"), asked) > 5e-3


def test_packs_that_the_memory_does_not_hold_are_halved(asked, held, caplog):
    caplog.set_level("INFO")
    lm = models.load("atlas-m")
    engine.scorer_of_model(lm)
    held(150 << 20)
    assert apart(lm, asked) < 5e-4
    assert "do not fit; half goes on" in caplog.text


def test_what_is_told_beforehand_holds_what_is_taken(asked):
    told, lm = devices.device_need_of_model("atlas-m"), models.load("atlas-m")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    scored(lm, asked[0])
    taken = torch.cuda.max_memory_allocated() - before
    assert told.fits
    assert taken < told.activations + told.logits < 10 * taken


@pytest.mark.skipif(
    find_spec("bitsandbytes") is None, reason="bitsandbytes is an extra"
)
def test_four_bits_a_weight_give_nearly_the_same(asked):
    lm = models.load("atlas-m", dtype="4bit")
    assert (lm.quantization, lm.dtype) == ("4bit", torch.bfloat16)
    both = np.corrcoef(scored(lm, asked[0]), asked[1])[0, 1]
    assert 0.9 < both < 1
