"""Kernels that start at once: forked from one process that has imported what chapters import.

Importing takes longer than many chapters compute. ``with ready():`` keeps such a process while
Snakemake runs chapters on this machine; :func:`use` has Jupyter ask it for its kernels.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from helpers.runs import ROOT

PLACE = "HELPERS_KERNELS"  # environment variable: the socket of the process to ask
NAME = "forked"
IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "matplotlib.pyplot", "seaborn", "torch"),
    *("transformers.models.llama.modeling_llama", "transformers.generation.utils"),
    *("statsmodels.api", "helpers.plots", "helpers.probing", "helpers.published", "helpers.runs"),
    "helpers.studies",
)
# The figures' way into the notebook is set up as a kernel starts, too late for what is imported.
DRAWING = "--matplotlib=inline"


@contextlib.contextmanager
def ready() -> Iterator[subprocess.Popen | None]:
    """Keep a process to fork kernels from; where there is none, kernels start as ever.

    Not beside a GPU, whose driver a fork would break, nor where forking is not safe.
    """
    if sys.platform != "linux" or Path("/dev/nvidiactl").exists():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kernels") as folder:
        place = Path(folder) / "socket"
        call = [sys.executable, "-m", "helpers.publishing.kernels", str(place)]
        quiet = os.environ | {"PYTHONWARNINGS": "ignore:IProgress not found"}  # tqdm's
        with subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, env=quiet) as process:
            os.environ[PLACE] = str(place)
            try:
                yield process
            finally:
                os.environ.pop(PLACE, None)
                process.terminate()


def use() -> None:
    """Have Jupyter fork its kernels where there is a process to fork from."""
    factory = KernelProvisionerFactory.instance()
    there = Path(os.environ.get(PLACE, "")).is_socket()
    if there:
        value = f"{__name__}:{Forked.__name__}"
        factory.provisioners[NAME] = EntryPoint(NAME, value, factory.GROUP_NAME)
    factory.default_provisioner_name = NAME if there else "local-provisioner"


class Forked(LocalProvisioner):
    """A kernel that is asked for, instead of a program that is started."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Ask for a kernel with the arguments, environment, folder and streams it would have."""
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        wanted = {
            "arguments": arguments,
            "env": kwargs["env"],
            "cwd": str(kwargs.get("cwd") or Path.cwd()),
        }
        self.process = Process(wanted)
        self.pid = self.process.pid
        return self.connection_info


class Process:
    """A forked kernel, with as much of `subprocess.Popen` as Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self, wanted: dict[str, Any]) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(os.environ[PLACE])
        socket.send_fds(self._line, [b"\n"], [0, 1, 2])
        self._line.sendall(json.dumps(wanted).encode() + b"\n")
        self.pid = int(self._line.recv(32))
        self._line.setblocking(False)

    def poll(self) -> int | None:
        """Return None while the kernel holds its end of the line."""
        with contextlib.suppress(BlockingIOError):
            self._line.recv(1)
            return 0
        return None

    def wait(self) -> int:
        """Wait for the end of the kernel."""
        self._line.setblocking(True)
        self._line.recv(1)
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the kernel has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the kernel."""
        self.send_signal(signal.SIGKILL)


def serve(place: str) -> None:
    """Import, then fork a kernel for each call until the process that started this is gone."""
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the kernels here
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        while door in select.select([door, sys.stdin], [], [])[0]:
            line, _ = door.accept()
            _, streams, *_ = socket.recv_fds(line, 1, 3)
            if not os.fork():
                door.close()
                _become_kernel(line, streams)
            for stream in streams:
                os.close(stream)
            line.close()


def _become_kernel(line: socket.socket, streams: list[int]) -> None:
    wanted = json.loads(line.makefile().readline())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.environ.clear()
    os.environ.update(wanted["env"], JPY_PARENT_PID=str(os.getppid()))
    os.chdir(wanted["cwd"])
    import torch

    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    line.sendall(str(os.getpid()).encode())
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    sys.argv = ["ipykernel_launcher", DRAWING, *wanted["arguments"]]
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
    os._exit(0)


def _end_with(line: socket.socket) -> None:
    """End this kernel when the process that asked for it is gone."""
    line.recv(1)
    os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1])
