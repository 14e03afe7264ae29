"""Settings: words such as ``n_facts=30`` become typed values here, once."""

import contextlib
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from helpers import UserError

FIXED = {"model": "MODEL= or --model", "run_dir": "--runs", "runs_dir": "--runs"}
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
# The least value of a number, where it is not 0: fewer resamples give no interval.
LEAST = {
    "n_bootstrap": 20,
    "n_choices": 1,
    "n_examples": 1,
    "n_frames": 1,
    "n_options": 2,
    "n_seen": 1,
    "n_unseen": 1,
    "n_variations": 2,
}
KINDS = {bool: "yes or no", int: "a whole number", float: "a number"}


def settings_from_words(
    words: Iterable[str],
    defaults: Mapping[str, Any],
    owner: str,
    least: Mapping[str, int] = LEAST,
) -> dict[str, Any]:
    """Return what words such as ``n_facts=30`` set, in the types of the defaults.

    Parameters
    ----------
    words : iterable of str
        Each ``name=value``, and each name once.
    defaults : mapping
        The settings that there are, with their defaults.
    owner : str
        Whose settings they are, for an error: ``"The chapter monitor has"``.
    least : mapping
        The least value of a whole number, where it is not 0.

    Returns
    -------
    dict
        The settings that the words name, and no others.

    Raises
    ------
    UserError
        If a word has no ``=``, names no setting or one that another word sets, or has a
        value of another type.

    Examples
    --------
    >>> defaults = {"n_facts": 15, "relations": []}
    >>> settings_from_words(["n_facts=5", "relations=P17,P36"], defaults, "It has")
    {'n_facts': 5, 'relations': ['P17', 'P36']}
    """
    settings = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UserError(
                f"'{word}' sets nothing: write name=value, as in n_facts=30."
            )
        if name in FIXED:
            raise UserError(
                f"The parameter {name} is set with {FIXED[name]}, not by '{word}'."
            )
        if name not in defaults:
            raise UserError(_unknown_name(name, defaults, owner))
        if name in settings:
            raise UserError(f"The parameter {name} is set twice: set it once.")
        value = value_from_text(name, text, defaults[name])
        least_value = least.get(name, 0)
        if isinstance(defaults[name], int) and value < least_value:
            raise UserError(
                f"The parameter {name} is {value}: give {least_value} or more."
            )
        settings[name] = value
    return settings


def _unknown_name(name: str, defaults: Mapping[str, Any], owner: str) -> str:
    """Return the error for a name that is no setting, with the nearest that is one."""
    declared = f"declared ones are {', '.join(defaults)}."
    nearest = difflib.get_close_matches(name, defaults, n=1)
    if nearest:
        declared = f"did you mean {nearest[0]}? The {declared}"
    else:
        declared = f"the {declared}"
    return f"{owner} no parameter '{name}': {declared}"


def value_from_text(name: str, text: str, default: Any) -> Any:
    """Return the value that a text gives to a setting, in the type of its default."""
    from helpers.io import network  # slow: not for those who ask for help

    if isinstance(default, list | tuple):
        example = default[0] if default else ""
        words = _words_of_list(name, text)
        return [value_from_text(name, word, example) for word in words if word]
    kind = type(default)
    try:
        if kind is bool:
            return YES_NO[text.lower()]
        return kind(network.text_without_secrets(text))
    except UserError:
        raise
    except (KeyError, ValueError) as error:
        raise UserError(
            f"The parameter {name} takes {KINDS.get(kind, kind.__name__)}, "
            f"as in {name}={default}, and '{text}' is none."
        ) from error


def _words_of_list(name: str, text: str) -> list[str]:
    """Return the parts of a list in JSON, or as people write lists."""
    from helpers.io import files

    if text.startswith("["):
        with contextlib.suppress(UserError):
            return [str(word) for word in files.parse_json(text, name)]
    words = text.strip("[]() ").split(",")
    return [word.strip().strip("'\"") for word in words]
