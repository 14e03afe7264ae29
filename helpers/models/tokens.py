"""Token ids of prompts and continuations, and where scoring of a continuation starts.

Both are tokenised as one string. A continuation starts where the ids of "prompt +
continuation" leave those of the prompt alone, at the earliest such place over the
options of one probe: "Born in 19" + "45", which a tokenizer may write as one piece "
1945", is scored from that piece on.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, NamedTuple, Self

from transformers.utils import chat_template_utils

from helpers import UserError, first_line_of_error
from helpers.metrics import thoughts
from helpers.models import families, prefix_tokenising
from helpers.models.language_model import LanguageModel
from helpers.models.patching import patched
from helpers.models.prefix_tokenising import (
    SplitPrompt,
    TokenIds,
    common_prefix_length,
)

# Families whose models read a first token before every text; without it Gemma falls
# apart.
FAMILIES_WITH_FIRST_TOKEN = (
    "cohere",
    "gemma",
    "ministral",
    "mistral",
    "mixtral",
    "recurrent_gemma",
)
# What templates are told: to write a text, up to where the answer would stand, without
# thoughts.
CHAT_TEMPLATE_SETTINGS: dict[str, Any] = {
    "tokenize": False,
    "add_generation_prompt": True,
    "enable_thinking": False,
    "thinking": False,
}
# Characters of texts whose ids are kept for the next time, some 100 MB.
MOST_KEPT_CHARACTERS = 10_000_000


class _Day(datetime):
    """A fixed date for templates that ask for it, so that prompts do not change."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Return the day that Meta's templates name where no clock is at hand."""
        return cls(2024, 7, 26, tzinfo=tz)


Texts = Sequence[str]
Groups = Sequence[tuple]


class Row(NamedTuple):
    """What one forward pass reads, and which of its tokens are scored."""

    # What is read first, the decoder's start token too; `TokenIds` where rows share it.
    before: tuple[int, ...]
    scored: tuple[int, ...]
    source: tuple[int, ...] = ()  # what the encoder reads; empty for a causal model

    @classmethod
    def of_ids(
        cls, ids: tuple[int, ...], start: int, source: tuple[int, ...] = ()
    ) -> Self:
        """Return a row of ids that are scored from an index on."""
        return cls(TokenIds(ids[:start]), ids[start:], source)

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids in one: of the text, or of the decoder's text."""
        return self.before + self.scored

    @property
    def start(self) -> int:
        """The index in `ids` of the first scored token."""
        return len(self.before)

    @property
    def length(self) -> int:
        """How many ids there are, without those of the source."""
        return len(self.before) + len(self.scored)

    @property
    def longest(self) -> int:
        """How many ids there are in the longer one of the two texts that are read."""
        return max(self.length, len(self.source))

    def cache_parts(self) -> tuple[object, ...]:
        """Return what besides its ids tells its result from others in a cache."""
        return ("score", len(self.source), self.start)


def strings_read_by_model(model: LanguageModel, prompts: Texts) -> list[str]:
    """Return the exact strings that a model reads, special tokens included.

    What the tokenizer changes on the way (to lower case, to unknown tokens) is shown as
    it is read.
    """
    distinct = list(dict.fromkeys(prompts))
    strings = dict(zip(distinct, _strings_to_read(model, distinct), strict=True))
    if not _keeps_texts(model):
        ids_of_prompts = zip(distinct, prompt_ids(model, distinct), strict=True)
        for prompt, ids in ids_of_prompts:
            text = model.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)
            if _is_changed(strings[prompt], str(text)):
                strings[prompt] = str(text)
    return [strings[prompt] for prompt in prompts]


def _keeps_texts(model: LanguageModel) -> bool:
    """Return whether a tokenizer writes each text so that it can be read back whole."""
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None or backend.normalizer is not None:
        return False
    return type(backend.decoder).__name__ == "ByteLevel"


def _is_changed(given: str, read: str) -> bool:
    """Return whether a text was read as another, spaces between tokens apart."""
    if "".join(given.split()) != "".join(read.split()):
        return True
    return "\n" in given.strip() and "\n" not in read


