"""Text as LaTeX that pdflatex sets without a package; other signs become [U+4E2D]."""

import tomllib
import unicodedata
from pathlib import Path

_SIGNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _pairs_in_text(text: str) -> dict[str, str]:
    """Return each sign with the name that follows it, from words between spaces."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _latex_commands() -> dict[str, str]:
    """Return the signs that have a command, with it."""
    commands = {sign: f"\\{sign}" for sign in "&%$#_{}"}
    for sign, name in _pairs_in_text(_SIGNS["text"]).items():
        commands[sign] = f"\\{name}{{}}"
    for sign, name in _pairs_in_text(_SIGNS["math"]).items():
        commands[sign] = f"$\\{name}$"
    return commands | _pairs_in_text(_SIGNS["other"])


LATEX_COMMANDS = _latex_commands()
LATEX_ACCENTS = {  # by combining mark
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
    "\u0331": "b",
}


def escape_latex(text: str) -> str:
    r"""Return a text as a table's cell, which a rule or line break above leaves alone.

    >>> print(escape_latex("50_% é √η ế 中"), escape_latex("[0, 1]"))
    50\_\% \'{e} $\surd$$\eta$ \'{\^{e}} [U+4E2D] {[}0, 1]
    """
    cell: list[str] = []
    for sign in unicodedata.normalize("NFC", text):
        if sign in LATEX_ACCENTS and cell:  # a mark that no letter has taken up
            cell.append(_accented(cell.pop(), [sign]))
        else:
            cell.append(_latex_of_sign(sign))
    latex = "".join(cell)
    if latex.startswith(("[", "*")):
        return f"{{{latex[0]}}}{latex[1:]}"
    return latex


def _latex_of_sign(sign: str) -> str:
    """Return one sign as LaTeX, its code point in brackets where that is not known."""
    if sign in LATEX_COMMANDS:
        return LATEX_COMMANDS[sign]
    base, *marks = list(unicodedata.normalize("NFD", sign))
    latex = _latex_of_base(base)
    if latex is None or not all(mark in LATEX_ACCENTS for mark in marks):
        return f"[U+{ord(sign):04X}]"
    return _accented(latex, marks)


def _latex_of_base(base: str) -> str | None:
    if base in LATEX_COMMANDS:
        return LATEX_COMMANDS[base]
    if base.isspace():
        return " "
    if base.isascii() and base.isprintable():
        return base
    return None


def _accented(latex: str, marks: list[str]) -> str:
    for mark in marks:
        latex = f"\\{LATEX_ACCENTS[mark]}{{{latex}}}"
    return latex
