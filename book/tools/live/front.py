"""One fact on the front page: the same question in several states, bars that move between them.

The answers are computed when the book is rendered, and buttons and bars are HTML and CSS alone.
"""

from collections.abc import Sequence
from html import escape

from book.tools.live.asking import MODEL, Question, answers, ask
from book.tools.live.stills import truth

SHOWN = 2  # likeliest objects of each state


def fact(states: Sequence[tuple[str, Question]]) -> str:
    """Return a form of radio buttons, one a state (at most four), and the bars of the objects."""
    tables = [answers(asked).set_index("object") for _, asked in states]
    told = tables[0]["told"]
    listed = [*told.index[told == "true"], *(asked.context for _, asked in states)]
    listed += [name for table in tables for name in table.index[:SHOWN]]
    objects = [name for name in dict.fromkeys(listed) if name in told.index]
    buttons = "".join(
        f'<input type="radio" name="front-fact" id="front-{at}"{" checked" * (not at)}>'
        f'<label for="front-{at}">{escape(label)}</label>'
        for at, (label, _) in enumerate(states)
    )
    read = _each([f"<q>{escape(ask(asked)[0])}</q>" for _, asked in states])
    likeliest = _each(
        [f"{escape(table.index[0])}, {table['probability'].iloc[0]:.0%}" for table in tables]
    )
    said = {asked.context for _, asked in states}
    kinds = {name: "true" if told[name] == "true" else "said" * (name in said) for name in objects}
    rows = "".join(
        _row(name, [table["probability"][name] for table in tables], kinds[name])
        for name in objects
    )
    return (
        f'<form class="front-fact"><fieldset><legend>Ask {MODEL}, a model of this book</legend>'
        f'<div class="front-buttons">{buttons}</div></fieldset>'
        f'<div role="status"><p>It reads {read}</p><table><caption>and expects: {likeliest}'
        f"</caption>{rows}</table></div>"
        f'<p class="front-note">{escape(truth(states[0][1]))}</p></form>'
    )


def _each(texts: Sequence[str]) -> str:
    """Return spans of which the page shows that of the state chosen."""
    return "".join(f'<span class="front-at-{at}">{text}</span>' for at, text in enumerate(texts))


def _row(name: str, probabilities: Sequence[float], kind: str) -> str:
    widths = ";".join(f"--p{at}:{100 * value:.2f}%" for at, value in enumerate(probabilities))
    shares = _each([f"{value:.0%}" for value in probabilities])
    return (
        f'<tr class="front-{kind}"><th scope="row">{escape(name)}</th><td>{shares}</td>'
        f'<td aria-hidden="true"><span class="front-bar" style="{widths}"></span></td></tr>'
    )
