"""MONITOR and prompt multiplicity in plain Python, from what a tool's model answered."""

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
    """Return the measures of a task: whether more is better, None where neither way is."""
    text = (Path(__file__).parent / "measures.json").read_text(encoding="utf-8")
    return json.loads(text)[name]


def read_documents(name):
    """Return the facts, or questions, of the file beside this one."""
    text = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def multiplicity_measures(doc, sums):
    """Return a question's measures; `sums` are the log-probabilities of each prompt's options."""
    chosen = []
    for prompt, row in zip(doc["prompts"], sums):
        means = [total / length for total, length in zip(row, prompt["lengths"])]
        best = [place for place, mean in enumerate(means) if mean == max(means)]
        chosen.append(min(best, key=lambda place: (place == doc["answer"], place)))
    counts, r = Counter(chosen), len(chosen)
    consistency = sum(m * (m - 1) for m in counts.values()) / (r * (r - 1))
    steady = consistency >= TAU - 1e-12
    right = counts.most_common(1)[0][0] == doc["answer"]
    return {
        "accuracy": counts[doc["answer"]] / r,
        "self_consistency": consistency,
        "factuality": float(steady and right),
        "randomness": float(not steady),
        "error": float(steady and not right),
    }


def monitor_measures(doc, logprobs, texts):
    """Return a fact's measures; `logprobs` are of the object's tokens in each prompt."""
    from matching import exact_match  # in the folder that `make` writes

    base, marks, p = False, {}, {"right": [], "none": [], "wrong": []}
    for prompt, row, text in zip(doc["prompts"], logprobs, texts):
        frame, context = prompt["frame"], prompt["context"]
        mark = exact_match(text, doc["object"])
        marks.setdefault(context, []).append(mark)
        p[context].append([math.exp(min(each, 0)) for each in row])
        if context == "none" and frame == 0:
            base = mark
    counted = doc["aligned"] and marks["right"][0]
    average = fmean([*marks["none"], *marks["wrong"]])
    found = {"coverage": float(counted), "base": float(base), "average": average}
    found["MONITOR"] = [0.0, 0.0]
    if counted:
        [anchor] = p["right"]

        def distance(others):
            return fmean(abs(a - b) for row in others for a, b in zip(anchor, row))

        pfd, ird = distance(p["none"]), distance(p["wrong"])
        root = math.sqrt((pfd**2 + ird**2 + pfd * ird) / 3)
        found["MONITOR"] = [root, fmean(anchor)]
    return found


def monitor_ratio(pairs):
    """Return MONITOR of all facts, from the pairs of each: deviations over anchors."""
    bottom = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / bottom if bottom else math.nan
