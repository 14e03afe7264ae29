"""Tasks for Inspect: inspect eval FOLDER/inspect_tasks.py -T path=MODEL, a folder or a hub's id.

With --model in place of -T any provider will do that reads raw text and returns
`prompt_logprobs`; Inspect's own for transformers does not, so this file has a small
one.
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
        given = {
            "dtype": "float32"
        } | args  # by default the file's, which may be half of it
        self.model = AutoModelForCausalLM.from_pretrained(model_name, **given).eval()

    def max_connections(self):
        return 1

    async def generate(self, input, tools, tool_choice, config):
        import torch

        ids = self.tokenizer(input[-1].text, return_tensors="pt")["input_ids"]
        text, read = "", None
        with torch.no_grad():
            if config.prompt_logprobs:
                logs = self.model(ids).logits[0, :-1].float().log_softmax(-1)
                found = logs.gather(1, ids[0, 1:, None])[:, 0].tolist()
                names = self.tokenizer.convert_ids_to_tokens(ids[0, 1:].tolist())
                read = Logprobs(
                    content=[Logprob(token=n, logprob=v) for n, v in zip(names, found)]
                )
            else:
                said = self.model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=config.max_tokens,
                    do_sample=False,
                    tokenizer=self.tokenizer,
                    stop_strings=config.stop_seqs,
                )
                text = self.tokenizer.decode(
                    said[0, ids.shape[1] :], skip_special_tokens=True
                )
        message = ChatMessageAssistant(content=text)
        choice = ChatCompletionChoice(message=message, prompt_logprobs=read)
        return ModelOutput(model=self.model_name, choices=[choice])


async def last_token_logprobs(text, length):
    """Return the log-probabilities of a text's last tokens."""
    config = GenerateConfig(max_tokens=1, prompt_logprobs=1)
    output = await get_model().generate(text, config=config)
    return [
        each.logprob for each in output.choices[0].prompt_logprobs.content[-length:]
    ]


@solver
def option_solver():
    async def solve(state, generate):
        doc, sums = state.metadata, []
        for prompt in doc["prompts"]:
            options = zip(prompt["options"], prompt["lengths"])
            sums.append(
                [
                    sum(await last_token_logprobs(prompt["prompt"] + text, n))
                    for text, n in options
                ]
            )
        state.store.set("measures", knowledge_measures.multiplicity_measures(doc, sums))
        return state

    return solve


@solver
def prompt_solver():
    async def solve(state, generate):
        doc, logprobs, texts = state.metadata, [], []
        config = GenerateConfig(max_tokens=ANSWER_TOKENS, stop_seqs=["\n"])
        for prompt in doc["prompts"]:
            length = len(prompt["ids"]) - prompt["start"]
            logprobs.append(
                await last_token_logprobs(
                    prompt["prompt"] + prompt["continuation"], length
                )
            )
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
        values = [score.score.as_dict() for score in scores]
        return knowledge_measures.monitor_ratio(
            [[each["deviation"], each["anchor"]] for each in values]
        )

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
    rows = [
        Sample(doc["prompts"][0]["prompt"], id=doc["item"], metadata=doc)
        for doc in knowledge_measures.read_documents(name)
    ]
    model = get_model(f"prompt-logprobs/{path}") if path else None
    return Task(dataset=MemoryDataset(rows), solver=solver, scorer=scorer, model=model)


@task
def multiplicity(path=""):
    return knowledge_task("multiplicity", path, option_solver(), measures_scorer())


@task
def monitor(path=""):
    return knowledge_task("monitor", path, prompt_solver(), monitor_scorer())
