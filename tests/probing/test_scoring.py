"""Scores equal one-at-a-time forwards, whatever the order, the batches and the padding."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from helpers import UserError, probing
from helpers.models import gpu, tokens
from helpers.probing import engine, score, scoring, scoring_work
from helpers.probing.engine import plain
from tests import tiny_models

PROMPTS = [
    "Which country is Lyon in?",
    "France. Which country is Lyon in?",
    "Lyon is located in",
    "Statement: Lyon is located in France. Alan Kay was born in 1940. True or False?",
]
OPTIONS = [" France", " Italy", " Switzerland and Bern"]


def probe_table(prompts=PROMPTS, options=OPTIONS) -> pd.DataFrame:
    rows = [
        (f"item{i}", "base", j, prompt, option, j == 0)
        for i, prompt in enumerate(prompts)
        for j, option in enumerate(options)
    ]
    return pd.DataFrame(
        rows, columns=["item", "variant", "option", "prompt", "continuation", "correct"]
    )


def largest_difference(left, right) -> float:
    assert [len(x) for x in left] == [len(x) for x in right]
    return max(abs(x - y) for a, b in zip(left, right) for x, y in zip(a, b))


def expected_logprobs(lm, probes) -> list[list[float]]:
    groups = list(zip(probes["item"], probes["variant"]))
    rows = tokens.rows_of_continuations(
        lm, list(probes["prompt"]), list(probes["continuation"]), groups
    )
    return [
        tiny_models.naive_logprobs(lm, row.ids, row.start, row.source) for row in rows
    ]


@pytest.mark.parametrize("family", tiny_models.ALL_FAMILIES)
def test_every_family_scores_as_one_sequence_at_a_time(family):
    lm = tiny_models.tiny_language_model(family)
    probes = probe_table()
    found = score(lm, probes, progress=False)
    assert largest_difference(found["logprobs"], expected_logprobs(lm, probes)) <= 1e-5


def test_prompts_without_names_are_items_of_their_own():
    lm = tiny_models.tiny_language_model("llama")
    named = probe_table()
    found = score(lm, named[["prompt", "continuation"]], progress=False)
    assert (
        found["logprobs"].tolist()
        == score(lm, named, progress=False)["logprobs"].tolist()
    )
    assert found["option"].tolist() == named["option"].tolist()
    assert found["item"].nunique() == len(PROMPTS)
    assert scoring_work(lm, named[["prompt", "continuation"]]) == scoring_work(
        lm, named
    )
    assert scoring_work(lm, named[:0]) == {"probes": 0, "tokens": 0, "forwarded": 0}
    with pytest.raises(UserError, match="lacks the column variant"):
        score(lm, named.drop(columns="variant"), progress=False)


def test_the_loss_of_transformers_is_the_mean_of_our_scores():
    lm = tiny_models.tiny_language_model("t5")
    found = score(lm, probe_table(PROMPTS[:1], OPTIONS[2:]), progress=False)[
        "logprobs"
    ].iloc[0]
    ids = lm.tokenizer(PROMPTS[0], return_tensors="pt")["input_ids"]
    labels = lm.tokenizer(OPTIONS[2], return_tensors="pt")["input_ids"][:, :-1]
    with torch.no_grad():
        loss = lm.model(input_ids=ids, labels=labels).loss.item()
    assert len(found) == labels.shape[1]
    assert -np.mean(found) == pytest.approx(loss, abs=1e-5)


@settings(max_examples=12)
@given(seed=st.integers(0, 999), size=st.sampled_from([1, 2, 3, 5, 100]))
def test_order_and_batch_size_change_nothing(seed, size):
    lm = MODELS["gpt2" if seed % 2 else "falcon_alibi"]
    probes = probe_table()
    whole = score(lm, probes, progress=False)
    mixed = probes.sample(frac=1, random_state=seed)
    found = score(lm, mixed, progress=False, batch_size=size)
    assert found.index.equals(mixed.index)
    assert largest_difference(found["logprobs"].sort_index(), whole["logprobs"]) <= 1e-5


MODELS = {
    name: tiny_models.tiny_language_model(name) for name in ("gpt2", "falcon_alibi")
}


@pytest.mark.parametrize("family", ["llama", "gpt_neo", "t5"])
def test_plain_batches_give_the_same(family):
    lm, probes = tiny_models.tiny_language_model(family), probe_table()
    whole = score(lm, probes, progress=False)["logprobs"]
    lm.trials.method = engine.Method("plain", "the test wants it")
    assert (
        largest_difference(score(lm, probes, progress=False)["logprobs"], whole) <= 1e-5
    )


def test_splitting_the_logits_changes_nothing(monkeypatch):
    lm, probes = tiny_models.tiny_language_model("gemma2"), probe_table()
    whole = score(lm, probes, progress=False)["logprobs"]
    monkeypatch.setattr(plain, "LOGITS_PER_CHUNK", 500)
    monkeypatch.setattr(gpu, "MOST_LOGITS", 5000)
    assert (
        largest_difference(score(lm, probes, progress=False)["logprobs"], whole) <= 1e-5
    )


def test_equal_rows_are_forwarded_once(monkeypatch):
    lm = tiny_models.tiny_language_model("llama")
    probes = pd.concat(
        [probe_table(), probe_table().assign(variant="again")], ignore_index=True
    )
    engine.scorer_of_model(lm)  # tried
    seen = []
    run = engine.PackScorer.score
    monkeypatch.setattr(
        engine.PackScorer,
        "score",
        lambda how, rows, n: seen.extend(rows) or run(how, rows, n),
    )
    found = score(lm, probes, progress=False)
    assert len(seen) == len(set(seen)) == len(probe_table())
    assert found["logprobs"].iloc[0] == found["logprobs"].iloc[len(probe_table())]


def test_columns_index_and_order_stay():
    lm = tiny_models.tiny_language_model("llama")
    probes = probe_table().assign(kind="qa", frame=0)
    probes.index = [f"row{i}" for i in range(len(probes))]
    found = score(lm, probes, progress=False)
    pd.testing.assert_frame_equal(found[probes.columns], probes)
    assert list(found.columns[-3:]) == ["logprobs", "tokens", "read"]
    assert all(len(a) == len(b) > 0 for a, b in zip(found["logprobs"], found["tokens"]))
    assert found["read"].iloc[0] == "<s>" + PROMPTS[0]
    none = score(lm, probe_table().iloc[:0], progress=False)
    assert none.empty
    assert {"logprobs", "tokens", "read"} <= set(none.columns)


def test_a_model_without_an_end_of_positions_reads_long_texts():
    probes = probe_table([PROMPTS[0] + " Lyon" * 200], OPTIONS[:1])
    found = score(tiny_models.tiny_language_model("bloom"), probes, progress=False)
    assert (
        largest_difference(
            found["logprobs"],
            expected_logprobs(tiny_models.tiny_language_model("bloom"), probes),
        )
        < 1e-5
    )


def test_work_counts_what_is_read_whole_and_what_is_shared():
    lm, probes = tiny_models.tiny_language_model("llama"), probe_table()
    found = scoring_work(lm, probes)
    texts = (probes["prompt"] + probes["continuation"]).tolist()
    assert found["probes"] == len(probes)
    assert found["tokens"] == sum(len(ids) for ids in lm.tokenizer(texts)["input_ids"])
    assert 0 < found["forwarded"] < found["tokens"] / 2


SENTENCES = [
    "Lyon is located in France. Turin is located in Italy.",
    "a smile :) and another smile :) in a café",
    "Alan Kay was born in 1940.",
    "Lyon is located in France. He was born in 1945.",
    "born",
    " in France",
    "Alan Kay was born in 1940.",
]


def one_by_one(lm, text) -> list[float]:
    """Return what transformers alone computes: one text, one forward pass, its own loss."""
    ids = torch.tensor([lm.tokenizer(text)["input_ids"]])
    with torch.no_grad():
        logits = lm.model(input_ids=ids).logits
    losses = torch.nn.functional.cross_entropy(
        logits[0, :-1], ids[0, 1:], reduction="none"
    )
    return (-losses).tolist()


@pytest.mark.parametrize("special", ["bos", "none"])
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_sentences_are_scored_as_by_a_loop_over_transformers(family, special):
    lm = tiny_models.tiny_language_model(family, tiny_models.byte_tokenizer(special))
    found = probing.score_sentences(lm, SENTENCES, progress=False)
    plain = [one_by_one(lm, text) for text in SENTENCES]
    assert largest_difference(found["logprobs"], plain) <= 1e-5
    assert found["text"].tolist() == SENTENCES
    assert (
        found["n_tokens"].tolist()
        == list(map(len, plain))
        == list(map(len, found["tokens"]))
    )
    whole = found["unscored"] + found["tokens"].map("".join)
    names = [lm.tokenizer.tokenize(text) for text in SENTENCES]
    assert whole.tolist() == ["".join(pieces) for pieces in names]
    assert found["unscored"].tolist() == (
        [""] * len(SENTENCES) if special == "bos" else [pieces[0] for pieces in names]
    )
    sums = [sum(values) for values in plain]
    assert found["logprob"].dropna().tolist() == pytest.approx(
        [x for x in sums if x], abs=1e-4
    )
    assert found["mean"].dropna().tolist() == pytest.approx(
        [np.mean(values) for values in plain if values], abs=1e-5
    )


def test_of_a_text_of_one_token_nothing_is_scored_where_nothing_precedes_it():
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    [token] = lm.tokenizer.tokenize("a")
    found = probing.score_sentences(lm, ["a", "a smile"], progress=False)
    assert found["n_tokens"].tolist()[0] == 0
    assert found["logprobs"][0] == found["tokens"][0] == []
    assert found["unscored"][0] == token
    assert found[["logprob", "mean"]].isna().all(axis=1).tolist() == [True, False]


@pytest.mark.parametrize("special", ["bos", "none"])
def test_sentences_keep_their_scores_in_any_order_and_company(special, tmp_path):
    lm = tiny_models.tiny_language_model("llama", tiny_models.byte_tokenizer(special))
    together = probing.score_sentences(lm, SENTENCES, cache=tmp_path, progress=False)
    turned = probing.score_sentences(lm, SENTENCES[::-1], progress=False, batch_size=1)
    assert largest_difference(together["logprobs"], turned["logprobs"][::-1]) <= 1e-5
    for place, text in enumerate(SENTENCES):
        alone = probing.score_sentences(lm, [text], progress=False)
        assert (
            largest_difference(alone["logprobs"], together["logprobs"][place:][:1])
            <= 1e-5
        )
    with probing.work_counter(lm) as work:
        kept = probing.score_sentences(lm, SENTENCES, cache=tmp_path, progress=False)
    assert kept["logprobs"].tolist() == together["logprobs"].tolist()
    assert work["probes"] == sum(map(bool, together["logprobs"]))
    assert probing.score_sentences(lm, [], progress=False).empty


def test_sentences_of_a_chat_model_are_read_without_its_template():
    bare = tiny_models.tiny_language_model("llama", tiny_models.chat_tokenizer())
    chat = dataclasses.replace(bare, prompt_format="chat")
    first, second = (
        probing.score_sentences(lm, SENTENCES, progress=False) for lm in (bare, chat)
    )
    assert first["logprobs"].tolist() == second["logprobs"].tolist()


def test_a_sequence_to_sequence_model_says_sentences_to_an_empty_text():
    lm = tiny_models.tiny_language_model("t5")
    found = probing.score_sentences(lm, SENTENCES, progress=False)
    source = tuple(lm.tokenizer("")["input_ids"])
    ids = [
        (0, *lm.tokenizer(text, add_special_tokens=False)["input_ids"])
        for text in SENTENCES
    ]
    plain = [tiny_models.naive_logprobs(lm, each, 1, source) for each in ids]
    assert largest_difference(found["logprobs"], plain) <= 1e-5
    assert set(found["unscored"]) == {""}


@pytest.mark.parametrize("special", ["bos", "none"])
def test_an_empty_prompt_scores_the_continuation_as_a_text(special):
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer(special))
    texts = [text for text in SENTENCES if len(lm.tokenizer.tokenize(text)) > 1]
    probes = pd.DataFrame({"prompt": "", "continuation": list(dict.fromkeys(texts))})
    found = score(lm, probes, progress=False)
    assert (
        largest_difference(
            found["logprobs"], [one_by_one(lm, text) for text in probes["continuation"]]
        )
        <= 1e-5
    )
    assert found["read"].tolist() == ["<s>" if special == "bos" else ""] * len(found)


def test_an_empty_answer_is_counted_where_no_token_is_a_lines_end():
    lm = tiny_models.tiny_language_model("t5", tiny_models.piece_tokenizer())
    lm.tokenizer.backend_tokenizer.normalizer = normalizers.Replace("\n", "")
    said = pd.DataFrame({"prompt": ["x"], "text": [""]})
    assert (
        scoring.scoring_work(lm, scoring.probes_of_greedy_answers(lm, said))["probes"]
        == 1
    )


def spoilt(value) -> pd.DataFrame:
    """Return probes of which one has another continuation."""
    return probe_table().assign(
        continuation=[*OPTIONS, OPTIONS[0], value, *OPTIONS * 3][:12]
    )


UNKNOWN = pd.DataFrame({"item": "a", "variant": "v", "prompt": "x", "option": [0, 1]})
UNKNOWN = UNKNOWN.assign(continuation=[" 東京", " 北京"], correct=[True, False])
UNWRITABLE = pd.DataFrame({"item": ["a", "b"], "variant": "v", "option": 0})
UNWRITABLE = UNWRITABLE.assign(prompt="Lyon is in", correct=True)


def of_objects(texts: list[str]) -> pd.DataFrame:
    """Return probes of facts whose objects these texts are."""
    objects = [text.strip() for text in texts]
    return UNWRITABLE.assign(continuation=texts, object=objects)


REFUSED = [
    *(
        ("llama pieces", of_objects(texts), sentence)
        for texts, sentence in (
            ([" France", " 東京"], "cannot write the continuation ' 東京' of item 'b'"),
            (["\n", " France"], r"cannot write the continuation '\\n' of item 'a'"),
            ([" 東京 in", " 北京 in"], "cannot write the continuation ' 北京 in'"),
        )
    ),
    *(
        ("llama", spoilt(odd), "Row 4 of the probes has the continuation")
        for odd in (None, 7)
    ),
    ("llama", spoilt(float("nan")), "Row 4 of the probes has the continuation"),
    (
        "llama",
        probe_table([PROMPTS[0] + " Lyon" * 200]),
        r"'item0'.* tokens long .* at most 128",
    ),
    *(
        (name, UNKNOWN, "cannot write the options of item 'a'")
        for name in ("t5", "llama pieces")
    ),
    ("llama", ["born", ""], "Text 1 is '': give a string"),
    ("llama", ["born", None], "Text 1 is None"),
    ("llama", ["born", "born " * 200], "Text 1 is .* tokens"),
]


def test_a_text_of_which_one_character_is_unknown_is_scored():
    lm = tiny_models.tiny_language_model("llama", tiny_models.piece_tokenizer("bos"))
    asked = UNWRITABLE.assign(continuation=[" France 東", " in 東"])
    assert score(lm, asked, progress=False)["logprobs"].map(len).min() > 1


@pytest.mark.parametrize(("name", "asked", "sentence"), REFUSED)
def test_what_cannot_be_scored_is_refused_by_its_name(name, asked, sentence):
    pieces = tiny_models.piece_tokenizer("bos") if name == "llama pieces" else None
    lm = tiny_models.tiny_language_model(name.split()[0], pieces)
    ask = probing.score_sentences if isinstance(asked, list) else score
    with pytest.raises(UserError, match=sentence):
        ask(lm, asked, progress=False)
