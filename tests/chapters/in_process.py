"""Execute notebooks in the process of the tests, for papermill: no kernel to start and fill.

A kernel takes five seconds to import what every chapter imports. `make book` has one for each run,
as do the slow tests that make books.
"""

import base64
import contextlib
import io
import sys
import warnings
from typing import Any, ClassVar

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot as plt
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets.config import Config


class Publisher(DisplayPublisher):
    """Keep what is displayed; what is displayed again under its id changes where it was."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.outputs: list[nbformat.NotebookNode] = []
        self.named: dict[str, list[nbformat.NotebookNode]] = {}

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: str | None = None,
        *,
        transient: dict[str, str] | None = None,
        update: bool = False,
        **rest: object,
    ) -> None:
        """Keep an output, or change those of its id."""
        named = self.named.setdefault((transient or {}).get("display_id", ""), [])
        if update:
            for output in named:
                output.update(data=data, metadata=metadata or {})
            return
        named.append(new_output("display_data", data, metadata=metadata or {}))
        self.outputs.append(named[-1])


class Hook(DisplayHook):
    """Display the value of a cell's last expression."""

    def __call__(self, result: Any = None) -> None:
        if result is not None:
            self.shell.display_pub.publish(*self.shell.display_formatter.format(result))


class InProcess(Engine):
    """Execute the cells one after another, up to one that fails; keep the last one's names."""

    left: ClassVar[dict[str, Any]] = {}

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **settings) -> None:
        nb_man.output_path = None  # papermill writes it in the end, as after every cell
        main = sys.modules["__main__"]
        shell = InteractiveShell.instance(
            config=Config({"HistoryManager": {"enabled": False}}),
            display_pub_class=Publisher,
            displayhook_class=Hook,
        )
        try:
            for number, cell in enumerate(nb_man.nb.cells):
                nb_man.cell_start(cell, number)
                if cell.cell_type == "code" and _fails(shell, cell):
                    nb_man.cell_exception(cell, number)
                    break
                nb_man.cell_complete(cell, number)
        finally:
            cls.left = dict(shell.user_ns)
            shell.restore_sys_module_state()
            InteractiveShell.clear_instance()
            sys.modules["__main__"] = main
            plt.close("all")


def _fails(shell: InteractiveShell, cell: nbformat.NotebookNode) -> bool:
    """Run a cell as a kernel does, give it its outputs, and return whether it failed."""
    out, err = io.StringIO(), io.StringIO()
    shell.display_pub.outputs = cell.outputs = []
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.resetwarnings()
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.filterwarnings("ignore", "IProgress not found")
        warnings.showwarning = _show
        shell.showtraceback = lambda *given, **settings: None
        done = shell.run_cell(cell.source)
        for number in plt.get_fignums():
            png = io.BytesIO()
            plt.figure(number).savefig(png, bbox_inches="tight")
            image = base64.b64encode(png.getvalue()).decode()
            shell.display_pub.publish({"image/png": image, "text/plain": "<Figure>"})
    plt.close("all")
    cell.execution_count = shell.execution_count - 1
    streams = {"stdout": out.getvalue(), "stderr": err.getvalue()}
    cell.outputs[:0] = [new_output("stream", name=n, text=t) for n, t in streams.items() if t]
    error = done.error_before_exec or done.error_in_exec
    if error is not None:
        told = shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
        cell.outputs.append(
            new_output("error", ename=type(error).__name__, evalue=str(error), traceback=told)
        )
    return error is not None


def _show(message, category, filename, lineno, file=None, line=None) -> None:
    """Write a warning where a kernel does."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


@contextlib.contextmanager
def instead_of_kernels():
    """Let papermill execute notebooks in this process."""
    usual = papermill_engines.get_engine()
    papermill_engines.register(None, InProcess)
    try:
        yield
    finally:
        papermill_engines.register(None, usual)
