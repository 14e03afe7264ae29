"""One fact on the front page: the same question in several states."""

from collections.abc import Sequence
from typing import Any

from tests.live_page.asking import Question, answers, ask
from tests.live_page.stills import truth

SHOWN = 2  # likeliest objects of each state
STATES = [
    ("Ask", Question("P17", "Lyon", "sentence")),
    ("Ask in a wording it never read", Question("P17", "Lyon", "question", frame=6)),
    ("Say an unrelated word first", Question("P17", "Lyon", "sentence", context="Helium")),
    ("Say a wrong country first", Question("P17", "Lyon", "sentence", context="Italy")),
]


def fact(states: Sequence[tuple[str, Question]] = STATES) -> dict[str, Any]:
    """Return what `book.tools.live.form` shows of several states."""
    tables = [answers(asked).set_index("object") for _, asked in states]
    told = tables[0]["told"]
    listed = [*told.index[told == "true"], *(asked.context for _, asked in states)]
    listed += [name for table in tables for name in table.index[:SHOWN]]
    objects = [name for name in dict.fromkeys(listed) if name in told.index]
    said = {asked.context for _, asked in states}
    kinds = {name: "true" if told[name] == "true" else "said" * (name in said) for name in objects}
    likeliest = [(table.index[0], float(table["probability"].iloc[0])) for table in tables]
    return {
        "states": [
            {"label": label, "prompt": ask(asked)[0], "best": best}
            for (label, asked), best in zip(states, likeliest)
        ],
        "objects": {
            name: {
                "kind": kinds[name],
                "probabilities": [float(table["probability"][name]) for table in tables],
            }
            for name in objects
        },
        "truth": truth(states[0][1]),
    }
