"""The benchmark at a tiny size, its results file, and the page that shows it."""

import json
import re
import time
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch

from bench import (
    figures,
    growth,
    published_procedure,
    scoring_costs,
    scoring_methods,
    scoring_times,
    workloads,
)
from bench.workloads import ListShape

TINY = {"n_layer": 2, "n_embd": 32, "n_head": 2, "n_positions": 256, "vocab_size": 1500}
SMALL = ListShape(subjects=3, choices=6, examples=4)


@cache
def model():
    made = workloads.random_model(**TINY)
    with torch.no_grad():
        for weight in made.model.parameters():
            if weight.ndim > 1:
                weight.mul_(4)  # else all words are as good as equally probable
    return made


@cache
def probes():
    return workloads.list_probes(model(), SMALL)


@cache
def results():
    return json.loads(scoring_times.RESULTS_FILE.read_text(encoding="utf-8"))


def one_by_one(probes) -> list[list[float]]:
    """Return the scores from one forward a text, tokenised here and nowhere else."""
    found = []
    for prompt, said in zip(probes["prompt"], probes["continuation"]):
        start = len(model().tokenizer(prompt)["input_ids"])
        ids = model().tokenizer(prompt + said)["input_ids"]
        with torch.no_grad():
            chances = (
                model().model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
            )
        found.append([chances[at - 1, ids[at]].item() for at in range(start, len(ids))])
    return found


def test_a_list_has_the_asked_shape_and_does_not_show_its_answers():
    table, told = probes(), workloads.workload_description(model(), probes())
    assert len(table) == 18
    assert table.groupby("item")["continuation"].nunique().tolist() == [6, 6, 6]
    assert table.groupby("item")["correct"].sum().tolist() == [1, 1, 1]
    assert (told["subjects"], told["choices"], told["examples"]) == (3, 6, 4)
    assert 3 <= told["choice_tokens"] <= 4
    assert len({prompt.rpartition("\n")[0] for prompt in table["prompt"]}) == 1
    for prompt, subject in zip(table["prompt"], table["item"]):
        *pairs, asked = prompt.splitlines()
        assert "\n".join(pairs).count(" -> ") == 4
        assert not any(pair.startswith(asked) for pair in pairs), subject
    assert workloads.list_probes(model(), SMALL).equals(table)
    assert not workloads.list_probes(model(), SMALL, seed=1).equals(table)


@pytest.mark.parametrize(
    "run",
    [
        scoring_methods.helpers_scores,
        scoring_methods.plain_batch_scores,
        scoring_methods.full_logits_scores,
        scoring_methods.cached_prefix_scores,
    ],
)
def test_each_way_scores_as_one_text_at_a_time(run):
    expected = one_by_one(probes())
    assert (
        scoring_methods.largest_score_difference(run(model(), probes()), expected)
        <= 1e-5
    )
    assert np.ptp([sum(values) for values in expected]) > 1
    assert (
        scoring_methods.largest_score_difference([[-1.0, -2.0]], [[-1.0, -2.5]]) == 0.5
    )
    assert scoring_methods.largest_score_difference([[-1.0, -2.0]], [[-3.25]]) == 0.25


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_batch_does_not_matter(size):
    found = scoring_methods.cached_prefix_scores(model(), probes(), size)
    assert (
        scoring_methods.largest_score_difference(
            found, scoring_methods.full_logits_scores(model(), probes(), size)
        )
        <= 1e-5
    )


def length() -> int:
    """Return how many tokens all texts have."""
    texts = (probes()["prompt"] + probes()["continuation"]).tolist()
    return sum(map(len, model().tokenizer(texts)["input_ids"]))


def test_work_is_counted_inside_the_model():
    with scoring_costs.count_work(model()) as work:
        scoring_methods.full_logits_scores(model(), probes(), size=1)
    assert work.tokens == work.head_rows == length()
    scoring_methods.helpers_scores(
        model(), probes()
    )  # a model is tried once, before its first scores
    with scoring_costs.count_work(model()) as less:
        scoring_methods.helpers_scores(model(), probes())
    assert less.tokens <= work.tokens


