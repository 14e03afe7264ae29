"""Text as LaTeX that pdflatex sets without a package; what it cannot set is written as [U+4E2D]."""

import unicodedata
from collections.abc import Iterator

_TEXT = r"""\ textbackslash ~ textasciitilde ^ textasciicircum < textless > textgreater | textbar
ß ss ı i ȷ j ø o Ø O ł l Ł L æ ae Æ AE œ oe Œ OE § S ¶ P £ pounds © copyright … ldots † dag ‡ ddag
• textbullet · textperiodcentered"""
_MATH = """× times ÷ div ± pm ∓ mp √ surd ∞ infty ∂ partial ∇ nabla ∑ sum ∏ prod ∫ int ∈ in ∩ cap
∪ cup ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ≤ leq ≥ geq ≠ neq ≈ approx ∼ sim ≡ equiv
∝ propto → rightarrow ← leftarrow ↑ uparrow ↓ downarrow ↔ leftrightarrow ⇒ Rightarrow
⇔ Leftrightarrow ⏎ hookleftarrow ↵ hookleftarrow ° circ « ll » gg
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi
π pi ρ rho ς varsigma σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega µ mu"""
_OTHER = "– -- — --- ‘ ` ’ ' “ `` ” '' ¿ ?` ¡ !` − $-$"


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    words = text.split()
    return zip(words[::2], words[1::2])


COMMANDS = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{char: f"\\{name}{{}}" for char, name in _pairs(_TEXT)},
    **{char: f"$\\{name}$" for char, name in _pairs(_MATH)},
    **dict(_pairs(_OTHER)),
}
ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308", "`'^~=u.\""))
ACCENTS |= dict(zip("\u030a\u030b\u030c\u0323\u0327\u0331", "rHvdcb"))


def escape(text: str) -> str:
    r"""Return a text as a table's cell, which a rule or line break above does not take as its own.

    >>> print(escape("50_% é √η ế 中"), escape("[0, 1]"))
    50\_\% \'{e} $\surd$$\eta$ \'{\^{e}} [U+4E2D] {[}0, 1]
    """
    said: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        base, *marks = char if char in COMMANDS else unicodedata.normalize("NFD", char)
        known = _plain(base)
        if char in ACCENTS and said:  # one that no letter has
            known, marks = said.pop(), [char]
        elif known is None or not all(mark in ACCENTS for mark in marks):
            known, marks = f"[U+{ord(char):04X}]", []
        for mark in marks:
            known = f"\\{ACCENTS[mark]}{{{known}}}"
        said.append(known)
    whole = "".join(said)
    return f"{{{whole[0]}}}{whole[1:]}" if whole.startswith(("[", "*")) else whole


def _plain(char: str) -> str | None:
    """Return a character that has no accent as LaTeX; None if it has no command."""
    if char in COMMANDS:
        return COMMANDS[char]
    if char.isspace():
        return " "
    return char if char.isascii() and char.isprintable() else None
