"""Load a tokenizer that writes the ids of its own file.

Transformers builds many tokenizers anew from the vocabulary of ``tokenizer.json``, with
the splitting of the class that the configuration names. Where this is not the file's
own, the model would read other tokens than it was trained on, so the file decides.
Settings may add tokens such as ``<pad>``, but not make a word of the texts a token of
its own. What a file splits by chance (BPE dropout), it splits here in its one best way.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import UserError, first_line_of_error
from helpers.models import checkpoints, file_faults
from helpers.models.identity import TRUSTED_CODE_PACKAGE

# transformers takes seconds to import: only loading a tokenizer pays for it.
if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILES = "tokenizer_config.json, special_tokens_map.json"
# Texts that ways of splitting tell apart.
PROBE_TEXTS = (
    "The capital of France is Paris, and the capital of Japan is Tokyo.",
    "In 1969, 2023 and 12345678 people; 3.14 %, 1,000,000; -7 x2 ½ ² ٣ ४५६",
    " one space before and after ",
    "  two   three    four     ",
    "line\nline\n\nline\r\nline \n \n\tend\n",
    "a\tb\t\tc\u00a0d\u3000e\u200bf\u200dg",
    "don't we'll they've I'm IT'S DON'T we’ll o'clock 'tis",
    'He said: "Lima" (Peru), [Oslo]... {x}; a-b--c—d …!? $5 #6 @7 /8 \\9',
    "def f(x):\n    return x_1 + 2  # it's\n\n\tif (a!=b) {\n    }",
    "Zürich caf\u00e9 cafe\u0301 A\u030a n\u0303o \ufb01n ① Ａｂｃ İstanbul ẞ",
    "東京は日本の首都です。北京2008年 서울 กรุงเทพมหานคร",
    "Москва Ελλάδα القاهرة עברית हिन्दी தமிழ் ភ្នំពេញ",
    "🙂 👩‍👩‍👧 🇫🇷 👍🏽 ✈️ 𝒳 \U0001f9ff",
    "camelCaseWord HTTPServer snake_case UPPER lower MiXeD x86_64 v2.0",
    "https://example.org/a?b=c&d=1 user@example.org",
    "<s> </s> <unk> <pad> <mask> <|endoftext|> <|im_start|>user<|im_end|>",
    "[CLS] [SEP] [MASK] [PAD] [UNK] [INST] <bos> <eos> <0x0A> ▁a ##b Ġc",
)
# Models of tokens, and what makes them split a text by chance.
SETTINGS_OF_CHANCE = ("dropout", "alpha", "nbest_size")
# Entries of the vocabulary, and special tokens, that further probes are made of.
N_VOCABULARY_PROBES = 400
N_SPECIAL_PROBES = 16


def load_tokenizer(
    folder: Path, name: str | Path, code: bool = False
) -> PreTrainedTokenizerBase:
    """Return a folder's tokenizer, whose ids are those of ``tokenizer.json``.

    Parameters
    ----------
    folder : Path
    name : str or Path
        What the user calls the model.
    code : bool
        Whether code that comes with the tokenizer may run here.

    Returns
    -------
    PreTrainedTokenizerBase
        As transformers makes it where it agrees with the file, and otherwise the file's
        own with the special tokens of the configuration.

    Raises
    ------
    UserError
        Where there is no tokenizer, or the file's cannot be had.
    """
    if not checkpoints.has_tokenizer(folder):
        raise UserError(
            f"{name} has no tokenizer that can be loaded (none is there): put its "
            f"files ({TOKENIZER_FILE}, tokenizer_config.json) beside the weights."
        )
    missing = f"{name} has no tokenizer that can be loaded"
    remedy = "fetch or save its files anew"
    with file_faults.reraise_true_cause(missing, remedy), reraise_refused_code(name):
        if (folder / TOKENIZER_FILE).is_file():
            return _tokenizer_of_file(folder, name, code)
        tokenizer = _tokenizer_of_class(folder, code)
    _log_warning(
        f"{name} has no {TOKENIZER_FILE}: its tokens are those that transformers "
        f"({type(tokenizer).__name__}) makes of its vocabulary, compared with no other."
    )
    return tokenizer


@contextlib.contextmanager
def reraise_refused_code(name: str | Path) -> Iterator[None]:
    """Say how code that comes with a model is allowed to run, where it was refused."""
    try:
        yield
    except Exception as error:  # also whatever trusted code raises
        if "trust_remote_code" not in str(error):
            raise
        raise UserError(
            f"{name} comes with its own code, which is not run unless you say so; read "
            'it, and if you trust it, add SET="trust_remote_code=yes" (in Python '
            "trust_remote_code=True)."
        ) from error


def _tokenizer_of_class(folder: Path, code: bool) -> PreTrainedTokenizerBase:
    """Return the tokenizer as transformers makes it for the class that is named."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, trust_remote_code=code)