def test_seconds_in_the_network_are_told_from_those_of_the_host():
    wait = model().model.transformer.register_forward_pre_hook(
        lambda *_: time.sleep(0.02)
    )
    with scoring_costs.count_work(model()) as work, torch.no_grad():
        start = time.perf_counter()
        for _ in range(3):
            time.sleep(0.01)
            model().model(torch.tensor([[1, 2]]))
        seconds = time.perf_counter() - start
    wait.remove()
    assert 0.06 <= work.network_seconds <= seconds - 0.03


@pytest.mark.parametrize("grows", growth.SMALLEST)
def test_costs_of_what_grows(grows, monkeypatch):
    monkeypatch.setattr(workloads, "random_model", model)
    monkeypatch.setattr(growth, "LIST_SHAPE", SMALL)
    costs = growth.costs_of_sizes(growth.RANDOM_MODEL, [2, 1], grows)
    smallest = growth.SMALLEST[grows]
    assert [cost["size"] for cost in costs] == [smallest, 2 * smallest]
    assert all(cost[name] > 0 for cost in costs for name in growth.COSTS)
    assert costs[0]["peak_mib"] <= costs[1]["peak_mib"]


def test_exponents_are_powers_of_the_size():
    rows = [("facts", 2, 1.0, 5.0, 9.0), ("facts", 8, 4.0, 80.0, 9.0)]
    costs = pd.DataFrame(rows, columns=["grows", "size", *growth.COSTS])
    assert growth.exponents(costs).loc["facts"].tolist() == pytest.approx([1, 2, 0])


def test_operations_are_those_of_the_weights_and_of_attention():
    # Two blocks of 12 * 32 * 32 weights and a head of 1500 * 32, two operations a
    # weight; for each pair of tokens two products of 32 channels in each block.
    work = scoring_costs.ModelWork(tokens=10, head_rows=3, pairs=7)
    weights = 2 * (2 * 12 * 32 * 32 * 10 + 1500 * 32 * 3)
    assert scoring_costs.matrix_operations(model(), work, attention=False) == weights
    assert (
        scoring_costs.matrix_operations(model(), work) == weights + 2 * 2 * 2 * 32 * 7
    )
    assert scoring_costs.peak_operations_per_second(model(), rows=8, repeats=1) > 0


def test_pairs_are_those_that_a_token_sees():
    ids = torch.tensor([[1, 2, 3, 4]])
    with scoring_costs.count_work(model()) as work, torch.no_grad():
        cache = model().model(ids, use_cache=True).past_key_values
    assert work.pairs == 1 + 2 + 3 + 4
    with scoring_costs.count_work(model()) as work, torch.no_grad():
        model().model(input_ids=ids[:, :2], past_key_values=cache)
    assert work.pairs == 2 * 4


