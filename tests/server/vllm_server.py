"""Start and stop vLLM's processor build on this machine, serving a bundled model."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2

from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER

PYTHON_VARIABLE = "SERVER_PYTHON"  # in the environment: the interpreter that has vLLM
START_SECONDS = 600
SERVER_METRICS = {
    "asked": "vllm:prompt_tokens_total",
    "kept": "vllm:prompt_tokens_cached_total",
}


class VllmServer:
    """vLLM with a bundled model on loopback, in float32 and on one core; use it with ``with``."""

    def __init__(self, model: str, log: Path, port: int = 0) -> None:
        self.model, self.log = model, log
        self.port = port or _free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """The model's name for `helpers.models.load`."""
        return f"{self.url}#{self.model}"

    def __enter__(self) -> "VllmServer":
        command = [
            os.environ[PYTHON_VARIABLE],
            "-m",
            "vllm.entrypoints.openai.api_server",
        ]
        command += [
            "--model",
            str(BUNDLED_MODELS_FOLDER / self.model),
            "--served-model-name",
            self.model,
        ]
        command += [
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--dtype",
            "float32",
        ]
        command += [
            "--enforce-eager"
        ]  # compiling would take longer than all there is to score
        cores = (
            sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
        )
        settings = {
            "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
            "VLLM_CPU_OMP_THREADS_BIND": str(cores[-1]),
            "OMP_NUM_THREADS": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_SERVER_DEV_MODE": "1",  # for `forget`
            "HF_HUB_OFFLINE": "1",
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=os.environ | settings,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while not self._healthy():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"vLLM did not start, see {self.log}")
            time.sleep(0.5)
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the server and its workers at once, as a machine that fails does."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()

    def tokens(self) -> dict[str, int]:
        """Return how many prompt tokens it was sent so far, and how many its cache held."""
        text = httpx2.get(f"{self.url}/metrics", trust_env=False).text
        lines = {
            key: re.search(rf"^{name}{{.*}} (\S+)", text, re.M)
            for key, name in SERVER_METRICS.items()
        }
        return {key: int(float(line[1])) for key, line in lines.items()}

    def forget(self) -> None:
        """Empty the server's prefix cache."""
        httpx2.post(
            f"{self.url}/reset_prefix_cache", trust_env=False
        ).raise_for_status()

    def processor_seconds(self) -> float:
        """Return the processor time of the server's processes (Linux)."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(") ")[2].split()
            except OSError:  # ended meanwhile
                continue
            if int(fields[3]) == self.process.pid:  # its session
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def versions(self) -> dict[str, str]:
        """Return the versions of what serves."""
        names = ["vllm-cpu", "torch", "transformers"]
        code = f"from importlib.metadata import version as v; print(*map(v, {names!r}))"
        told = subprocess.check_output(
            [os.environ[PYTHON_VARIABLE], "-c", code], text=True
        ).split()
        return dict(zip(names, told)) | {"python": sys.version.split()[0]}

    def _healthy(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/health", trust_env=False).status_code == 200
        except httpx2.TransportError:
            return False


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]
