"""Tasks for lm-evaluation-harness: lm_eval run --include_path FOLDER --tasks monitor ..."""

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
    """The probability of one token after others: `_loglikelihood_tokens` of every backend."""

    def __iter__(self):
        return iter(self.arguments)

    def __getitem__(self, place):
        return self.arguments[place]


class KnowledgeTask(Task):
    """A task whose documents are the prompts of a run."""

    VERSION, NAME = 1, ""

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
        names = knowledge_measures.measures(self.NAME)
        return dict.fromkeys(names, fmean) | {
            "MONITOR": knowledge_measures.monitor_ratio
        }

    def higher_is_better(self):
        higher = knowledge_measures.measures(self.NAME)
        return dict(zip(higher, map(bool, higher.values())))


class MultiplicityTask(KnowledgeTask):
    NAME = "multiplicity"

    def construct_requests(self, doc, ctx, metadata=None, **kwargs):
        pairs = [
            (p["prompt"], option) for p in doc["prompts"] for option in p["options"]
        ]
        return [
            Instance("loglikelihood", doc, pair, place, metadata)
            for place, pair in enumerate(pairs)
        ]

    def process_results(self, doc, results):
        sums = iter([total for total, _ in results])
        return knowledge_measures.multiplicity_measures(
            doc,
            [list(islice(sums, len(prompt["options"]))) for prompt in doc["prompts"]],
        )


class MonitorTask(KnowledgeTask):
    NAME = "monitor"

    def construct_requests(self, doc, ctx, metadata=None, **kwargs):
        made = []
        for prompt in doc["prompts"]:
            rules = {"until": ["\n"], "max_gen_toks": ANSWER_TOKENS, "do_sample": False}
            asked = (prompt["prompt"], rules)
            made.append(Instance("generate_until", doc, asked, len(made), metadata))
            for place in range(prompt["start"], len(prompt["ids"])):
                token = (None, prompt["ids"][:place], [prompt["ids"][place]])
                made.append(
                    TokenLogprobRequest(
                        "_loglikelihood_tokens", doc, token, len(made), metadata
                    )
                )
        return made

    def process_results(self, doc, results):
        answers, texts, logprobs = iter(results), [], []
        for prompt in doc["prompts"]:
            texts.append(next(answers))
            n = len(prompt["ids"]) - prompt["start"]
            logprobs.append([logprob for logprob, _ in islice(answers, n)])
        return knowledge_measures.monitor_measures(doc, logprobs, texts)
