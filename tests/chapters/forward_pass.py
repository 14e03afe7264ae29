"""What a saved answer must say, worked out by one plain forward pass of the model."""

import numpy as np
import torch


def check_logprobs(lm, row) -> None:
    """Assert that a row's logprobs are those of its continuation's tokens after its prompt."""
    ids = lm.tokenizer(row.prompt + row.continuation)["input_ids"]
    with torch.inference_mode():
        logs = lm.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    n = len(row.logprobs)
    expected = [logs[at - 1, ids[at]].item() for at in range(len(ids) - n, len(ids))]
    np.testing.assert_allclose(row.logprobs, expected, atol=1e-4)
