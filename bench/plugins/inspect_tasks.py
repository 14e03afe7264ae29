"""Tasks of Inspect: inspect eval FOLDER/inspect_tasks.py -T path=MODEL.

MODEL is a folder, or an id on the hub. With --model in place of -T any provider will
do that reads raw text and returns `prompt_logprobs`; Inspect's own for transformers
does not, so this file has a small one.
"""

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.scorer import SampleScore, Score, mean, metric, scorer
from inspect_ai.solver import solver

sys.path.insert(0, str(Path(__file__).parent))
import knowledge_measures

ANSWER_TOKENS = 15  # tokens of an answer


@modelapi("prompt-logprobs")
class PromptLogprobsModel(ModelAPI):
    """A causal model of transformers that reads texts as they are."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, **args):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self.tokenizer = AutoTokenizer.from_pretrained(model_name)
        # By default the precision is the file's, which may be half of float32.
        args.setdefault("dtype", "float32")
        self.model = AutoModelForCausalLM.from_pretrained(model_name, **args).eval()

    def max_connections(self):
        return 1

    async def generate(self, input, tools, tool_choice, config):
        import torch

        ids = self.tokenizer(input[-1].text, return_tensors="pt")["input_ids"]
        text = ""
        logprobs = None
        with torch.no_grad():
            if config.prompt_logprobs:
                logprobs = self.prompt_logprobs(ids)
            else:
                text = self.greedy_text(ids, config)
        message = ChatMessageAssistant(content=text)
        choice = ChatCompletionChoice(message=message, prompt_logprobs=logprobs)
        return ModelOutput(model=self.model_name, choices=[choice])

    def prompt_logprobs(self, ids):
        """Return the log-probabilities of a text's tokens, all but the first."""
        distributions = self.model(ids).logits[0, :-1].float().log_softmax(-1)
        values = distributions.gather(1, ids[0, 1:, None])[:, 0].tolist()
        names = self.tokenizer.convert_ids_to_tokens(ids[0, 1:].tolist())
        content = []
        for name, value in zip(names, values, strict=True):
            content.append(Logprob(token=name, logprob=value))
        return Logprobs(content=content)

    def greedy_text(self, ids, config):
        """Return what the model writes after a text, always the most probable token."""
        import torch

        written = self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=config.max_tokens,
            do_sample=False,
            tokenizer=self.tokenizer,
            stop_strings=config.stop_seqs,
        )
        new_ids = written[0, ids.shape[1] :]
        return self.tokenizer.decode(new_ids, skip_special_tokens=True)


async def last_token_logprobs(text, length):
    """Return the log-probabilities of a text's last tokens."""
    config = GenerateConfig(max_tokens=1, prompt_logprobs=1)
    output = await get_model().generate(text, config=config)
    content = output.choices[0].prompt_logprobs.content
    return [token.logprob for token in content[-length:]]


async def option_sums(prompt):
    """Return the log-probability of each option after a prompt."""
    sums = []
    for option, length in zip(prompt["options"], prompt["lengths"], strict=True):
        logprobs = await last_token_logprobs(prompt["prompt"] + option, length)
        sums.append(sum(logprobs))
    return sums


@solver
def option_solver():
    async def solve(state, generate):
        doc = state.metadata
        sums = []
        for prompt in doc["prompts"]:
            sums.append(await option_sums(prompt))
        state.store.set("measures", knowledge_measures.multiplicity_measures(doc, sums))
        return state

    return solve


@solver
def prompt_solver():
    async def solve(state, generate):
        doc = state.metadata
        logprobs = []
        texts = []
        config = GenerateConfig(max_tokens=ANSWER_TOKENS, stop_seqs=["\n"])
        for prompt in doc["prompts"]:
            length = len(prompt["ids"]) - prompt["start"]
            full_text = prompt["prompt"] + prompt["continuation"]
            logprobs.append(await last_token_logprobs(full_text, length))
            output = await get_model().generate(prompt["prompt"], config=config)
            texts.append(output.completion)
        measures = knowledge_measures.monitor_measures(doc, logprobs, texts)
        measures["deviation"], measures["anchor"] = measures.pop("MONITOR")
        state.store.set("measures", measures)
        return state

    return solve


@metric
def monitor_metric():
    def compute(scores: list[SampleScore]) -> float:
        pairs = []
        for score in scores:
            values = score.score.as_dict()
            pairs.append([values["deviation"], values["anchor"]])
        return knowledge_measures.monitor_ratio(pairs)

    return compute


@scorer(metrics={"*": [mean()]})
def measures_scorer():
    async def score(state, target):
        return Score(value=state.store.get("measures"))

    return score


MEANS = {name: [mean()] for name in knowledge_measures.measures("monitor")}
MEANS.pop("MONITOR")  # a ratio


@scorer(metrics=[MEANS, monitor_metric()])
def monitor_scorer():
    return measures_scorer()


def knowledge_task(name, path, solver, scorer):
    samples = []
    for doc in knowledge_measures.read_documents(name):
        first_prompt = doc["prompts"][0]["prompt"]
        samples.append(Sample(first_prompt, id=doc["item"], metadata=doc))
    model = None
    if path:
        model = get_model(f"prompt-logprobs/{path}")
    return Task(
        dataset=MemoryDataset(samples), solver=solver, scorer=scorer, model=model
    )


@task
def multiplicity(path=""):
    return knowledge_task("multiplicity", path, option_solver(), measures_scorer())


@task
def monitor(path=""):
    return knowledge_task("monitor", path, prompt_solver(), monitor_scorer())
