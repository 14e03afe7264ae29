"""The directive ``weeks``: the course's plan, computed from the exercises."""

from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.tools.course import downloads, weeks


class WeeksDirective(SphinxDirective):
    """Say what is read and solved in each week, and where its exercises are."""

    def run(self) -> list[nodes.Node]:
        """Return two paragraphs and a timetable for each week."""
        self.env.note_dependency(str(weeks.COURSE_TIMES_FILE))
        plan = nodes.container()
        for week in weeks.weeks_of_book():
            timetable = weeks.timetable_markdown(week).split("\n")
            lines = [weeks.week_markdown(week), "", *timetable]
            self.state.nested_parse(StringList(lines), 0, plan)
            plan += addnodes.only("", _links(week), expr="builder_html")
        return plan.children


def _links(week: weeks.Week) -> nodes.paragraph:
    """Return a paragraph of links to a week's exercises."""
    paragraph = nodes.paragraph("", f"Exercises of week {week.number}: ")
    for name, address in downloads.exercise_addresses(week).items():
        paragraph += nodes.reference("", name, refuri=address)
        paragraph += nodes.Text(", ")
    paragraph[-1] = nodes.Text(".")
    return paragraph


def write_week_exercises(app: Sphinx, error: Exception | None) -> None:
    """Write the exercises beside the pages, if the book has the page with links."""
    if error is not None or app.builder.name != "html":
        return
    if "instructors" in app.env.found_docs:
        downloads.write_week_downloads(Path(app.outdir) / downloads.EXERCISES_FOLDER)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("weeks", WeeksDirective)
    app.connect("build-finished", write_week_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