def test_the_command_writes_and_prints_all(tmp_path, monkeypatch, capsys):
    for name in ("LIST_SHAPE", "TRAINED_LIST_SHAPE", "WHOLE_RELATION_SHAPE"):
        monkeypatch.setattr(scoring_times, name, SMALL)
    made = model()
    monkeypatch.setattr(workloads, "random_model", lambda seed: made)
    monkeypatch.setattr(workloads, "trained_model", model)
    out = tmp_path / "results" / "scoring.json"
    scoring_times.main(
        ["--facts", "2", "--sample", "1", "--no-peers", "--out", str(out)]
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    ours, *others = found["methods"]
    assert (ours["name"], ours["ratio_to_ours"], ours["max_abs_diff"]) == (
        scoring_times.OUR_METHOD,
        1,
        0,
    )
    assert all(record["max_abs_diff"] <= 1e-5 for record in others)
    assert all(0 < record["host_share"] < 1 for record in found["methods"])
    names = [part["workload"]["name"] for part in found["more"]]
    assert names == ["a whole relation", "lists, atlas-s", "MONITOR"]
    assert found["more"][0]["methods"][1]["estimated"]
    assert [record["measured_requests"] for record in found["more"][2]["methods"]] == [
        26,
        26,
        13,
    ]
    assert capsys.readouterr().out.count("ratio_to_ours") == 4
    assert "MONITOR" in figures.measurements_markdown(found)


def test_a_part_of_the_requests_is_scaled_to_all():
    records = scoring_times.method_cost_records(
        model(), probes(), requests=6, peers=False, repeats=1
    )
    naive = next(record for record in records if record["name"].startswith("naive"))
    assert (naive["measured_requests"], naive["scaled"]) == (6, True)
    assert naive["tokens"] == pytest.approx(length(), rel=0.1)


def test_monitor_by_the_published_procedure_reads_more():
    asked = published_procedure.monitor_probes(2)
    assert len(asked) == 2 * 13
    part = asked.query("context == 'right' or context == 'none' and frame == 0")
    with scoring_costs.count_work(model()) as theirs:
        said = published_procedure.beam_logprobs(model(), part)
    with scoring_costs.count_work(model()) as ours:
        published_procedure.object_logprobs(model(), part)
    assert all(0 < len(values) <= published_procedure.NEW_TOKENS for values in said)
    assert theirs.tokens > 5 * ours.tokens


def test_the_results_file_keeps_its_form():
    found = results()
    assert {"processor", "cores", "threads", "memory_gib", "torch"} <= set(
        found["machine"]
    )
    assert found["workload"]["requests"] == 800
    assert 3 <= found["workload"]["choice_tokens"] <= 4
    assert found["workload"]["prefix_tokens"] == pytest.approx(600, rel=0.1)
    assert all(record["max_abs_diff"] <= 1e-4 for record in found["methods"])
    for part in (found, *found["more"]):
        first, *rest = part["methods"]
        assert first["name"].startswith("ours")
        for record in rest:
            ratio = record["seconds"] / first["seconds"]
            assert record["ratio_to_ours"] == pytest.approx(ratio)


def test_the_page_shows_the_results_file_with_both_peers():
    page = figures.SCORING_PAGE.read_text(encoding="utf-8")
    assert figures.MEASUREMENTS_BLOCK.search(page)[0] == figures.measurements_markdown(
        results()
    )
    names = " ".join(record["name"] for record in results()["methods"])
    assert re.search(r"lm-evaluation-harness \d", names)
    assert re.search(r"minicons \d", names)


def test_the_page_counts_its_example_right():
    tree, words = figures.example_tree_and_words()
    texts = [
        (*figures.EXAMPLE_PREFIX, s, *c)
        for s in figures.EXAMPLE_SUBJECTS
        for c in figures.EXAMPLE_CHOICES
    ]
    page = figures.SCORING_PAGE.read_text(encoding="utf-8")
    forwarded = int(tree.inner.sum())
    assert (sum(map(len, texts)), forwarded) == (106, 16)
    assert "= 106$ tokens" in page
    assert "= 16$" in page
    assert words.count("Korea") == 4
    assert (
        forwarded - len(figures.EXAMPLE_PREFIX) == 10
    )  # rows of the mask, and of the head


def test_the_code_on_the_page_runs(monkeypatch):
    blocks = re.findall(
        r"```python\n(.*?)```", figures.SCORING_PAGE.read_text("utf-8"), re.DOTALL
    )
    shown = blocks[0].replace("\n[", "\nfound = [", 1)
    given = {
        "torch": torch,
        "tokenizer": model().tokenizer,
        "model": model().model,
        "start": 4,
    }
    exec(shown, given)
    assert len(given["found"]) == len(given["ids"]) - 4
    assert max(given["found"]) < 0
    monkeypatch.setattr("helpers.models.load", lambda name: model())
    head, _, last = blocks[1].rstrip().rpartition("\n")
    found = {}
    exec(f"{head}\nfound = {last}", found)
    assert [len(values) > 0 for values in found["found"]["logprobs"]] == [True, True]
