"""Questions with an instruction and with shots: the three prompt settings of Zheng et al. 2024.

zero-shot, four-shot (the nearest of a repository about seen knowledge) and four-two
(two of these, two about unseen knowledge that are answered "unsure"); their Table 6 and
Appendix D.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import UserError, reraise_as_user_error
from helpers.prompts.prompt_texts import INSTRUCTION, UNSURE_ANSWER, shot_text

PROMPT_SETTINGS = {"zero-shot": (0, 0), "four-shot": (4, 0), "four-two": (2, 2)}
DEFAULT_RETRIEVER = "tf-idf"


def shot_prompts(
    questions: pd.DataFrame,
    setting: str,
    seen_shots: pd.DataFrame,
    unseen_shots: pd.DataFrame,
    retriever: str = DEFAULT_RETRIEVER,
) -> pd.DataFrame:
    """Add each question's ``prompt`` in one ``setting``, and ``variant``, its label."""
    check_prompt_settings([setting])
    if not len(questions):
        raise UserError("There are no questions to ask; give at least one.")
    prompts = [INSTRUCTION] * len(questions)
    asked = list(questions["question"])
    for shots, n, known in zip(
        (seen_shots, unseen_shots), PROMPT_SETTINGS[setting], (True, False)
    ):
        if n:
            for text, answers in zip(shots["question"], shots["answers"]):
                if known and not len(answers):
                    raise UserError(
                        f'The shot "{text}" has no answer; add one or leave it out.'
                    )
            said = [
                answers[0] if known else UNSURE_ANSWER for answers in shots["answers"]
            ]
            texts = list(map(shot_text, shots["question"], said))
            near = indices_of_nearest_texts(
                asked, list(shots["question"]), n, retriever
            )
            prompts = [
                p + "".join(texts[i] for i in row) for p, row in zip(prompts, near)
            ]
    prompts = [prompt + shot_text(question) for prompt, question in zip(prompts, asked)]
    return questions.assign(variant=setting, setting=setting, prompt=prompts)


def check_prompt_settings(settings: Sequence[str]) -> list[str]:
    """Return prompt settings without repetitions, or say which is none of ``PROMPT_SETTINGS``."""
    if odd := [name for name in settings if name not in PROMPT_SETTINGS]:
        raise UserError(
            f'A prompt setting is one of {", ".join(PROMPT_SETTINGS)}; "{odd[0]}" is none.'
        )
    return list(dict.fromkeys(settings))


def indices_of_nearest_texts(
    asked: Sequence[str],
    repository: Sequence[str],
    n: int,
    retriever: str = DEFAULT_RETRIEVER,
) -> np.ndarray:
    """Find the texts that are nearest to each question, the question itself aside."""
    if len(set(repository)) <= n:
        raise UserError(
            f"The repository of shots holds {len(set(repository))} questions, too few to find "
            f"{n} beside the one asked; give more, or ask without shots."
        )
    embed = _tf_idf if retriever == DEFAULT_RETRIEVER else _sentences
    similarity = embed(asked, repository, retriever)
    same = np.array([[question == text for text in repository] for question in asked])
    return np.argsort(np.where(same, 2.0, -similarity), axis=1, kind="stable")[:, :n]


def _tf_idf(asked: Sequence[str], repository: Sequence[str], _: str) -> np.ndarray:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer().fit(repository)
    return np.asarray(
        (vectors.transform(asked) @ vectors.transform(repository).T).toarray()
    )


def _sentences(
    asked: Sequence[str], repository: Sequence[str], name: str
) -> np.ndarray:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise UserError(
            f'To find shots with "{name}" the package sentence-transformers is needed: install it '
            f'(pip install sentence-transformers), or take "{DEFAULT_RETRIEVER}".'
        ) from None
    missing = f'The sentence-transformers model "{name}" cannot be loaded'
    remedy = f'check its name or path, or take "{DEFAULT_RETRIEVER}"'
    with reraise_as_user_error(missing, remedy, OSError, ValueError):
        safe = {"trust_remote_code": False, "model_kwargs": {"use_safetensors": True}}
        model = SentenceTransformer(name, **safe)
    how = {"normalize_embeddings": True, "show_progress_bar": False}
    first, second = (model.encode(list(texts), **how) for texts in (asked, repository))
    return np.asarray(first @ second.T, dtype=float)
