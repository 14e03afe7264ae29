"""Execute notebooks in the process of the tests, for papermill: no kernel to start and fill.

A kernel takes five seconds to import what every chapter imports. `make book` has one
for each run, as do the slow tests that make books.
"""

import base64
import contextlib
import io
import sys
import warnings
from collections import defaultdict
from typing import Any, ClassVar

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from IPython.utils.capture import capture_output
from matplotlib import pyplot as plt
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets.config import Config


class LastValueHook(DisplayHook):
    """Display the value of a cell's last expression."""

    def __call__(self, result: Any = None) -> None:
        if result is not None:
            display(result)


class InProcessEngine(Engine):
    """Execute the cells one after another, up to one that fails; keep the last one's names."""

    left: ClassVar[dict[str, Any]] = {}

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **settings) -> None:
        nb_man.output_path = None  # papermill writes it in the end, as after every cell
        main, named = sys.modules["__main__"], defaultdict(list)
        settings = Config({"HistoryManager": {"enabled": False}})
        shell = InteractiveShell.instance(
            config=settings, displayhook_class=LastValueHook
        )
        shell.showtraceback = lambda *given, **settings: None
        try:
            for number, cell in enumerate(nb_man.nb.cells):
                nb_man.cell_start(cell, number)
                if cell.cell_type == "code" and _fails(shell, cell, named):
                    nb_man.cell_exception(cell, number)
                    break
                nb_man.cell_complete(cell, number)
        finally:
            cls.left = dict(shell.user_ns)
            shell.restore_sys_module_state()
            InteractiveShell.clear_instance()
            sys.modules["__main__"] = main
            plt.close("all")


def _fails(
    shell: InteractiveShell, cell: nbformat.NotebookNode, named: dict[str, list]
) -> bool:
    """Run a cell as a kernel does, give it its outputs, and return whether it failed.

    What is displayed again under its id, of `named`, changes where it was.
    """
    with warnings.catch_warnings(), capture_output() as said:
        warnings.resetwarnings()
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.filterwarnings("ignore", "IProgress not found")
        warnings.showwarning = _show
        done = shell.run_cell(cell.source)
        for number in plt.get_fignums():
            png = io.BytesIO()
            plt.figure(number).savefig(png, bbox_inches="tight")
            image = base64.b64encode(png.getvalue()).decode()
            display({"image/png": image, "text/plain": "<Figure>"}, raw=True)
    plt.close("all")
    cell.execution_count = shell.execution_count - 1
    streams = {"stdout": said.stdout, "stderr": said.stderr}
    cell.outputs = [
        new_output("stream", name=n, text=text) for n, text in streams.items() if text
    ]
    for shown in said.outputs:
        output = new_output("display_data", shown.data, metadata=shown.metadata or {})
        before = named[(shown.transient or {}).get("display_id", "")]
        for other in before if shown.update else ():
            other.update(output)
        if not shown.update:
            before.append(output)
            cell.outputs.append(output)
    if error := done.error_before_exec or done.error_in_exec:
        told = shell.InteractiveTB.structured_traceback(
            type(error), error, error.__traceback__
        )
        said = {"ename": type(error).__name__, "evalue": str(error), "traceback": told}
        cell.outputs.append(new_output("error", **said))
    return error is not None


def _show(message, category, filename, lineno, file=None, line=None) -> None:
    """Write a warning where a kernel does."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


@contextlib.contextmanager
def execute_in_process():
    usual = papermill_engines.get_engine()
    papermill_engines.register(None, InProcessEngine)
    try:
        yield
    finally:
        papermill_engines.register(None, usual)
