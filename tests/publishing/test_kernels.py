"""Forked kernels give what started ones give, and end with whoever asked for them."""

import os
import signal
import time

import nbformat
import papermill
import psutil
import pytest
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from helpers.publishing import kernels

SAY = """import os, sys
from matplotlib import pyplot as plt
print(os.getpid(), os.getcwd(), os.environ.get("WORD"), "torch" in sys.modules)
plt.plot([1, 2]);"""


def execute(folder, *sources):
    """Execute cells as a chapter's are; return the notebook."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=[new_code_cell(s) for s in sources], metadata={"kernelspec": kernel})
    nbformat.write(made, folder / "in.ipynb")
    kernels.use()
    try:
        return papermill.execute_notebook(
            folder / "in.ipynb", folder / "out.ipynb", kernel_name="python3", cwd=folder,
            progress_bar=False,
        )  # fmt: skip
    finally:
        kernels.KernelProvisionerFactory.clear_instance()


@pytest.fixture(scope="module")
def process():
    """Keep a process to fork kernels from, and return it."""
    with kernels.ready() as started:
        place = os.environ[kernels.PLACE]
        until = time.monotonic() + 300
        while not os.path.exists(place):
            assert time.monotonic() < until
            time.sleep(0.1)
        yield psutil.Process(started.pid)


def said(notebook):
    """Return the words that the first cell printed, and the kinds of what it showed."""
    outputs = notebook.cells[0].outputs
    text = "".join(each.text for each in outputs if each.output_type == "stream")
    shown = [kind for each in outputs for kind in each.get("data", {})]
    return text.split(), shown


def test_a_forked_kernel_has_its_own_folder_environment_and_figures(process, tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", "later")
    words, shown = said(execute(tmp_path, SAY))
    assert words[1:] == [str(tmp_path), "later", "True"]
    assert "image/png" in shown
    psutil.wait_procs(process.children(), timeout=60)
    assert not process.children()


def test_without_a_process_a_kernel_is_started(tmp_path, monkeypatch):
    monkeypatch.delenv(kernels.PLACE, raising=False)
    words, shown = said(execute(tmp_path, SAY))
    assert words[3] == "False"
    assert "image/png" in shown


def test_a_killed_kernel_is_noticed(process, tmp_path):
    with pytest.raises(DeadKernelError):
        execute(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    words, _ = said(execute(tmp_path, SAY))  # the next one works
    assert words[3] == "True"


def test_a_kernel_ends_with_the_one_that_asked(process, tmp_path, monkeypatch):
    told = {
        "arguments": ["-f", str(tmp_path / "connection.json"), "--log-level=50"],
        "env": dict(os.environ),
    }
    kernel = kernels.Process(told | {"cwd": str(tmp_path)})
    assert kernel.poll() is None
    there = psutil.Process(kernel.pid)
    kernel._line.close()
    there.wait(60)


def test_signals_reach_the_kernel(process, tmp_path):
    told = {
        "arguments": ["-f", str(tmp_path / "connection.json"), "--log-level=50"],
        "env": dict(os.environ),
    }
    kernel = kernels.Process(told | {"cwd": str(tmp_path)})
    kernel.send_signal(signal.SIGKILL)
    kernel.wait()
    assert kernel.poll() == 0
    kernel.terminate()  # of one that has ended


def test_nothing_is_left(tmp_path):
    with kernels.ready() as started:
        pass
    assert started.returncode is not None
    assert kernels.PLACE not in os.environ