def _tokenizer_of_file(
    folder: Path, name: str | Path, code: bool
) -> PreTrainedTokenizerBase:
    """Return the class's tokenizer if it writes as its file does, else the file's."""
    from transformers import PreTrainedTokenizerFast

    reference = _read_tokenizer_file(folder, name)
    probes = _probe_texts(reference)
    of_class = None
    try:
        of_class = _tokenizer_of_class(folder, code)
        _leave_nothing_to_chance(of_class)
    except Exception as error:  # of classes that the file does not fit, any
        if "trust_remote_code" in str(error):
            raise
    unusable = f"The settings of {name}'s tokenizer ({SETTINGS_FILES}) cannot be used"
    with file_faults.reraise_true_cause(unusable, "mend or fetch them anew"):
        if type(of_class) is PreTrainedTokenizerFast:
            of_file = of_class
        else:
            of_file = PreTrainedTokenizerFast.from_pretrained(folder)
        _leave_nothing_to_chance(of_file)
        of_file(PROBE_TEXTS[0])  # some wrong settings show only now
    _refuse_other_tokens(of_file, reference, probes, name)
    if of_class is None:
        _log_warning(
            f"Transformers cannot make the tokenizer that {name} names; that of its"
            f" {TOKENIZER_FILE} is used."
        )
        return of_file
    text = _text_written_otherwise(of_class, of_file, probes)
    if text is None:
        return of_class
    kind = type(of_class).__name__
    if type(of_class).__module__.startswith(TRUSTED_CODE_PACKAGE):
        _log_warning(
            f"The code that comes with {name} ({kind}) writes {text[:60]!r} in other "
            f"tokens than its {TOKENIZER_FILE}; the code was trusted, and is used."
        )
        return of_class
    _log_warning(
        f"Transformers ({kind}) would write {text[:60]!r} in other tokens than the "
        f"{TOKENIZER_FILE} of {name}; the file's own tokenizer is used."
    )
    _name_special_tokens(of_file, of_class)
    return of_file


def _read_tokenizer_file(folder: Path, name: str | Path) -> Tokenizer:
    """Return the tokenizer that a file holds, which cuts and fills no text."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    except Exception as error:  # the library raises no other kind
        raise UserError(
            f"{name} has no tokenizer that can be loaded ({TOKENIZER_FILE}: "
            f"{first_line_of_error(error)}): fetch or save that file anew."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if _leave_nothing_to_chance(tokenizer):
        _log_warning(
            f"The {TOKENIZER_FILE} of {name} splits texts by chance (its dropout), as "
            "in training; here it is switched off."
        )
    return tokenizer


def _leave_nothing_to_chance(tokenizer: PreTrainedTokenizerBase | Tokenizer) -> bool:
    """Switch off what makes a tokenizer split a text by chance; tell whether it did."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    model = getattr(backend, "model", None)  # tokenizers in Python have none
    by_chance = False
    for setting in SETTINGS_OF_CHANCE:
        if getattr(model, setting, None):
            setattr(model, setting, None)
            by_chance = True
    return by_chance