def _strings_to_read(model: LanguageModel, prompts: Texts) -> list[str]:
    """Return what is given to the tokenizer for prompts, special tokens included."""
    if model.chat:
        return [_template(model, prompt) for prompt in prompts]
    before, after = _special_ids(model)
    head = "".join(token_names(model, before))
    tail = ""
    if model.kind == "seq2seq":
        tail = "".join(token_names(model, after))
    return [f"{head}{prompt}{tail}" for prompt in prompts]


def prompt_ids(model: LanguageModel, prompts: Texts) -> list[tuple[int, ...]]:
    """Return the ids of prompts as read; a causal model's end token is dropped."""
    texts = list(prompts)
    if model.chat:
        texts = _strings_to_read(model, prompts)
    if model.kind == "causal":
        return _causal(model, texts)
    return _encode(model, texts, special=not model.chat)


def rows_of_continuations(
    model: LanguageModel, prompts: Texts, continuations: Texts, groups: Groups
) -> list[Row]:
    """Return a row for each continuation; a group is scored from the same token on."""
    endings = continuations
    if model.chat:  # after a template, a text begins without a space
        endings = [continuation.removeprefix(" ") for continuation in continuations]
    if model.kind == "seq2seq":
        rows = _seq2seq_rows(model, prompts, endings)
    else:
        rows = _causal_rows(model, prompts, endings, groups)
    for row, group, continuation in zip(rows, groups, continuations, strict=True):
        if row.before and row.scored:
            continue
        name = f"The continuation {continuation!r} of {' / '.join(map(str, group))}"
        if row.scored or row.length == 1:
            raise UserError(
                f"{name} has nothing before it, so its first token has no probability; "
                "give a prompt, or a tokenizer that adds a first token."
            )
        raise UserError(f"{name} has no tokens; add text to it or drop the row.")
    return rows


def rows_of_texts(model: LanguageModel, texts: Texts) -> list[Row]:
    """Return rows of whole texts; a first token with none before it is not scored."""
    bare_model = replace(model, prompt_format="bare")
    prompts = [""] * len(texts)
    if model.kind == "seq2seq":
        return _seq2seq_rows(bare_model, prompts, texts)
    return _causal_rows(bare_model, prompts, texts, [(text,) for text in texts])


def has_first_token(model: LanguageModel) -> bool:
    """Return whether a token comes before any text, so that its first one is scored."""
    before, _ = _special_ids(model)
    return model.kind == "seq2seq" or bool(before)


def missing_first_token_warning(model: LanguageModel) -> str:
    """Return a warning where a model gets no first token but its family reads one."""
    if model.config is None or model.kind != "causal":
        return ""
    config = families.text_config(model.config)
    if not config.model_type.startswith(FAMILIES_WITH_FIRST_TOKEN):
        return ""
    first_token = config.bos_token_id
    if first_token is None or first_token in prompt_ids(model, ["a"])[0]:
        return ""
    return (
        f"{model.name} gets no first token, though models of its family "
        f"({config.model_type}) are trained with one before every text and may err "
        "without: if its maker adds one, save AutoTokenizer.from_pretrained(FOLDER, "
        "add_bos_token=True) into its folder."
    )


def check_length(model: LanguageModel, length: int, name: object) -> None:
    """Refuse what has more tokens than the model can read."""
    if model.max_length is not None and length > model.max_length:
        raise UserError(
            f"{name} is {length} tokens long in all, but {model.name} reads at most "
            f"{model.max_length}; shorten it or choose another model."
        )


def decoder_start_ids(model: LanguageModel) -> tuple[int, ...]:
    """Return the ids that a sequence-to-sequence decoder reads before any text."""
    before, _ = _special_ids(model)
    for name in ("decoder_start_token_id", "bos_token_id"):
        for config in (model.config, model.generation_config):
            first = getattr(config, name, None)
            if first is not None:
                return (first, *before)
    raise UserError(
        f"{model.name} names no decoder_start_token_id: add it to config.json."
    )


