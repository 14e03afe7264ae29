"""Tasks of lm-evaluation-harness: lm_eval run --include_path FOLDER --tasks monitor."""

import sys
from itertools import islice
from pathlib import Path
from statistics import fmean

from lm_eval.api.instance import Instance
from lm_eval.api.task import Task

sys.path.insert(0, str(Path(__file__).parent))
import knowledge_measures

ANSWER_TOKENS = 15  # tokens of an answer


class TokenLogprobRequest(Instance):
    """A token's probability after others, by a backend's `_loglikelihood_tokens`."""

    def __iter__(self):
        return iter(self.arguments)

    def __getitem__(self, place):
        return self.arguments[place]


class KnowledgeTask(Task):
    """A task whose documents are the prompts of a run."""

    VERSION = 1
    NAME = ""

    def download(self, *args, **kwargs):
        self.rows = knowledge_measures.read_documents(self.NAME)

    def test_docs(self):
        return self.rows

    def has_training_docs(self):
        return False

    def has_validation_docs(self):
        return False

    def has_test_docs(self):
        return True

    def doc_to_text(self, doc):
        return doc["prompts"][0]["prompt"]

    def doc_to_target(self, doc):
        return ""

    def aggregation(self):
        functions = dict.fromkeys(knowledge_measures.measures(self.NAME), fmean)
        functions["MONITOR"] = knowledge_measures.monitor_ratio
        return functions

    def higher_is_better(self):
        measures = knowledge_measures.measures(self.NAME)
        return {name: bool(higher) for name, higher in measures.items()}


class MultiplicityTask(KnowledgeTask):
    NAME = "multiplicity"

    def construct_requests(self, doc, ctx, metadata=None, **kwargs):
        requests = []
        for prompt in doc["prompts"]:
            for option in prompt["options"]:
                texts = (prompt["prompt"], option)
                place = len(requests)
                request = Instance("loglikelihood", doc, texts, place, metadata)
                requests.append(request)
        return requests

    def process_results(self, doc, results):
        totals = iter([total for total, _ in results])
        sums = []
        for prompt in doc["prompts"]:
            n_options = len(prompt["options"])
            sums.append(list(islice(totals, n_options)))
        return knowledge_measures.multiplicity_measures(doc, sums)


class MonitorTask(KnowledgeTask):
    NAME = "monitor"

    def construct_requests(self, doc, ctx, metadata=None, **kwargs):
        requests = []
        for prompt in doc["prompts"]:
            rules = {"until": ["\n"], "max_gen_toks": ANSWER_TOKENS, "do_sample": False}
            question = (prompt["prompt"], rules)
            place = len(requests)
            requests.append(Instance("generate_until", doc, question, place, metadata))
            ids = prompt["ids"]
            for position in range(prompt["start"], len(ids)):
                token = (None, ids[:position], [ids[position]])
                request = TokenLogprobRequest(
                    "_loglikelihood_tokens", doc, token, len(requests), metadata
                )
                requests.append(request)
        return requests

    def process_results(self, doc, results):
        answers = iter(results)
        texts = []
        logprobs = []
        for prompt in doc["prompts"]:
            texts.append(next(answers))
            n_tokens = len(prompt["ids"]) - prompt["start"]
            logprobs.append([logprob for logprob, _ in islice(answers, n_tokens)])
        return knowledge_measures.monitor_measures(doc, logprobs, texts)
