"""The directive ``weeks``: the plan of the course, computed from the chapters' exercises."""

import sys
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from helpers.publishing.course import weeks


class Weeks(SphinxDirective):
    """Say what is read and solved in each week."""

    def run(self) -> list[nodes.Node]:
        """Return a paragraph for each week."""
        self.env.note_dependency(str(weeks.TABLE))
        plan = nodes.container()
        self.state.nested_parse(StringList(weeks.page().splitlines()), 0, plan)
        return plan.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("weeks", Weeks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