def token_names(model: LanguageModel, ids: Sequence[int]) -> list[str]:
    """Return tokens as the tokenizer names them, and ids that it lacks as ``<id>``."""
    names = model.tokenizer.convert_ids_to_tokens(list(ids))
    return [
        f"<{token}>" if name is None else str(name)
        for token, name in zip(ids, names, strict=True)
    ]


def token_id_of_name(model: LanguageModel, name: str) -> int:
    """Return the id of a token from a server's name: ``token_id:7``, or its text."""
    if name.startswith("token_id:"):
        return int(name.removeprefix("token_id:"))
    ids = _tokens_by_text(model).get(name, [])
    if len(ids) != 1:
        raise UserError(
            f"{model.name} wrote the token {name!r} without its id, and the tokenizer "
            f"has {len(ids) or 'none'} of this text; take a server that tells token "
            "ids (vLLM)."
        )
    return ids[0]


def _tokens_by_text(model: LanguageModel) -> dict[str, list[int]]:
    """Return all tokens by their text alone, as servers without ids name them."""
    tokens_by_text = model.known.by_text
    if not tokens_by_text:
        for token in range(len(model.tokenizer)):
            text = str(
                model.tokenizer.decode([token], clean_up_tokenization_spaces=False)
            )
            tokens_by_text.setdefault(text, []).append(token)
    return tokens_by_text


def _causal_rows(
    model: LanguageModel, prompts: Texts, continuations: Texts, groups: Groups
) -> list[Row]:
    """Return the row of each prompt and continuation, tokenised as one text."""
    distinct = list(dict.fromkeys(prompts))
    distinct_texts = _strings_to_read(model, distinct) if model.chat else distinct
    text_of_prompt = dict(zip(distinct, distinct_texts, strict=True))
    texts = [text_of_prompt[prompt] for prompt in prompts]
    splits, tails = _split_texts_and_tails(model, texts, continuations)
    keys = list(zip(groups, texts, strict=True))
    starts: dict[tuple[tuple, str], int] = {}
    for key, tail in zip(keys, tails, strict=True):
        start = _start(splits[key[1]], tail)
        starts[key] = min(start, starts.get(key, start))
    # What rows of one prompt share, by its text and where their continuations start.
    beginnings: dict[tuple[str, int], TokenIds] = {}
    rows = []
    for key, tail in zip(keys, tails, strict=True):
        split = splits[key[1]]
        start = starts[key]
        if not split.end_ids:
            rows.append(Row.of_ids(tail, start))
            continue
        beginning = (key[1], start)
        if beginning not in beginnings:
            ids = (split.kept_ids + split.end_ids)[:start]
            beginnings[beginning] = TokenIds(ids)
        scored = tail[start - len(split.kept_ids) :]
        rows.append(Row(beginnings[beginning], scored))
    return rows


def _start(split: SplitPrompt, tail: tuple[int, ...]) -> int:
    """Return where a text's ids leave those of its prompt alone."""
    if not split.end_ids:
        return 1  # without a prompt, the text's first token has no probability
    return len(split.kept_ids) + common_prefix_length(tail, split.end_ids)


def _split_texts_and_tails(
    model: LanguageModel, texts: Texts, continuations: Texts
) -> tuple[dict[str, SplitPrompt], list[tuple[int, ...]]]:
    """Return prompts as read, split before their last words, and the ids from there."""
    distinct = list(dict.fromkeys(texts))
    ids_of_texts = dict(zip(distinct, _causal(model, distinct), strict=True))
    return prefix_tokenising.split_prompts_and_tails(
        ids_of_texts,
        list(zip(texts, continuations, strict=True)),
        whole=lambda texts: _causal(model, texts),
        part=lambda texts: _encode(model, texts, special=False),
        may_split=_has_words_apart(model),
    )


def _has_words_apart(model: LanguageModel) -> bool:
    """Return whether a tokenizer's tokens end where a word does; looked up once."""
    known = model.known
    if known.words_are_apart is None:
        known.words_are_apart = prefix_tokenising.words_are_apart(
            model.tokenizer.get_vocab()
        )
    return known.words_are_apart


