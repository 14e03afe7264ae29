"""Token ids and the first scored token, merges over the boundary included."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers
from transformers import AutoTokenizer

from helpers import UserError, models, probing
from helpers.models import tokens
from tests import tiny_models


def one(lm, prompt, *continuations):
    names = [("item", "variant")] * len(continuations)
    return tokens.rows_of_continuations(
        lm, [prompt] * len(continuations), continuations, names
    )


def pieces(lm, row):
    return lm.tokenizer.convert_ids_to_tokens(list(row.scored))


def test_plain_continuation_starts_after_the_prompt():
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    row = one(lm, "Which country is Lyon in?", " France")[0]
    assert pieces(lm, row) == ["ĠFrance"]
    assert row.ids[: row.start] == tuple(
        lm.tokenizer("Which country is Lyon in?")["input_ids"]
    )


def test_merge_over_the_boundary_moves_the_start_of_all_options():
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    merged, plain = one(lm, "He was born in 19", "45", " and")
    assert pieces(lm, merged) == ["Ġ1945"]
    assert merged.start == plain.start
    assert lm.tokenizer.decode(list(plain.scored)) == " 19 and"


def test_options_of_another_probe_do_not_move_the_start():
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    prompts = ["He was born in 19"] * 2
    made = tokens.rows_of_continuations(
        lm, prompts, ["45", " and"], [("a", "v"), ("b", "v")]
    )
    assert lm.tokenizer.decode(list(made[1].scored)) == " and"


@pytest.mark.parametrize(
    ("prompt", "continuation"),
    [
        ("a smile :", ")"),
        ("He was born in 19", "45"),
        ("deux caf", "és"),
        ("trois caf", "é"),
    ],
)
def test_merged_pieces_read_as_the_joint_text(prompt, continuation):
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer("bos"))
    row = one(lm, prompt, continuation)[0]
    assert row.ids == tuple(lm.tokenizer(prompt + continuation)["input_ids"])
    text = lm.tokenizer.decode(list(row.scored))
    assert text.endswith(continuation)
    assert len(row.ids) - row.start < len(lm.tokenizer(prompt)["input_ids"])


@settings(max_examples=40)
@given(
    prompt=st.text(min_size=1, max_size=12),
    options=st.lists(st.text(min_size=1), min_size=1),
)
def test_start_is_within_the_prompt_and_common_to_all_options(prompt, options):
    lm = LM
    made = one(lm, prompt, *options)
    alone = tokens.prompt_ids(lm, [prompt])[0]
    assert len({row.start for row in made}) == 1
    assert all(row.ids[: row.start] == alone[: row.start] for row in made)
    joint = [tuple(lm.tokenizer(prompt + option)["input_ids"]) for option in options]
    assert [row.ids for row in made] == joint


LM = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer("bos"))


@pytest.mark.parametrize("special", ["bos", "bos+eos"])
def test_first_token_is_added_once_and_last_is_dropped(special):
    lm = tiny_models.tiny_language_model("llama", tiny_models.byte_tokenizer(special))
    row = one(lm, "Lyon is in", " France")[0]
    assert row.ids.count(0) == 1
    assert row.ids[0] == 0
    assert row.ids[-1] != 1
    assert tokens.strings_read_by_model(lm, ["Lyon is in"]) == ["<s>Lyon is in"]


def test_sentencepiece_pieces_keep_their_space():
    lm = tiny_models.tiny_language_model("llama", tiny_models.piece_tokenizer("bos"))
    row = one(lm, "Lyon is located in", " France")[0]
    assert pieces(lm, row) == ["▁France"]


def test_seq2seq_encoder_reads_the_prompt_and_decoder_the_continuation():
    lm = tiny_models.tiny_language_model("t5")
    row = one(lm, "Which country is Lyon in?", " France")[0]
    assert row.source == tuple(lm.tokenizer("Which country is Lyon in?")["input_ids"])
    assert row.source[-1] == lm.tokenizer.eos_token_id
    assert pieces(lm, row) == ["▁France"]
    assert row.ids[: row.start] == (lm.model.config.decoder_start_token_id,)
    assert tokens.strings_read_by_model(lm, ["Lyon?"]) == ["Lyon?</s>"]


def test_chat_template_is_read_and_the_first_token_not_doubled():
    lm = tiny_models.tiny_language_model(
        "llama", tiny_models.chat_tokenizer(), chat=True
    )
    row = one(lm, "Which country is Lyon in?", " France")[0]
    read = "<s>[user] Which country is Lyon in?\n[assistant] "
    assert tokens.strings_read_by_model(lm, ["Which country is Lyon in?"]) == [read]
    assert lm.tokenizer.decode(list(row.ids)) == read + "France"
    assert row.ids.count(0) == 1
    plain = dataclasses.replace(lm, prompt_format="bare")
    assert lm.tokenizer.decode(
        list(one(plain, "Lyon is in", " France")[0].ids)
    ).endswith(" France")


def test_a_continuation_needs_tokens_and_something_before_it():
    with pytest.raises(UserError, match="item / variant has no tokens"):
        one(LM, "Lyon", "")
    with pytest.raises(UserError, match="has nothing before it"):
        one(
            tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer()),
            "",
            " France",
        )
    assert (
        one(LM, "", " France")[0].start == 1
    )  # after the token that the tokenizer adds


def test_ids_without_a_piece_have_a_name():
    assert (
        tokens.token_names(tiny_models.tiny_language_model("t5"), [5, 419])[1]
        == "<419>"
    )


@pytest.mark.parametrize(
    ("vocabulary", "prompt", "continuation", "merges"),
    [
        ("gpt-2", "Born in 19", "45", True),
        ("gpt-2", "a smile :", ")", True),
        ("gpt-2", "Which country is Lyon in?", " France", False),
        ("phi-3", "a caf", "é", True),
        ("phi-3", "Which country is Lyon in?", " France", False),
    ],
)
def test_merges_of_real_vocabularies(shared, vocabulary, prompt, continuation, merges):
    real = tiny_models.published_tokenizer(shared / "data" / "tokenizers", vocabulary)
    lm = tiny_models.tiny_language_model("gpt2", real)
    row = one(lm, prompt, continuation)[0]
    assert row.ids == tuple(real(prompt + continuation)["input_ids"])
    assert (row.start < len(real(prompt)["input_ids"])) == merges
    text = real.decode(list(row.scored)).strip()
    assert text.endswith(continuation.strip())
    assert (text == continuation.strip()) != merges


def test_each_text_is_tokenised_once_until_the_room_is_full(monkeypatch):
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    given, tokenise = [], type(lm.tokenizer).__call__

    def counted(tokenizer, texts, **settings):
        given.extend(texts)
        return tokenise(tokenizer, texts, **settings)

    monkeypatch.setattr(type(lm.tokenizer), "__call__", counted)
    tokens.forget_token_ids(lm)
    first = one(lm, "Lyon lies in", " France", " Italy")
    texts = {"Lyon lies in", "Lyon lies in France", "Lyon lies in Italy"}
    assert texts <= set(given)
    assert (
        len(given) == len(set(given)) + 1
    )  # one text is read with special tokens and without
    before = len(given)
    assert one(lm, "Lyon lies in", " Italy", " France") == first[::-1]
    assert len(given) == before
    monkeypatch.setattr(tokens, "MOST_KEPT_CHARACTERS", 10)
    tokens.forget_token_ids(lm)
    assert one(lm, "Lyon lies in", " France", " Italy") == first
    assert len(given) > before
    assert sum(len(text) for _, text in lm.known.ids) <= 10


@pytest.mark.parametrize(
    ("template", "read"),
    [
        ("{{ messages[0].content[0].text }}:", "Up?:"),
        (
            "{{ messages[0].content }}{{ '' if enable_thinking else '<think></think>' }}",
            None,
        ),
        ("{{ strftime_now('%Y-%m') }} {{ messages[0].content }}", "2024-07 Up?"),
        ("{{ raise_exception('System role needed') }}", "System role needed"),
        ("{% for %}", "cannot put a question"),
        ("{{ ''.__class__.__mro__ }}", "cannot put a question"),
        ("fixed text", "leaves the question out"),
    ],
)
def test_a_template_puts_the_question_or_is_refused(template, read):
    tokenizer = tiny_models.chat_tokenizer()
    lm = tiny_models.tiny_language_model("llama", tokenizer, chat=True)
    lm.tokenizer.chat_template = template
    if "messages" in template:
        assert tokens.strings_read_by_model(lm, ["Up?"]) == [
            read or "Up?<think></think>"
        ]
    else:
        with pytest.raises(UserError, match=read):
            tokens.strings_read_by_model(lm, ["Up?"])


NO_FIRST = tiny_models.CHAT_TEMPLATE.replace("{{ bos_token }}", "")


@pytest.mark.parametrize(
    ("family", "special", "template", "told"),
    [
        ("gemma2", "none", None, True),
        ("mistral", "none", None, True),
        ("gemma2", "none", NO_FIRST, True),
        ("gemma2", "bos", NO_FIRST, True),
        ("gemma2", "none", tiny_models.CHAT_TEMPLATE, False),
        ("gemma2", "bos", None, False),
        ("mixtral", "bos+eos", None, False),
        ("llama", "none", None, False),  # some of this family are trained without
        ("gpt2", "none", None, False),
    ],
)
def test_a_missing_first_token_is_told(family, special, template, told):
    tokenizer = tiny_models.byte_tokenizer(special)
    tokenizer.chat_template = template
    lm = tiny_models.tiny_language_model(family, tokenizer, chat=bool(template))
    assert bool(tokens.missing_first_token_warning(lm)) == told
    assert ("warning" in probing.scoring_method(lm)) == told


def test_what_is_told_of_a_first_token_mends_it(tmp_path, caplog):
    tiny_models.save_tiny_model(tmp_path, "gemma2", tiny_models.byte_tokenizer())
    told = tokens.missing_first_token_warning(models.load(tmp_path))
    assert caplog.messages == [told]
    assert "AutoTokenizer.from_pretrained(FOLDER, add_bos_token=True)" in told
    AutoTokenizer.from_pretrained(tmp_path, add_bos_token=True).save_pretrained(
        tmp_path
    )
    assert not tokens.missing_first_token_warning(models.load(tmp_path))
    assert len(caplog.messages) == 1


THOUGHTS = [
    ("<think>\n", "<think>\n\n</think>\n\n"),
    ("<think>", "<think>\n\n</think>\n\n"),
    ("<seed:think>\n", "<seed:think>\n\n</seed:think>\n\n"),
    ("[THINK]", "[THINK]\n\n[/THINK]\n\n"),
    ("<|START_THINKING|>", "<|START_THINKING|>\n\n<|END_THINKING|>\n\n"),
    ("<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n"),
    ("", ""),
]


@pytest.mark.parametrize(("end", "read"), THOUGHTS)
def test_no_option_is_scored_inside_thoughts(end, read, caplog):
    tokenizer = tiny_models.chat_tokenizer()
    template = tiny_models.CHAT_TEMPLATE.replace("[assistant] ", f"[assistant]{end}")
    tokenizer.chat_template = template
    lm = tiny_models.tiny_language_model("llama", tokenizer)
    lm = dataclasses.replace(lm, prompt_format="chat")
    strings = tokens.strings_read_by_model(lm, ["What is <think>?", "Lyon"])
    assert strings[0] == f"<s>[user] What is <think>?\n[assistant]{read}"
    row = one(lm, "Lyon", " France")[0]
    assert lm.tokenizer.decode(row.ids[: row.start]) == strings[1]
    n_warnings = int(end != read)
    assert caplog.text.count("ends inside the model's thoughts") == n_warnings


def test_what_the_tokenizer_changes_is_shown_as_read():
    lm = tiny_models.tiny_language_model("llama")
    assert tokens.strings_read_by_model(lm, ["Lyon\nÉ"]) == ["<s>Lyon\nÉ"]
    lm = tiny_models.tiny_language_model("llama", tiny_models.byte_tokenizer("bos"))
    lm.tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert tokens.strings_read_by_model(lm, ["Lyon\nÉ"]) == ["<s>lyon\né"]
    lm.tokenizer.backend_tokenizer.normalizer = normalizers.NFKC()
    tokens.forget_token_ids(lm)
    assert tokens.strings_read_by_model(lm, ["\ufb01n ①"]) == ["<s>fin 1"]
    pieces_of_t5 = tiny_models.tiny_language_model("t5")
    read = tokens.strings_read_by_model(pieces_of_t5, ["Lyon in 東京", "Lyon  in"])
    assert read == ["Lyon in <unk></s>", "Lyon  in</s>"]


def test_scores_show_what_was_read():
    lm = tiny_models.tiny_language_model("llama", tiny_models.byte_tokenizer("bos"))
    lm.tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    said = probing.generate(lm, ["LYON is in"], progress=False)
    assert said["read"].tolist() == ["<s>lyon is in"]
