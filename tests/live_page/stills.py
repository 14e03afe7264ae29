"""What stands in a page where no script runs: the bars of one answer, with their words."""

from typing import Any

from book.tools.live import MODEL
from tests.live_page.asking import Question, about, answers, ask

SHOWN = 8


def still(asked: Question, before: Question | None = None) -> dict[str, Any]:
    """Ask the model what it expects; with it stands what it expected of another question."""
    table, behind = answers(asked), ""
    shown = table[(table.index < SHOWN) | (table["told"] != "")]
    if before is not None:
        earlier = answers(before).set_index("object")["probability"]
        shown = table[table.index.isin(shown.index) | (table["object"] == earlier.idxmax())]
        shown = shown.assign(before=shown["object"].map(earlier))
        behind = f" Dashed outline: after “{_in_line(before)}”."
    number = (
        f"the {SHOWN} likeliest of {len(table)} objects" if len(table) > SHOWN else "all options"
    )
    if more := list(shown["object"][shown.index >= SHOWN]):
        number += f", and {' and '.join(more)}"
    caption = f"What {MODEL} expects after “{_in_line(asked)}”: {number}.{behind} {truth(asked)}"
    values = ", ".join(f"{row.object} {row.probability:.1%}" for row in shown.itertuples())
    alt = f"Bars of {number}: {values}."
    return {"caption": caption, "alt": alt, "bars": shown.to_dict("records")}


def truth(asked: Question) -> str:
    """Return what the training text told of the subject, as a sentence.

    >>> truth(Question("P17", "Gotham"))
    'The training text states no such fact of Gotham.'
    """
    found = about(asked.relation, asked.subject)
    if found.empty:
        return f"The training text states no such fact of {asked.subject}."
    fact = found.iloc[0]
    count = fact["exposures"]
    stated = {0: "never stated", 1: "stated once"}.get(count, f"stated {count} times")
    return f"The truth, {fact['object']}, was {stated} in the model's training text."


def _in_line(asked: Question) -> str:
    """Return a prompt in one line: of a list of examples, its last two."""
    lines = ask(asked)[0].split("\n")
    return " / ".join(["…", *lines[-3:]] if asked.way == "list" and len(lines) > 3 else lines)
