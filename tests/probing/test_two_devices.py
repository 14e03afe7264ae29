"""A model that lies on two devices scores and continues as on one, though this machine has one.

Each tensor is marked with the device that it would be on. Operations that mix them are
refused as torch refuses them, and what accelerate moves before and after a module is
moved by the same code.
"""

from dataclasses import replace
from functools import partial

import pytest
import torch
from accelerate.utils import send_to_device
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from helpers.models.tokens import Row
from helpers.probing.engine import (
    decoding,
    encoder,
    packed_continuations,
    packing,
    plain,
)
from helpers.probing.engine.decoding import ContinuationTask, StoppingRules
from tests import tiny_models

LATE = {name: ("model.layers.1", "model.norm") for name in ("llama", "gemma3")}
LATE["t5"] = ("decoder.block.1", "decoder.final_layer_norm")
RULES = StoppingRules(3, (), ())
moved = partial(send_to_device, skip_keys=["past_key_values"])
HOST, FIRST, SECOND = map(torch.device, ("cpu", "cpu:1", "cpu:2"))


def tensors(values) -> list[torch.Tensor]:
    return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]


def place(tensor: torch.Tensor) -> torch.device:
    return getattr(tensor, "place", HOST)


class Devices(TorchFunctionMode):
    """Follow the device of each tensor."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function == torch.Tensor.device.__get__:
            return place(args[0])
        kwargs = dict(kwargs or {})
        asked, name, given = (
            kwargs.pop("device", None),
            function.__name__,
            tensors((args, kwargs)),
        )
        if name in ("to", "cpu"):
            kwargs.pop("non_blocking", None)
            named = [each for each in args[1:] if isinstance(each, torch.device | str)]
            asked = asked or (HOST if name == "cpu" else [*named, place(args[0])][0])
            made = args[0].to(
                *(each for each in args[1:] if each not in named), **kwargs
            )
            made = made.view_as(made) if place(made) != asked else made
        else:
            index = name == "__getitem__" and all(
                place(each) == HOST for each in given[1:]
            )
            places = {
                place(each) for each in (given[:1] if index else given) if each.dim()
            }
            if asked is None and len(places) > 1:
                raise RuntimeError(f"{name}: tensors on {places}")
            asked = asked or next(iter(places), HOST)
            made = function(*args, **kwargs)
        for each in tensors(made):
            each.place = torch.device(asked)
        return made


def split(lm, late):
    """Put some of a model's modules, and its head, on the second device."""
    network, head = lm.model, lm.model.get_output_embeddings()
    head.weight = torch.nn.Parameter(
        head.weight.detach().clone()
    )  # it may be the embedding's
    for each in [*network.parameters(), *network.buffers()]:
        each.place = FIRST
    for part in (head, *map(network.get_submodule, late)):
        for each in [*part.parameters(), *part.buffers()]:
            each.place = SECOND
        for module in part.modules():
            module.register_forward_pre_hook(
                lambda _, args, kwargs: (moved(args, SECOND), moved(kwargs, SECOND)),
                with_kwargs=True,
            )
    network.register_forward_hook(lambda _, args, output: moved(output, FIRST))
    return replace(lm, device=FIRST)


def continued(lm, rows, kept):
    lm.trials.keeps_state = kept
    return decoding.continue_batch(
        lm, RULES, [ContinuationTask(row.ids, row.source, (5, 6)) for row in rows]
    )


def grown(lm, rows):
    return [
        *packed_continuations.continue_in_packs(
            lm,
            [ContinuationTask(row.ids, (), (5, 6)) for row in rows],
            512,
            rules=RULES,
        )
    ]


WAYS = {
    "plain": lambda lm, rows: [*plain.score_in_batches(lm, rows)],
    "packed": lambda lm, rows: [*packing.score_in_packs(lm, rows, 512)],
    "encoded": lambda lm, rows: [*encoder.score_by_source(lm, rows, 512)],
    "from its state": partial(continued, kept=True),
    "from the whole text": partial(continued, kept=False),
    "grown": grown,
}
EACH = [
    (f, w) for f in ("llama", "gemma3", "bloom", "gpt2") for w in WAYS if w != "encoded"
]
EACH += [
    ("gpt_neo", "packed"),
    ("t5", "plain"),
    ("t5", "encoded"),
    ("t5", "from its state"),
]


@pytest.mark.parametrize(("family", "way"), EACH)
def test_two_devices_give_what_one_gives(family, way):
    lm = tiny_models.tiny_language_model(family)
    rows = [Row.of_ids((*range(5, 13), a, b), 8) for a in (20, 21) for b in (30, 31)]
    if lm.kind == "seq2seq":
        rows = [Row.of_ids(row.ids, 1, (3, 4, 5)) for row in rows]
    wanted = WAYS[way](lm, rows)
    lm = split(lm, LATE.get(family, ("transformer.h.1", "transformer.ln_f")))
    with Devices():
        assert WAYS[way](lm, rows) == wanted
