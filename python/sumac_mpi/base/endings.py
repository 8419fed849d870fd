# SPDX-License-Identifier: BSD-3-Clause
"""How a command ends: normally, by a signal, because its output cannot be written, or by a defect.

A negative status is the number of the signal that ends the command, as in subprocess: a
shell shows 130 for Ctrl-C, 143 for SIGTERM, 141 for a closed pipe.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from sumac_mpi.base.errors import Exit, SumacError

_TRACEBACK = ("SUMAC_DEBUG", "trace")  # the option and its value that show the traceback
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Ended(KeyboardInterrupt):
    """A signal has asked the command to end; the processes that it started must be ended first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def signal_of(end: KeyboardInterrupt) -> signal.Signals:
    return signal.Signals(getattr(end, "number", signal.SIGINT))


def reason(end: BaseException) -> str:
    """What ended the work early, in a few words."""
    if isinstance(end, KeyboardInterrupt):
        number = signal_of(end)
        return "interrupted" if number is signal.SIGINT else f"ended by {number.name}"
    if isinstance(end, BrokenPipeError):
        return "standard output was closed"
    return end.slug if isinstance(end, SumacError) else type(end).__name__


def _raise_ended(number: int, _frame: FrameType | None) -> NoReturn:
    raise Ended(number)


@contextmanager
def signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does. Signals that are ignored stay ignored
    (nohup)."""
    wanted = [signal.SIGTERM, signal.SIGHUP]
    taken = [number for number in wanted if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _raise_ended)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def status_of(work: Callable[[], int]) -> int:
    """Does the work and flushes its output; returns the exit status after printing errors."""

    def work_and_write() -> int:
        status = work()
        _write_out()
        return status

    status = _status(work_and_write)
    with suppress(OSError):  # of which an error has been printed
        _write_out()
    return status


def leave(status: int) -> NoReturn:
    """Ends the process, by the signal itself if one is the cause, so that a shell's loop ends
    too."""
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def _status(work: Callable[[], int]) -> int:
    try:
        return work()
    except SumacError as error:
        _say(error)
        return int(error.code)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt as end:
        return -signal_of(end)
    except BrokenPipeError:
        return -signal.SIGPIPE
    except OSError as error:
        # Errors of files carry a name and have messages of their own; this one is of standard
        # output.
        if error.filename is not None or error.errno not in _NO_ROOM:
            _say(_defect(error))
        else:
            _say(SumacError("output", f"cannot write to standard output: {error.strerror}"))
        return int(Exit.FAILED)
    except Exception as error:
        _say(_defect(error))
        return int(Exit.FAILED)


def _write_out() -> None:
    if sys.stdout is None:  # closed by the process that started the command
        return
    try:
        sys.stdout.flush()
    except OSError:
        # Python would try to flush again at exit, and report an error.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _say(error: SumacError) -> None:
    with suppress(OSError):
        print(error, file=sys.stderr, flush=True)


def _defect(error: Exception) -> SumacError:
    name, value = _TRACEBACK
    if os.environ.get(name) == value:
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = (
        f" in {os.path.basename(frames[-1].filename)}, line {frames[-1].lineno}" if frames else ""
    )
    return SumacError(
        "defect",
        f"{type(error).__name__}{where}: {error}",
        found="this is a mistake in Sumac",
        fix=f"please report it, with what {name}={value} adds to this message",
    )
