"""Questions with an instruction and shots: the prompt settings of Zheng et al. 2024.

zero-shot, four-shot (the nearest of a repository about seen knowledge) and four-two
(two of these, two about unseen knowledge that are answered "unsure"); their Table 6 and
Appendix D.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from helpers import UserError, reraise_as_user_error
from helpers.metrics.canonical import comparison_key
from helpers.prompts.prompt_texts import INSTRUCTION, UNSURE_ANSWER, shot_text

# Numbers of shots about seen and about unseen knowledge.
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
    texts = list(questions["question"])
    n_seen, n_unseen = PROMPT_SETTINGS[setting]
    prompts = [INSTRUCTION] * len(texts)
    if n_seen:
        answers = _first_answers(seen_shots)
        shots = _nearest_shots(texts, seen_shots, answers, n_seen, retriever)
        prompts = _joined(prompts, shots)
    if n_unseen:
        answers = [UNSURE_ANSWER] * len(unseen_shots)
        shots = _nearest_shots(texts, unseen_shots, answers, n_unseen, retriever)
        prompts = _joined(prompts, shots)
    prompts = _joined(prompts, [shot_text(question) for question in texts])
    return questions.assign(variant=setting, setting=setting, prompt=prompts)


def _joined(beginnings: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Return texts put together one by one."""
    return [begin + end for begin, end in zip(beginnings, ends, strict=True)]


def _first_answers(shots: pd.DataFrame) -> list[str]:
    """Return the first accepted answer of each shot; each must have one."""
    for text, answers in zip(shots["question"], shots["answers"], strict=True):
        if not len(answers):
            raise UserError(
                f'The shot "{text}" has no answer; add one or leave it out.'
            )
    return [answers[0] for answers in shots["answers"]]


def _nearest_shots(
    questions: Sequence[str],
    shots: pd.DataFrame,
    answers: Sequence[str],
    n: int,
    retriever: str,
) -> list[str]:
    """Return for each question the text of its `n` nearest shots with their answers."""
    repository = list(shots["question"])
    nearest = indices_of_nearest_texts(questions, repository, n, retriever)
    pairs = zip(repository, answers, strict=True)
    texts = [shot_text(question, answer) for question, answer in pairs]
    blocks = []
    for places in nearest:
        blocks.append("".join(texts[place] for place in places))
    return blocks


def check_prompt_settings(settings: Sequence[str]) -> list[str]:
    """Return prompt settings without repetitions, or refuse one that there is not."""
    unknown = [name for name in settings if name not in PROMPT_SETTINGS]
    if unknown:
        raise UserError(
            f"A prompt setting is one of {', '.join(PROMPT_SETTINGS)}; "
            f'"{unknown[0]}" is none.'
        )
    return list(dict.fromkeys(settings))


def indices_of_nearest_texts(
    questions: Sequence[str],
    repository: Sequence[str],
    n: int,
    retriever: str = DEFAULT_RETRIEVER,
) -> np.ndarray:
    """Find the texts that are nearest to each question, the question itself aside.

    It is aside in any spelling (:func:`helpers.metrics.canonical.comparison_key`).

    Returns
    -------
    ndarray of shape (n_questions, n)
        Places in the repository, the nearest first.
    """
    keys = np.array([comparison_key(text) for text in repository], dtype=object)
    own_keys = np.array([comparison_key(text) for text in questions], dtype=object)
    n_different = len(set(keys))
    if n_different <= n:
        raise UserError(
            f"The repository of shots holds {n_different} questions, too few to find "
            f"{n} beside the one asked; give more, or ask without shots."
        )
    if retriever == DEFAULT_RETRIEVER:
        similarity = _tf_idf_similarity(questions, repository)
    else:
        similarity = _embedding_similarity(questions, repository, retriever)
    is_same = own_keys[:, None] == keys[None, :]
    distance = np.where(is_same, 2.0, -similarity)  # beyond all others
    return np.argsort(distance, axis=1, kind="stable")[:, :n]


def _tf_idf_similarity(
    questions: Sequence[str], repository: Sequence[str]
) -> np.ndarray:
    """Return the cosine of each question (rows) with each text (columns)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer().fit(repository)
    cosine = vectors.transform(questions) @ vectors.transform(repository).T
    return np.asarray(cosine.toarray())


def _embedding_similarity(
    questions: Sequence[str], repository: Sequence[str], name: str
) -> np.ndarray:
    """Return the same cosines, of embeddings by a sentence-transformers model."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise UserError(
            f'To find shots with "{name}" the package sentence-transformers is needed: '
            "install it (pip install sentence-transformers), or take "
            f'"{DEFAULT_RETRIEVER}".'
        ) from None
    missing = f'The sentence-transformers model "{name}" cannot be loaded'
    remedy = f'check its name or path, or take "{DEFAULT_RETRIEVER}"'
    with reraise_as_user_error(missing, remedy, OSError, ValueError):
        model = SentenceTransformer(
            name, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    encode = partial(model.encode, normalize_embeddings=True, show_progress_bar=False)
    cosine = encode(list(questions)) @ encode(list(repository)).T
    return np.asarray(cosine, dtype=float)
