# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a command starts and reads, and that must end before it does."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO

from sumac_mpi.base.endings import signal_of

GRACE_SECONDS = 5.0  # from asking a job to end to ending it


@contextmanager
def job(
    command: list[str], environment: dict[str, str], errors: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A launcher whose standard output is read; its standard error goes to `errors`, else to that
    of this command. At the end of the context the launcher has always ended. It runs in a session
    of its own: otherwise it would get Ctrl-C twice, from the terminal and from this command, and at
    the second signal Open MPI's launcher leaves its ranks running and its shared memory allocated.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=errors,
        stdin=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process, partial(os.killpg, process.pid, signal.SIGKILL))
        if process.stdout is not None:
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
