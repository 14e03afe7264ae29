"""Real logs: both tools run on a bundled model, and we ask it the same prompts ourselves.

The tools are in the environment of `make bench`; BENCH_PYTHON names another
interpreter.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from helpers import datasets, models, probing
from helpers.datasets import multiple_choice
from helpers.exchange import knowledge_base_of_logs, multiplicity_of_logs
from helpers.metrics import matching
from helpers.prompts import variations
from helpers.studies import multiplicity
from tests.program_calls import run_program

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "build" / "bench" / "bin" / "python"
PYTHON = os.environ.get("BENCH_PYTHON") or (
    str(BENCH) if BENCH.exists() else sys.executable
)
MODEL = ROOT / "helpers" / "models" / "weights" / "atlas-xs"
N_ITEMS, N_PROMPTS, N_OPTIONS, N_REPEATS = 40, 3, 4, 3
SAME = [
    "default",
    "accuracy",
    "ambiguous",
    "ambiguous_binary",
    "self_consistency",
    "class",
]
TASK = """task: facts{number}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: {kind}
doc_to_text: "{{{{prompts[{number}]}}}}"
doc_to_target: {target}
target_delimiter: " "
"""
CHOICES = (
    TASK
    + "doc_to_choice: options\nmetric_list: [{{metric: acc}}, {{metric: acc_norm}}]\n"
)
TEXTS = (
    TASK + "generation_kwargs: {{until: ['\\n'], max_gen_toks: 15, do_sample: false}}\n"
)
TEXTS += "filter_list: [{{name: strip, filter: [{{function: remove_whitespace}}, "
TEXTS += "{{function: take_first}}]}}]\n"
TEXTS += "metric_list: [{{metric: exact_match, ignore_case: true}}]\n"
SAMPLED = TEXTS.replace("do_sample: false", "do_sample: true, temperature: 1.0")
SAMPLED += f"repeats: {N_REPEATS}\n"
INSPECT = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, exact
from inspect_ai.solver import generate, multiple_choice

data, folder, path, kind, *repeats = sys.argv[1:]
docs = [json.loads(line) for line in open(data, encoding="utf-8")]
plain = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
for k in range(len(docs[0]["prompts"])):
    if kind == "texts":
        model = get_model("hf/atlas-xs", model_path=path, device="cpu", do_sample=bool(repeats),
                          dtype="float32", chat_template=plain, memoize=False)
        samples = [Sample(id=d["item"], input=d["prompts"][k], target=d["options"][d["answer"]])
                   for d in docs]
        task = Task(samples, solver=generate(), scorer=exact(), name="facts")
    else:  # letters from a script: the bundled models answer none
        said = [ModelOutput.from_content("mockllm", f"ANSWER: {'ABCD'[d['says'][k]]}")
                for d in docs]
        for each in said:
            each.usage = ModelUsage()
        model = get_model("mockllm/model", custom_outputs=said, memoize=False)
        samples = [Sample(id=d["item"], input=d["prompts"][0], choices=d["options"],
                          target="ABCD"[d["answer"]]) for d in docs]
        asked = "Prompt %d. {question}\\n{choices}\\nOne of {letters}." % k
        task = Task(samples, solver=multiple_choice(template=asked), scorer=choice(), name="facts")
    [log] = eval(task, model=model, log_dir=folder, display="none", max_tokens=15,
                 max_connections=1 if kind == "choices" else 10, epochs=int((repeats or [1])[0]))
    assert log.status == "success", log.error
    if repeats:
        said = [[s.id, s.epoch, s.output.completion] for s in log.samples]
        json.dump(sorted(said), open(f"{folder}/said.json", "w"))
        break
"""


def needs(module):
    """Skip where the benchmark's environment lacks a tool."""
    found = (
        f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    )
    if run_program(PYTHON, "-c", found, code=None).returncode:
        pytest.skip(
            f"{module} is not installed: make bench installs it, or set BENCH_PYTHON"
        )


def execute(*words, cwd):
    """Run a tool offline, where the user's own settings are."""
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    offline |= {"HF_DATASETS_CACHE": str(cwd / "cache")}
    run_program(PYTHON, *words, cwd=cwd, env=os.environ | offline)


@pytest.fixture(scope="module")
def probes():
    bench = multiple_choice.load_benchmark(
        "atlas", N_ITEMS, 0, N_OPTIONS, None, "atlas-xs"
    )
    frames = datasets.prompt_frames("atlas")
    return variations.variation_probes(bench.items, "frames", N_PROMPTS, frames=frames)


