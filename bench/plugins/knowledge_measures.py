"""MONITOR and prompt multiplicity in plain Python, from what a tool's model says."""

import json
import math
from collections import Counter
from pathlib import Path
from statistics import fmean

TAU = 0.75  # self-consistency from which a question is steady
# What the functions below return; of these, `measures` names what the study has.
COMPUTED = {
    "monitor": ("MONITOR", "coverage", "base", "average"),
    "multiplicity": (
        "accuracy",
        "self_consistency",
        "factuality",
        "randomness",
        "error",
    ),
}


def measures(name):
    """Return a task's measures: whether more is better, None where neither way is."""
    text = (Path(__file__).parent / "measures.json").read_text(encoding="utf-8")
    return json.loads(text)[name]


def read_documents(name):
    """Return the facts, or questions, of the file beside this one."""
    text = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def chosen_option(sums, lengths, answer):
    """Return the place of the most probable option; the answer loses where it ties."""
    means = []
    for total, length in zip(sums, lengths, strict=True):
        means.append(total / length)
    highest = max(means)
    best = [place for place, mean in enumerate(means) if mean == highest]
    wrong = [place for place in best if place != answer]
    if wrong:
        return wrong[0]
    return best[0]


def multiplicity_measures(doc, sums):
    """Return a question's measures from the log-probabilities of its options.

    `sums` has a list for each prompt, a sum for each of its options.
    """
    answer = doc["answer"]
    choices = []
    for prompt, prompt_sums in zip(doc["prompts"], sums, strict=True):
        choices.append(chosen_option(prompt_sums, prompt["lengths"], answer))
    counts = Counter(choices)
    n_prompts = len(choices)
    same_pairs = sum(count * (count - 1) for count in counts.values())
    consistency = same_pairs / (n_prompts * (n_prompts - 1))
    majority = counts.most_common(1)[0][0]
    steady = consistency >= TAU - 1e-12
    right = majority == answer
    return {
        "accuracy": counts[answer] / n_prompts,
        "self_consistency": consistency,
        "factuality": float(steady and right),
        "randomness": float(not steady),
        "error": float(steady and not right),
    }


def mean_distance(anchor, others):
    """Return the mean distance of other prompts' probabilities from the anchor's."""
    distances = []
    for row in others:
        for expected, actual in zip(anchor, row, strict=True):
            distances.append(abs(expected - actual))
    return fmean(distances)


def deviation_and_anchor(probabilities):
    """Return a fact's two terms of MONITOR: its deviation and its mean anchor."""
    [anchor] = probabilities["right"]
    pfd = mean_distance(anchor, probabilities["none"])
    ird = mean_distance(anchor, probabilities["wrong"])
    deviation = math.sqrt((pfd**2 + ird**2 + pfd * ird) / 3)
    return [deviation, fmean(anchor)]


def monitor_measures(doc, logprobs, texts):
    """Return a fact's measures from its prompts' answers.

    `logprobs` are of the object's tokens after each prompt, `texts` its greedy texts.
    """
    from matching import exact_match  # in the folder that `make_tasks` writes

    base = False
    marks = {}
    probabilities = {"right": [], "none": [], "wrong": []}
    for prompt, row, text in zip(doc["prompts"], logprobs, texts, strict=True):
        context = prompt["context"]
        mark = exact_match(text, doc["object"])
        marks.setdefault(context, []).append(mark)
        probabilities[context].append([math.exp(min(value, 0)) for value in row])
        if context == "none" and prompt["frame"] == 0:
            base = mark
    counted = doc["aligned"] and marks["right"][0]
    terms = [0.0, 0.0]
    if counted:
        terms = deviation_and_anchor(probabilities)
    return {
        "coverage": float(counted),
        "base": float(base),
        "average": fmean([*marks["none"], *marks["wrong"]]),
        "MONITOR": terms,
    }


def monitor_ratio(pairs):
    """Return MONITOR of all facts, from the pairs of each: deviations over anchors."""
    anchors = sum(anchor for _, anchor in pairs)
    if not anchors:
        return math.nan
    return sum(deviation for deviation, _ in pairs) / anchors
