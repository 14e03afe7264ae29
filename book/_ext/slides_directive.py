"""The directive ``slides``: links to the chapters' slides, written beside the pages."""

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
            chapter_page = render.BOOK_FOLDER / "chapters" / f"{name}.ipynb"
            self.env.note_dependency(str(chapter_page))
        titles = {}
        for name, chapter in slides.chapters_with_slides().items():
            titles[name] = chapter.title
        if not titles:
            return []
        titles["lecture"] = f"Ninety minutes: {slides.LECTURE_TITLE}"
        links = nodes.bullet_list()
        for name, title in titles.items():
            address = f"{slides.SLIDES_FOLDER}/{name}.html"
            link = nodes.reference("", title, refuri=address)
            links += nodes.list_item("", nodes.paragraph("", "", link))
        return [addnodes.only("", links, expr="builder_html")]


def write_slide_decks(app: Sphinx, error: Exception | None) -> None:
    """Write the decks beside the pages, if the book has the page with their links."""
    if error is not None or app.builder.name != "html":
        return
    if "instructors" in app.env.found_docs:
        folder = Path(app.outdir) / slides.SLIDES_FOLDER
        slides.write_decks(folder, "..", answers=not render.hides_solutions())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("slides", SlidesDirective)
    app.connect("build-finished", write_slide_decks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