@pytest.fixture(scope="module")
def data(probes, tmp_path_factory):
    """Write the documents: a question in all its prompts, and letters that one may say."""
    path = tmp_path_factory.mktemp("documents") / "docs.jsonl"
    rows = []
    for place, (item, part) in enumerate(probes.groupby("item", sort=False)):
        prompts = list(part.drop_duplicates("variation")["prompt"])
        options = list(part[part["variation"] == 0]["text"])
        row = {"item": item, "prompts": prompts, "options": options}
        row |= {"answer": int(part["answer"].iloc[0])}
        row["says"] = [(place * (k + 1)) % N_OPTIONS for k in range(N_PROMPTS)]
        rows.append(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def harness(data, folder, template, **words):
    """Run lm-evaluation-harness with a task for each prompt; return its logs, prompt by prompt."""
    tasks = [folder / f"task{number}.yaml" for number in range(N_PROMPTS)]
    for number, task in enumerate(tasks):
        task.write_text(
            template.format(data=data, number=number, **words), encoding="utf-8"
        )
    asked = [
        "--model",
        "hf",
        "--model_args",
        f"pretrained={MODEL},dtype=float32",
        "--device",
    ]
    asked += [
        "cpu",
        "--batch_size",
        8,
        "--tasks",
        ",".join(map(str, tasks)),
        "--log_samples",
    ]
    execute("-m", "lm_eval", *asked, "--output_path", folder / "out", cwd=folder)
    paths = sorted(folder.rglob("samples_*.jsonl"))
    assert len(paths) == N_PROMPTS
    return paths


def same(found, ours):
    """Compare what logs gave with our own run, question by question."""
    assert len(found) == len(ours) == N_ITEMS
    assert found[SAME].to_numpy().tolist() == ours[SAME].to_numpy().tolist()


@pytest.mark.slow
def test_choices_of_the_harness_are_those_of_our_own_run(probes, data, tmp_path):
    needs("lm_eval")
    words = {"kind": "multiple_choice", "target": "answer"}
    paths = harness(data, tmp_path, CHOICES, **words)
    answers = probing.score(models.load("atlas-xs"), probes, progress=False)
    for rule, metric in (("sum", "acc"), ("per_character", "acc_norm")):
        found = multiplicity_of_logs.from_logs(paths, rule=rule)
        [note] = found.notes
        assert note.startswith(
            "The tasks have different names (facts0, facts1, facts2)"
        )
        same(found.table, multiplicity.facts(answers, rule=rule))
        assert 0 < found.table["ambiguous"].mean() < 1
        logged = [json.loads(line)[metric] for path in paths for line in path.open()]
        assert found.table["accuracy"].mean() == pytest.approx(
            sum(logged) / len(logged)
        )


@pytest.mark.slow
def test_answers_of_both_tools_are_those_of_our_own_run(probes, data, tmp_path):
    needs("lm_eval")
    needs("inspect_ai")
    asked = probes[probes["correct"]].rename(columns={"text": "gold"})
    said = probing.generate(models.load("atlas-xs"), asked, progress=False)
    texts, gold = (said[name].map(matching.normalise_text) for name in ("text", "gold"))
    ours = said.assign(text=texts, right=texts == gold).groupby("item", sort=False)
    script = tmp_path / "texts.py"
    script.write_text(INSPECT, encoding="utf-8")
    execute(script, data, tmp_path / "logs", MODEL, "texts", cwd=tmp_path)
    words = {"kind": "generate_until", "target": "'{{options[answer]}}'"}
    inspected = sorted((tmp_path / "logs").glob("*.eval"))
    for paths in (inspected, harness(data, tmp_path, TEXTS, **words)):
        found = multiplicity_of_logs.from_logs(paths)
        assert found.table["accuracy"].tolist() == pytest.approx(
            ours["right"].mean().tolist()
        )
        assert (
            found.table["ambiguous"].tolist() == (ours["text"].nunique() > 1).tolist()
        )


@pytest.mark.slow
def test_letters_in_inspects_logs_are_what_was_said(data, tmp_path):
    needs("inspect_ai")
    script = tmp_path / "letters.py"
    script.write_text(INSPECT, encoding="utf-8")
    execute(script, data, tmp_path / "logs", MODEL, "choices", cwd=tmp_path)
    found = multiplicity_of_logs.from_logs(sorted((tmp_path / "logs").glob("*.eval")))
    docs = [json.loads(line) for line in data.open()]
    right = [
        sum(said == doc["answer"] for said in doc["says"]) / N_PROMPTS for doc in docs
    ]
    assert found.table["accuracy"].tolist() == pytest.approx(right)
    assert found.table["ambiguous"].tolist() == [
        len(set(doc["says"])) > 1 for doc in docs
    ]
    agree = [
        [a == b for i, a in enumerate(d["says"]) for b in d["says"][:i]] for d in docs
    ]
    assert found.table["self_consistency"].tolist() == pytest.approx(
        [sum(x) / len(x) for x in agree]
    )


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["lm_eval", "inspect_ai"])
def test_repeated_answers_agree_as_often_as_the_tools_logs_say(tool, data, tmp_path):
    needs(tool)
    if tool == "lm_eval":
        words = {"kind": "generate_until", "target": "'{{options[answer]}}'"}
        path = harness(data, tmp_path, SAMPLED, **words)[0]
        lines = map(json.loads, path.open(encoding="utf-8"))
        said = [
            line["resps"][0] for line in sorted(lines, key=lambda line: line["doc_id"])
        ]
    else:
        script = tmp_path / "sampled.py"
        script.write_text(INSPECT, encoding="utf-8")
        execute(
            script, data, tmp_path / "logs", MODEL, "texts", N_REPEATS, cwd=tmp_path
        )
        [path] = (tmp_path / "logs").glob("*.eval")
        rows = json.loads((tmp_path / "logs" / "said.json").read_text())
        items = [json.loads(line)["item"] for line in data.open()]
        said = [[text for name, _, text in rows if name == item] for item in items]
    alike = [[matching.normalise_text(text) for text in texts] for texts in said]
    expected = [texts[1:].count(texts[0]) / (N_REPEATS - 1) for texts in alike]
    found = knowledge_base_of_logs.from_logs([path])
    assert found.table["consistency"].tolist() == pytest.approx(expected)
    assert 0 < sum(expected) < len(expected)
