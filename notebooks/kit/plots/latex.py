"""Text as LaTeX that pdflatex sets without a package; what it cannot set is written as [U+4E2D]."""

import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    words = text.split()
    return zip(words[::2], words[1::2])


LATEX_COMMANDS = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{char: f"\\{name}{{}}" for char, name in _pairs(_KNOWN["text"])},
    **{char: f"$\\{name}$" for char, name in _pairs(_KNOWN["math"])},
    **dict(_pairs(_KNOWN["other"])),
}
LATEX_ACCENTS = dict(
    zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308", "`'^~=u.\"")
)
LATEX_ACCENTS |= dict(zip("\u030a\u030b\u030c\u0323\u0327\u0331", "rHvdcb"))


def escape_latex(text: str) -> str:
    r"""Return a text as a table's cell, which a rule or line break above does not take as its own.

    >>> print(escape_latex("50_% é √η ế 中"), escape_latex("[0, 1]"))
    50\_\% \'{e} $\surd$$\eta$ \'{\^{e}} [U+4E2D] {[}0, 1]
    """
    said: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        base, *marks = (
            char if char in LATEX_COMMANDS else unicodedata.normalize("NFD", char)
        )
        known = LATEX_COMMANDS.get(base, " " if base.isspace() else None)
        if known is None and base.isascii() and base.isprintable():
            known = base
        if char in LATEX_ACCENTS and said:  # one that no letter has
            known, marks = said.pop(), [char]
        elif known is None or not all(mark in LATEX_ACCENTS for mark in marks):
            known, marks = f"[U+{ord(char):04X}]", []
        for mark in marks:
            known = f"\\{LATEX_ACCENTS[mark]}{{{known}}}"
        said.append(known)
    whole = "".join(said)
    return f"{{{whole[0]}}}{whole[1:]}" if whole.startswith(("[", "*")) else whole
