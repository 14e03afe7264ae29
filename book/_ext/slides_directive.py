"""The directive ``slides``: links to the chapters' slides, which are written beside the pages."""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.tools import render
from book.tools.course import slides


class SlidesDirective(SphinxDirective):
    """List the decks, each under its chapter's title."""

    def run(self) -> list[nodes.Node]:
        """Return the list; it is empty where no chapter was placed."""
        for name in render.chapter_names():
            self.env.note_dependency(
                str(render.BOOK_FOLDER / "chapters" / f"{name}.ipynb")
            )
        listed = nodes.bullet_list()
        titles = {
            name: chapter.title
            for name, chapter in slides.chapters_with_slides().items()
        }
        if titles:
            titles["lecture"] = f"Ninety minutes: {slides.LECTURE_TITLE}"
        for name, title in titles.items():
            address = f"{slides.SLIDES_FOLDER}/{name}.html"
            link = nodes.paragraph("", "", nodes.reference("", title, refuri=address))
            listed += nodes.list_item("", link)
        return [addnodes.only("", listed, expr="builder_html")] if len(listed) else []


def write_slide_decks(app: Sphinx, error: Exception | None) -> None:
    """Write the decks beside the pages, if the book has the page that links to them."""
    if (
        error is None
        and app.builder.name == "html"
        and "instructors" in app.env.found_docs
    ):
        slides.write_decks(
            Path(app.outdir) / slides.SLIDES_FOLDER, "..", not render.hides_solutions()
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("slides", SlidesDirective)
    app.connect("build-finished", write_slide_decks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
