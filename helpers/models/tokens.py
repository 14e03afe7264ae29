"""Token ids of prompts and continuations, and where scoring of a continuation starts.

Both are tokenised as one string. A continuation starts where the ids of "prompt +
continuation" leave those of the prompt alone, at the earliest such place over the
options of one probe: "Born in 19" + "45", which a tokenizer may write as one piece "
1945", is scored from that piece on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from transformers.utils import chat_template_utils

from helpers import UserError, first_line_of_error
from helpers.models import families, prefix_tokenising
from helpers.models.language_model import LanguageModel
from helpers.models.patching import patched
from helpers.models.prefix_tokenising import common_prefix_length

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
CHAT_TEMPLATE_SETTINGS = {"tokenize": False, "add_generation_prompt": True}
CHAT_TEMPLATE_SETTINGS |= {"enable_thinking": False, "thinking": False}
# Characters of texts whose ids are kept for the next time, some 100 MB.
MOST_KEPT_CHARACTERS = 10_000_000


class _Day(datetime):
    """A fixed date for templates that ask for it, so that prompts do not change."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        """Return the day that Meta's templates name where no clock is at hand."""
        return cls(2024, 7, 26, tzinfo=tz)


Texts, Groups = Sequence[str], Sequence[tuple]


@dataclass(frozen=True)
class Row:
    """What one forward pass reads, and from where on its tokens are scored."""

    ids: tuple[int, ...]  # of the text, or of the decoder's text with its start token
    start: int  # index in `ids` of the first scored token; at least 1
    source: tuple[int, ...] = ()  # ids that the encoder reads; empty for a causal model

    @property
    def scored(self) -> tuple[int, ...]:
        """Return the ids of the scored tokens."""
        return self.ids[self.start :]

    def cache_parts(self) -> tuple[object, ...]:
        """Return what besides its ids tells its result from others in a cache."""
        return ("score", len(self.source), self.start)


def strings_read_by_model(model: LanguageModel, prompts: Texts) -> list[str]:
    """Return the exact strings that a model reads, special tokens included."""
    if model.chat:
        return [_template(model, prompt) for prompt in prompts]
    before, after = _special_ids(model)
    head = "".join(token_names(model, before))
    tail = "".join(token_names(model, after)) if model.kind == "seq2seq" else ""
    return [f"{head}{prompt}{tail}" for prompt in prompts]


def prompt_ids(model: LanguageModel, prompts: Texts) -> list[tuple[int, ...]]:
    """Return the ids of prompts as read; a causal model's end token is dropped."""
    texts = strings_read_by_model(model, prompts) if model.chat else list(prompts)
    if model.kind == "causal":
        return _causal(model, texts)
    return _encode(model, texts, special=not model.chat)


def rows_of_continuations(
    model: LanguageModel, prompts: Texts, continuations: Texts, groups: Groups
) -> list[Row]:
    """Return a row for each continuation; a group is scored from the same token on."""
    # After a template, a text begins without a space.
    said = [c.removeprefix(" ") for c in continuations] if model.chat else continuations
    if model.kind == "seq2seq":
        made = _seq2seq_rows(model, prompts, said)
    else:
        made = _causal_rows(model, prompts, said, groups)
    for row, group, continuation in zip(made, groups, continuations):
        name = f"The continuation {continuation!r} of {' / '.join(map(str, group))}"
        if row.start == 0 or row.start == len(row.ids) == 1:
            raise UserError(
                f"{name} has nothing before it, so its first token has no probability; "
                "give a prompt, or a tokenizer that adds a first token."
            )
        if not row.scored:
            raise UserError(f"{name} has no tokens; add text to it or drop the row.")
    return made


def rows_of_texts(model: LanguageModel, texts: Texts) -> list[Row]:
    """Return rows of whole texts; a first token with none before it is not scored."""
    model, nothing = replace(model, prompt_format="bare"), [""] * len(texts)
    if model.kind == "seq2seq":
        return _seq2seq_rows(model, nothing, texts)
    return _causal_rows(model, nothing, texts, [(text,) for text in texts])


def has_first_token(model: LanguageModel) -> bool:
    """Return whether a token comes before any text, so that its first one is scored."""
    return model.kind == "seq2seq" or bool(_special_ids(model)[0])


def missing_first_token_warning(model: LanguageModel) -> str:
    """Return a warning where a model gets no first token but its family reads one."""
    if model.config is None or model.kind != "causal":
        return ""
    config = families.text_config(model.config)
    if (
        not config.model_type.startswith(FAMILIES_WITH_FIRST_TOKEN)
        or config.bos_token_id is None
    ):
        return ""
    if config.bos_token_id in prompt_ids(model, ["a"])[0]:
        return ""
    return (
        f"{model.name} gets no first token, though models of its family "
        f"({config.model_type}) are trained with one before every text and may err "
        "without: if its maker adds one, save AutoTokenizer.from_pretrained(FOLDER, "
        "add_bos_token=True) into its folder."
    )


def check_length(model: LanguageModel, row: Row, name: object, more: int = 0) -> None:
    """Refuse a row that is longer than what the model can read."""
    length = max(len(row.ids) + more, len(row.source))
    if model.max_length is not None and length > model.max_length:
        raise UserError(
            f"{name} is {length} tokens long in all, but {model.name} reads at most "
            f"{model.max_length}; shorten it or choose another model."
        )


