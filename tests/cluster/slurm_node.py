"""A SLURM cluster of one node on this machine's loopback, for trying things out.

``python -m tests.cluster.slurm_node folder`` starts it and prints how to use it; Ctrl-C ends
it. It needs Debian's packages slurmctld, slurmd, slurm-client and munge, no changes
under /etc, no cgroups and no accounting. Its two GPUs are plain files: SLURM hands them
out like real ones.
"""

import contextlib
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue")
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def missing_program_reason() -> str:
    """Return why no node can be started here, or nothing."""
    if sys.platform != "linux":
        return "SLURM runs on Linux only"
    absent = [name for name in PROGRAMS if shutil.which(name, path=SEARCH_PATH) is None]
    packages = "apt-get install slurmctld slurmd slurm-client munge"
    return f"there is no {absent[0]} here ({packages})" if absent else ""


@contextlib.contextmanager
def running_slurm_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start a node whose files are in a new folder; yield the environment of its users; end it.

    Raises
    ------
    RuntimeError
        If the node does not come up within half a minute; the end of its logs tells
        why.
    """
    _write(folder)
    paths = os.pathsep.join([str(folder / "bin"), SEARCH_PATH])
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": paths}
    try:
        _munge(folder, environment)
        for program in ("slurmctld", "slurmd"):
            subprocess.run([program], env=environment, check=True, timeout=30)
        _wait(folder, environment)
        yield environment
    finally:
        subprocess.run(
            ["scancel", "--state=RUNNING", "--quiet"], env=environment, check=False
        )
        for name in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            _end(folder / name)


def job_states(environment: dict[str, str]) -> list[str]:
    """Return the states of all jobs so far."""
    command = ["squeue", "--states=all", "--noheader", "--format=%T"]
    return subprocess.check_output(command, env=environment, text=True).split()


def _write(folder: Path) -> None:
    """Write the node's configuration, its key, and its GPUs."""
    folder.mkdir(parents=True)
    for name, mode in (("state", 0o700), ("spool", 0o755), ("munge", 0o711)):
        (folder / name).mkdir(mode=mode)
        (folder / name).chmod(mode)
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    for number in range(2):
        (folder / f"gpu{number}").touch()
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-1]\n")
    # Snakemake drops SLURM's variables from a job; a cluster has its settings in /etc
    (folder / "bin").mkdir()
    (folder / "bin" / "srun").write_text(
        f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun", path=SEARCH_PATH)} "$@"\n'
    )
    (folder / "bin" / "srun").chmod(0o755)
    values = {
        "host": socket.gethostname().partition(".")[0],
        "user": subprocess.check_output(["id", "-un"], text=True).strip(),
        "ports": _free_ports(),
        "cpus": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE")
        * os.sysconf("SC_PHYS_PAGES")
        * 3
        // 4
        // 2**20,
    }
    config = Path(__file__).with_name("slurm.conf").read_text(encoding="utf-8")
    (folder / "slurm.conf").write_text(config.format(folder=folder, **values))


def _free_ports() -> list[int]:
    """Return two ports that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _munge(folder: Path, environment: dict[str, str]) -> None:
    """Start the service by which the parts of SLURM know each other; force: its folder is ours."""
    place = folder / "munge"
    names = {
        "key-file": "key",
        "socket": "socket",
        "pid-file": "pid",
        "log-file": "log",
    }
    options = [f"--{option}={place / name}" for option, name in names.items()]
    command = [
        "munged",
        *options,
        f"--seed-file={place / 'seed'}",
        "--num-threads=4",
        "--force",
    ]
    subprocess.run(command, env=environment, check=True, timeout=30)


def _wait(folder: Path, environment: dict[str, str]) -> None:
    """Return when the node is ready for jobs."""
    for _ in range(60):
        states = ["sinfo", "--noheader", "--format=%t"]
        told = subprocess.run(states, env=environment, capture_output=True, text=True)
        if told.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    logs = [path.read_text()[-1500:] for path in sorted(folder.glob("slurm*.log"))]
    raise RuntimeError(f"the node is {told.stdout or told.stderr}:\n" + "\n".join(logs))


def _end(pid: Path) -> None:
    """End the process that wrote a file with its number, if it runs."""
    if pid.is_file():
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(int(pid.read_text()), signal.SIGTERM)


if __name__ == "__main__":
    if reason := missing_program_reason():
        sys.exit(f"error: No node can be started: {reason}.")
    with running_slurm_node(Path(sys.argv[1]).resolve()) as found:
        print("Set these where you give commands; Ctrl-C here ends the node.")
        for name in ("SLURM_CONF", "PATH"):
            print(f"export {name}={shlex.quote(found[name])}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
