"""Processes to be killed, disks to be filled, and the table of what was survived."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import time

import pytest

FAULT_OUTCOMES = pytest.StashKey[dict]()
ROW_FORMAT = "{:48} {:6} {}"


def pytest_configure(config):
    config.stash[FAULT_OUTCOMES] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    marker = item.get_closest_marker("fault")
    if marker and (report.when == "call" or report.outcome != "passed"):
        item.config.stash[FAULT_OUTCOMES].setdefault(marker.args[0], []).append(report)
    return report


def pytest_terminal_summary(terminalreporter, config):
    """Print the table: each fault, how often it was tried, and whether all went well after it."""
    outcomes = config.stash[FAULT_OUTCOMES]
    if not outcomes:
        return
    terminalreporter.section("faults")
    terminalreporter.line(ROW_FORMAT.format("fault", "tried", "survived"))
    for fault, reports in outcomes.items():
        told = [report for report in reports if report.outcome != "skipped"]
        good = sum(report.outcome == "passed" for report in told)
        reason = reports[0].longrepr[2] if not told else ""
        end = f"no: {good} of {len(told)}" if good < len(told) else "yes"
        terminalreporter.line(
            ROW_FORMAT.format(fault, len(told), end if told else reason)
        )


@pytest.fixture(scope="session")
def processes():
    """Return what starts processes quickly: one that has imported all of it, and forks."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.fault_targets"])
    return context


@pytest.fixture
def begin(processes):
    """Return a function that starts another in a process of its own; what is left is killed."""
    begun = []

    def start(function, *arguments):
        begun.append(processes.Process(target=function, args=arguments))
        begun[-1].start()
        return begun[-1]

    yield start
    for process in begun:
        if process.pid:
            kill_process(process)


def kill_process(process):
    """End a process as `kill -9` does."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.join()


def wait_until(there, seconds=400):
    """Return once a condition holds."""
    until = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < until, "the moment to break things did not come"
        time.sleep(0.01)


@pytest.fixture
def disk(tmp_path):
    """Return a function that mounts a file system with so many KiB, or gives it another size."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("a small disk is mounted by root only")
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*options):
        again = ["-o", ",".join(["remount", *options])] if place.is_mount() else None
        call = [
            "mount",
            *(again or ["-t", "tmpfs", "-o", ",".join(options), "tmpfs"]),
            place,
        ]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        return place

    yield mount
    if place.is_mount():
        subprocess.run(["umount", "--lazy", place], check=True)