def _seq2seq_rows(
    model: LanguageModel, prompts: Texts, continuations: Texts
) -> list[Row]:
    """Return rows whose encoder reads the prompt and whose decoder the continuation."""
    distinct = list(dict.fromkeys(prompts))
    sources = map(TokenIds, prompt_ids(model, distinct))
    source_of_prompt = dict(zip(distinct, sources, strict=True))
    start_ids = TokenIds(decoder_start_ids(model))
    targets = _encode(model, continuations, special=False)
    return [
        Row(start_ids, ids, source_of_prompt[prompt])
        for ids, prompt in zip(targets, prompts, strict=True)
    ]


def _causal(model: LanguageModel, texts: Texts) -> list[tuple[int, ...]]:
    """Return the ids of texts without the tokenizer's end token."""
    # A chat template writes its own special tokens; none are added again.
    if model.chat:
        return _encode(model, texts, special=False)
    ids_of_texts = _encode(model, texts, special=True)
    _, after = _special_ids(model)
    return [_without_end(ids, after) for ids in ids_of_texts]


def _without_end(ids: tuple[int, ...], end: tuple[int, ...]) -> tuple[int, ...]:
    """Return ids without an end that they may have."""
    if end and ids[-len(end) :] == end:
        return ids[: -len(end)]
    return ids


def forget_token_ids(model: LanguageModel) -> None:
    """Drop the cached ids of texts, so that texts are tokenised anew."""
    model.known.ids.clear()
    model.known.characters = 0


def _encode(model: LanguageModel, texts: Texts, special: bool) -> list[tuple[int, ...]]:
    """Return the ids of texts, each of which is tokenised once and cached."""
    known = model.known
    new = [text for text in dict.fromkeys(texts) if (special, text) not in known.ids]
    if new:
        encoding = model.tokenizer(
            new,
            add_special_tokens=special,
            verbose=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        for text, ids in zip(new, encoding["input_ids"], strict=True):
            known.ids[special, text] = tuple(ids)
            known.characters += len(text)
    ids_of_texts = [known.ids[special, text] for text in texts]
    if known.characters > MOST_KEPT_CHARACTERS:
        forget_token_ids(model)
    return ids_of_texts


def _special_ids(model: LanguageModel) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that the tokenizer puts before and after any text."""
    bare = _encode(model, ["a"], special=False)[0]
    full = _encode(model, ["a"], special=True)[0]
    for start in range(len(full) - len(bare) + 1):
        end = start + len(bare)
        if full[start:end] == bare:
            return full[:start], full[end:]
    return (), ()


def _template(model: LanguageModel, prompt: str) -> str:
    """Return a prompt in the model's template, without thoughts where it has them."""
    # Some templates read a text, some a list of parts; each kind silently drops the
    # other.
    for content in (prompt, [{"type": "text", "text": prompt}]):
        # Transformers annotates texts alone, not lists of parts.
        messages: Any = [{"role": "user", "content": content}]
        try:
            with patched(chat_template_utils, "datetime", _Day):
                text = str(
                    model.tokenizer.apply_chat_template(
                        messages, **CHAT_TEMPLATE_SETTINGS
                    )
                )
        # Whatever the model's template runs into, or raises itself.
        except Exception as error:
            why = first_line_of_error(error)
        else:
            if prompt.strip() in text:
                return _with_thoughts_closed(model, prompt, text)
            why = "it leaves the question out"
    raise UserError(
        f"The chat template of {model.name} cannot put a question ({why}); mend it, or "
        "set prompt_format=bare."
    )


def _with_thoughts_closed(model: LanguageModel, prompt: str, text: str) -> str:
    """Return a templated prompt that does not end inside the model's thoughts."""
    end_of_question = text.rindex(prompt.strip()) + len(prompt.strip())
    marks = thoughts.marks_of_open_thoughts(text[end_of_question:])
    if marks is None:
        return text
    if not model.known.warned_of_thoughts:
        model.known.warned_of_thoughts = True
        logging.getLogger(__name__).warning(
            "The chat template of %s ends inside the model's thoughts (%s); they are "
            "closed (%s) before the answer.",
            model.name,
            marks.begin,
            marks.end,
        )
    return f"{text.rstrip()}\n\n{marks.end}\n\n"
