"""Ask a bundled model what the pages of the book show, and write the answers."""

import json
from dataclasses import asdict
from typing import Any

from tests import live_page
from tests.live_page import cases, one_fact

FACT = "P17-0243"  # that the page of four ways shows


def answered() -> dict[str, Any]:
    """Return the cases, the fact of the front page and that of four ways, as pages show them."""
    made = {name: live_page.case(name) for name in cases.KINDS}
    stills = {name: live_page.still(case.asked, case.before) for name, case in made.items()}
    return {
        "case": {name: asdict(case) | stills[name] for name, case in made.items()},
        "front": {"Lyon": live_page.front_fact()},
        "fact": {FACT: [reading._asdict() for reading in one_fact.through(FACT)]},
    }


if __name__ == "__main__":
    text = json.dumps(answered(), indent=1, ensure_ascii=False) + "\n"
    live_page.ANSWERED.write_text(text, encoding="utf-8")
