"""Exported LaTeX: what pdflatex cannot set is written in another way."""

import shutil
import subprocess
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.io import latex
from notebooks.kit.plots import result_tables
from tests import hostile_inputs

SCRIPTS = [
    "⏎ √ η §",
    "naïve Łódź ế Ġ x̌ ά ≠",
    "中文 Москва 👨‍👩‍👧",
    r"_ % & # $ { } ~ ^ \ < > |",
]
LINES = [
    "[0.1, 0.2]",
    "*",
    "",
    "\n\n",
    r"\\[1ex]",
    "a\tb\u2028c",
    "".join(latex.LATEX_COMMANDS),
]
TEXTS = [
    *hostile_inputs.HOSTILE_STRINGS,
    *SCRIPTS,
    *LINES,
    *(f"x{mark}i{mark}" for mark in latex.LATEX_ACCENTS),
]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50 % of_a & b#{$}", r"50 \% of\_a \& b\#\{\$\}"),
        ("~^\\", r"\textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("p < 0.1 | q > 0", r"p \textless{} 0.1 \textbar{} q \textgreater{} 0"),
        ("naïve Łódź", r"na\"{i}ve \L{}\'{o}d\'{z}"),
        ("e\u0301 x\u030c ế", r"\'{e} \v{x} \'{\^{e}}"),
        ("η → √ ⏎ ≠", r"$\eta$ $\rightarrow$ $\surd$ $\hookleftarrow$ $\neq$"),
        ("“1–2”…", r"``1--2''\ldots{}"),
        ("中 Я 👍 \x07", "{[}U+4E2D] [U+042F] [U+1F44D] [U+0007]"),
        ("a\n\nb\tc\u2028d\xa0e", "a  b c d e"),
        ("[0, 1]", "{[}0, 1]"),  # else the height of the line before it
        ("*", "{*}"),
        ("\u0301", "{[}U+0301]"),
    ],
)
def test_each_character_is_written_by_the_rule(text, written):
    assert latex.escape_latex(text) == written


@given(st.text())
def test_whatever_is_said_becomes_plain_letters_on_one_line(text):
    written = latex.escape_latex(text)
    assert written.isascii()
    assert written.isprintable()
    assert not written.startswith(("[", "*"))
    bare = written.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    assert bare.replace(r"\$", "").count("$") % 2 == 0


def test_letters_that_are_composed_in_another_way_are_the_same():
    text = "Ångström, Tēnā koe, Đặng, Ḯ"
    assert latex.escape_latex(unicodedata.normalize("NFD", text)) == latex.escape_latex(
        text
    )


def test_cells_and_headings_are_written_alike(tmp_path):
    said = ["[5] √", None, ["50 % $"]]
    result_tables.export_table(
        pd.DataFrame({"η [1]": said, "n": [0.12345, 2.0, 1.0]}), "t", tmp_path
    )
    lines = (tmp_path / "t.tex").read_text(encoding="utf-8").splitlines()
    assert lines[1] == r"\toprule"
    assert lines[2] == r"$\eta$ [1] & n \\"
    assert lines[4:6] == [r"{[}5] $\surd$ & 0.123 \\", r" & 2.000 \\"]
    assert r"50 \% \$" in lines[6]
    assert "[5] √" in (tmp_path / "t.csv").read_text(encoding="utf-8")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_pdflatex_sets_whatever_is_said(tmp_path):
    result_tables.export_table(
        pd.DataFrame({"said": TEXTS, "again": TEXTS}), "rows", tmp_path
    )
    result_tables.export_table(
        pd.DataFrame({text: [1.5] for text in dict.fromkeys(TEXTS)}), "heads", tmp_path
    )
    inside = "\n\n".join(rf"\input{{{name}}}" for name in ("rows", "heads"))
    page = (
        rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{inside}"
    )
    (tmp_path / "page.tex").write_text(page + "\n\\end{document}\n")
    command = [
        "pdflatex",
        "-draftmode",
        "-halt-on-error",
        "-interaction=nonstopmode",
        "page",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "page.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Missing character" not in log