def _probe_texts(tokenizer: Tokenizer) -> list[str]:
    """Return texts that ways of splitting tell apart, some of the file's own tokens."""
    ids = sorted(tokenizer.get_vocab(with_added_tokens=False).values())
    step = max(1, len(ids) // N_VOCABULARY_PROBES)
    words = [tokenizer.decode([token]) for token in ids[::step]]
    special = [
        token.content
        for _, token in sorted(tokenizer.get_added_tokens_decoder().items())
    ]
    texts = [*PROBE_TEXTS, " ".join(words), "".join(words)]
    for token in special[:N_SPECIAL_PROBES]:
        texts.append(f"Lyon {token} in{token}France\n{token}")
    return texts


def _refuse_other_tokens(
    tokenizer: PreTrainedTokenizerBase,
    reference: Tokenizer,
    probes: Sequence[str],
    name: str | Path,
) -> None:
    """Refuse a tokenizer that writes texts otherwise than its file."""
    renewed = _tokens_of_settings(tokenizer, reference)
    reference.encode_special_tokens = bool(tokenizer.split_special_tokens)
    _refuse_words_as_tokens(tokenizer, reference, renewed, name)
    for text in probes:
        # A token that the settings name or change is read as they say.
        if any(token in text for token in renewed):
            continue
        if _writes_otherwise(tokenizer, reference, text):
            raise UserError(
                f"The tokenizer of {name} cannot be loaded as its {TOKENIZER_FILE} has "
                f"it (it writes {text[:60]!r} in other tokens): save it anew with the "
                "version of transformers that is installed, or choose another model."
            )


def _refuse_words_as_tokens(
    tokenizer: PreTrainedTokenizerBase,
    reference: Tokenizer,
    renewed: Sequence[str],
    name: str | Path,
) -> None:
    """Refuse settings that make a word a token of its own, against the file.

    No text that is asked holds a token such as ``<pad>``, but any may hold a word. Of a
    mark such as "!" it is said.
    """
    in_file = {token.content for token in reference.get_added_tokens_decoder().values()}
    for token in renewed:
        text = f"Lyon {token}{token} Lyon{token}"
        word = token.strip(" \u2581\u0120")  # as vocabularies mark a blank
        is_word = word.replace(" ", "").isalnum()
        if token in in_file or not (is_word or len(word) <= 1):
            continue
        if not _writes_otherwise(tokenizer, reference, text):
            continue
        sentence = (
            f"The settings of {name} make {token[:60]!r} a token of its own, and its "
            f"{TOKENIZER_FILE} does not, so a text with it is written in other tokens "
            "than the file's"
        )
        if is_word:
            raise UserError(
                f"{sentence}: take it out of tokenizer_config.json, "
                "special_tokens_map.json and added_tokens.json, or save the tokenizer "
                "anew."
            )
        _log_warning(f"{sentence}.")


def _writes_otherwise(
    tokenizer: PreTrainedTokenizerBase, reference: Tokenizer, text: str
) -> bool:
    """Tell whether a tokenizer writes a text in other ids than its file."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return list(ids) != reference.encode(text, add_special_tokens=False).ids


def _tokens_of_settings(
    tokenizer: PreTrainedTokenizerBase, reference: Tokenizer
) -> list[str]:
    """Return the added tokens that a tokenizer has otherwise than its file."""
    in_file = {}
    for token in reference.get_added_tokens_decoder().values():
        in_file[token.content] = repr(token)
    return [
        token.content
        for token in tokenizer.added_tokens_decoder.values()
        if repr(token) != in_file.get(token.content)
    ]


def _text_written_otherwise(
    tokenizer: PreTrainedTokenizerBase,
    of_file: PreTrainedTokenizerBase,
    probes: Sequence[str],
) -> str | None:
    """Return the first text that a tokenizer writes or reads otherwise; None: none."""
    for text in probes:
        for special in (False, True):
            ids = _ids_or_none(tokenizer, text, special)
            expected = _ids_or_none(of_file, text, special)
            if ids != expected or expected is None:
                return text
            if _text_or_none(tokenizer, expected) != _text_or_none(of_file, expected):
                return text
    more = set(tokenizer.get_vocab()) - set(of_file.get_vocab())
    return min(more, default=None)


def _ids_or_none(
    tokenizer: PreTrainedTokenizerBase, text: str, special: bool
) -> list[int] | None:
    """Return a text's ids; None where the tokenizer fails on it."""
    try:
        return list(tokenizer(text, add_special_tokens=special)["input_ids"])
    except Exception:  # of a class that its file does not fit, any
        return None


def _text_or_none(tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> str | None:
    """Return the text of ids; None where the tokenizer fails on them."""
    try:
        return str(tokenizer.decode(ids, clean_up_tokenization_spaces=False))
    except Exception:  # of a class that its file does not fit, any
        return None


def _name_special_tokens(
    of_file: PreTrainedTokenizerBase, of_class: PreTrainedTokenizerBase
) -> None:
    """Let tokens of the file stand for an end, and so on, as the class has it."""
    vocabulary = of_file.get_vocab()
    for role in of_file.SPECIAL_TOKENS_ATTRIBUTES:
        token = getattr(of_class, role, None)
        if getattr(of_file, role, None) is None and token in vocabulary:
            setattr(of_file, role, token)


def _log_warning(sentence: str) -> None:
    """Say a sentence where the program's log goes."""
    logging.getLogger(__name__).warning(sentence)