def decoder_start_ids(model: LanguageModel) -> tuple[int, ...]:
    """Return the ids that a sequence-to-sequence decoder reads before any text."""
    places = (model.config, model.generation_config)
    names = ("decoder_start_token_id", "bos_token_id")
    found = [getattr(place, name, None) for name in names for place in places]
    first = next((token for token in found if token is not None), None)
    if first is None:
        raise UserError(
            f"{model.name} names no decoder_start_token_id: add it to config.json."
        )
    return (first, *_special_ids(model)[0])


def token_names(model: LanguageModel, ids: Sequence[int]) -> list[str]:
    """Return tokens as the tokenizer names them; an id of the model alone as ``<id>``."""
    names = model.tokenizer.convert_ids_to_tokens(list(ids))
    return [f"<{i}>" if name is None else str(name) for i, name in zip(ids, names)]


def token_id_of_name(model: LanguageModel, name: str) -> int:
    """Return the id of a token from a server's name: ``token_id:7``, or its text."""
    if name.startswith("token_id:"):
        return int(name.removeprefix("token_id:"))
    ids = _by_text(model).get(name, [])
    if len(ids) != 1:
        raise UserError(
            f"{model.name} wrote the token {name!r} without its id, and the tokenizer "
            f"has {len(ids) or 'none'} of this text; take a server that tells token "
            "ids (vLLM)."
        )
    return ids[0]


def _by_text(model: LanguageModel) -> dict[str, list[int]]:
    """Return all tokens by their text alone, as servers without ids name them."""
    known = model.known.by_text
    if not known:
        for token in range(len(model.tokenizer)):
            text = model.tokenizer.decode([token], clean_up_tokenization_spaces=False)
            known.setdefault(text, []).append(token)
    return known


def _causal_rows(
    model: LanguageModel, prompts: Texts, continuations: Texts, groups: Groups
) -> list[Row]:
    distinct = list(dict.fromkeys(prompts))
    alone = dict(zip(distinct, prompt_ids(model, distinct)))
    shown = dict(
        zip(
            distinct, strings_read_by_model(model, distinct) if model.chat else distinct
        )
    )
    joint = prefix_tokenising.joint_token_ids(
        [(shown[p], c) for p, c in zip(prompts, continuations)],
        whole=lambda texts: _causal(model, texts),
        part=lambda texts: _encode(model, texts, special=False),
    )
    starts: dict[tuple, int] = {}
    for key, prompt, ids in zip(zip(groups, prompts), prompts, joint):
        shared = common_prefix_length(ids, alone[prompt]) if alone[prompt] else 1
        starts[key] = min(shared, starts.get(key, shared))
    return [Row(ids, starts[key]) for ids, key in zip(joint, zip(groups, prompts))]


def _seq2seq_rows(
    model: LanguageModel, prompts: Texts, continuations: Texts
) -> list[Row]:
    distinct = list(dict.fromkeys(prompts))
    sources = dict(zip(distinct, prompt_ids(model, distinct)))
    start = decoder_start_ids(model)
    targets = _encode(model, continuations, special=False)
    return [
        Row(start + ids, len(start), sources[p]) for ids, p in zip(targets, prompts)
    ]


def _causal(model: LanguageModel, texts: Texts) -> list[tuple[int, ...]]:
    # A chat template writes its own special tokens; the tokenizer must not add them
    # again.
    found = _encode(model, texts, special=not model.chat)
    after = () if model.chat else _special_ids(model)[1]
    return [
        ids[: -len(after)] if after and ids[-len(after) :] == after else ids
        for ids in found
    ]


def forget_token_ids(model: LanguageModel) -> None:
    """Let go of the ids of texts, so that what comes next tokenises its texts itself."""
    model.known.ids.clear()
    model.known.characters = 0


def _encode(model: LanguageModel, texts: Texts, special: bool) -> list[tuple[int, ...]]:
    """Return the ids of texts; each is tokenised once: scored, counted and continued."""
    known = model.known
    new = [text for text in dict.fromkeys(texts) if (special, text) not in known.ids]
    if new:
        only_ids = {"return_attention_mask": False, "return_token_type_ids": False}
        found = model.tokenizer(
            new, add_special_tokens=special, verbose=False, **only_ids
        )
        for text, ids in zip(new, found["input_ids"], strict=True):
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
    for before in range(len(full) - len(bare) + 1):
        if full[before : before + len(bare)] == bare:
            return full[:before], full[before + len(bare) :]
    return (), ()


def _template(model: LanguageModel, prompt: str) -> str:
    """Return a prompt in the model's template, without thoughts where it has them."""
    # Some templates read a text, some a list of parts; either drops the other without a
    # word.
    for content in (prompt, [{"type": "text", "text": prompt}]):
        try:
            with patched(chat_template_utils, "datetime", _Day):
                asked = [{"role": "user", "content": content}]
                text = model.tokenizer.apply_chat_template(
                    asked, **CHAT_TEMPLATE_SETTINGS
                )
        except (
            Exception
        ) as error:  # whatever the model's template runs into, or raises itself
            why = first_line_of_error(error)
        else:
            if prompt.strip() in text:
                return text
            why = "it leaves the question out"
    raise UserError(
        f"The chat template of {model.name} cannot put a question ({why}); mend it, or "
        "set prompt_format=bare."
    )
