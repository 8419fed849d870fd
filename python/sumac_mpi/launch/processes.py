# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a command starts and reads, and that must end before it does."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from sumac_mpi.base.endings import signal_of

GRACE_SECONDS = 5.0  # from asking a job to end to ending it
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@contextmanager
def job(
    command: list[str], environment: dict[str, str], errors: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A launcher whose standard output is read; its standard error goes to `errors`, else to that
    of this command. At the end of the context the launcher has always ended, and all that it
    started on this node. It runs in a session of its own: otherwise it would get Ctrl-C twice, from
    the terminal and from this command, and at the second signal Open MPI's launcher leaves its
    ranks running and its shared memory allocated.
    """
    others = _adopt()
    process = None
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        yield process
    finally:
        if process is None:  # Ctrl-C while the launcher was being started
            for pid in _children() - others:
                _signal(pid, signal.SIGTERM)
        else:
            _end(process, partial(os.killpg, process.pid, signal.SIGKILL))
        _end_adopted(others)
        if process is not None and process.stdout is not None:
            process.stdout.close()


def foreground(command: list[str], environment: dict[str, str]) -> int:
    """Runs a job in the terminal's foreground, so that it gets Ctrl-C itself; returns its status.
    If this command is asked to end, it ends the job first."""
    process = subprocess.Popen(command, env=environment)
    try:
        return process.wait()
    except KeyboardInterrupt as asked:
        if signal_of(asked) is signal.SIGINT:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
        _end(process, process.kill)
        raise


def _end(process: subprocess.Popen[bytes], kill: Callable[[], None]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        with suppress(ProcessLookupError):
            kill()
        process.wait()


def _adopt() -> set[int]:
    """From now on a process whose parents have ended becomes a child of this one, instead of one of
    process 1. Returns the children that there are."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return _children()


def _children() -> set[int]:
    own = f"/proc/self/task/{os.getpid()}/children"
    try:
        return {int(word) for word in Path(own).read_text().split()}
    except OSError:  # a kernel without that file
        return set()


def _end_adopted(others: set[int]) -> None:
    """Ends the processes whose launcher has ended, except `others`. MPICH's launcher, asked to end
    while it starts the ranks, leaves its proxy and them waiting for one another."""
    deadline = time.monotonic() + GRACE_SECONDS
    while left := _children() - others:
        for pid in left:
            if time.monotonic() > deadline:
                _signal(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
