"""Prompt settings: what stands in a prompt, which shots are near, what is refused."""

import sys
import unicodedata
from functools import partial

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, models, probing
from helpers.prompts import shots
from helpers.prompts.prompt_texts import INSTRUCTION

SEEN = pd.DataFrame(
    {
        "question": [
            f"What is the capital of {place}?" for place in ("Chad", "Peru", "Mali")
        ]
        + [f"Who discovered {element}?" for element in ("radium", "gallium", "iron")],
        "answers": [
            ["N'Djamena"],
            ["Lima", "City of Kings"],
            ["Bamako"],
            ["Curie"],
            ["x"],
            ["y"],
        ],
    }
)
UNSEEN = pd.DataFrame(
    {
        "question": [
            "Where was Ada Quill born?",
            "When did Milo Vance die?",
            "Who is Ys's mom?",
        ],
        "answers": [[], [], ["?"]],
    }
)
ASKED = pd.DataFrame({"item": ["a"], "question": ["What is the capital of Norway?"]})


def prompt(setting, asked=ASKED):
    return shots.shot_prompts(asked, setting, SEEN, UNSEEN)["prompt"].iloc[0]


def test_prompts_are_those_of_the_papers_table_6():
    assert prompt("zero-shot") == f"{INSTRUCTION}QUESTION: {ASKED.question[0]}\nANSWER:"
    lines = prompt("four-shot").removeprefix(INSTRUCTION).splitlines()
    assert len(lines) == 10
    assert lines[0::2] == [
        f"QUESTION: {text}" for text in [*near(4), ASKED.question[0]]
    ]
    assert lines[-1] == "ANSWER:"
    assert "ANSWER: Lima" in lines
    assert prompt("four-two").count("ANSWER: unsure\n") == 2
    two = prompt("four-two").removeprefix(INSTRUCTION).splitlines()
    assert two[:4] == lines[:4]
    assert two[5] == two[7] == "ANSWER: unsure"


def near(n):
    places = shots.indices_of_nearest_texts(
        list(ASKED["question"]), list(SEEN["question"]), n
    )[0]
    return [SEEN["question"][place] for place in places]


def test_tf_idf_neighbours_by_plain_arithmetic():
    repository = ["red cat", "red dog", "blue bird bird"]
    words = sorted({word for text in repository for word in text.split()})

    def counts(texts):
        return np.array(
            [[text.split().count(word) for word in words] for text in texts]
        )

    weight = np.log(4 / (1 + (counts(repository) > 0).sum(0))) + 1  # smoothed, n = 3
    asked = ["blue red", "bird", "dog cat cat", "none of them"]
    expected = []
    for text in asked:  # each by itself
        vectors, own = counts(repository) * weight, counts([text])[0] * weight
        cosine = vectors @ own / np.linalg.norm(vectors, axis=1)
        expected.append(np.argsort(-cosine, kind="stable")[:2].tolist())
    assert shots.indices_of_nearest_texts(asked, repository, 2).tolist() == expected


def test_the_question_itself_is_no_shot():
    asked = list(SEEN["question"])
    found = shots.indices_of_nearest_texts(asked, asked, 3)
    assert all(place not in row for place, row in enumerate(found))


@pytest.mark.parametrize(
    "spelling",
    [
        *(
            str.lower,
            str.upper,
            "the {}".format,
            "{} ?".format,
            "\u200b{}\u00a0".format,
        ),
        *(lambda text: text.replace("?", ""), lambda text: text.replace("N'", "N’")),
        *(partial(unicodedata.normalize, form) for form in ("NFD", "NFKC")),
        lambda text: "".join(
            chr(ord(c) + 0xFEE0) if "!" < c < "~" else c for c in text
        ),
    ],
)
def test_the_question_itself_is_no_shot_in_any_spelling(spelling):
    own = "What is the capital of Perú, N'Djamena?"
    asked = ASKED.assign(question=spelling(own))
    repository = SEEN.assign(question=[own, *SEEN["question"][1:]])
    made = shots.shot_prompts(asked, "four-shot", repository, UNSEEN)["prompt"][0]
    assert made.count("ANSWER: N'Djamena") == 0
    assert made.count("ANSWER:") == 5


def test_sentence_embeddings_are_used_where_a_model_is_named(monkeypatch):
    class Embedder:
        def __init__(self, name, **safe):
            assert safe == {
                "trust_remote_code": False,
                "model_kwargs": {"use_safetensors": True},
            }
            if name != "my-model":
                raise OSError(name)

        def encode(self, texts, normalize_embeddings, show_progress_bar):
            assert normalize_embeddings
            return np.array(
                [[float("radium" in t), float("radium" not in t)] for t in texts]
            )

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = Embedder
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    found = shots.indices_of_nearest_texts(
        ["radium?"], list(SEEN["question"]), 1, "my-model"
    )
    assert SEEN["question"][found[0, 0]] == "Who discovered radium?"
    with pytest.raises(UserError, match='"other-model" cannot be loaded'):
        shots.indices_of_nearest_texts(
            ["radium?"], list(SEEN["question"]), 1, "other-model"
        )


def test_more_shots_than_the_context_holds_end_in_one_sentence():
    lm = models.load("atlas-s")
    long = SEEN.assign(question=SEEN["question"] + " word" * lm.max_length)
    asked = shots.shot_prompts(ASKED, "four-shot", long, UNSEEN)
    with pytest.raises(UserError, match="reads at most") as caught:
        probing.generate(lm, asked, progress=False)
    assert "shorten it" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((ASKED, "five-shot", SEEN, UNSEEN), '"five-shot" is none'),
        ((ASKED[:0], "zero-shot", SEEN, UNSEEN), "no questions to ask"),
        ((ASKED, "four-shot", SEEN[:4], UNSEEN), "holds 4 questions, too few"),
        ((ASKED, "four-shot", SEEN.assign(answers=[[]] * 6), UNSEEN), "has no answer"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, sentence, monkeypatch):
    with pytest.raises(UserError, match=sentence):
        shots.shot_prompts(*given)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UserError, match="install it"):
        shots.indices_of_nearest_texts(["a"], ["b", "c"], 1, "all-MiniLM-L6-v2")
