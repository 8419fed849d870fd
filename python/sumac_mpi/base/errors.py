# SPDX-License-Identifier: BSD-3-Clause
"""Errors for users: three lines (what, why, fix) with a stable name, and an exit status."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from enum import IntEnum


class Exit(IntEnum):
    """The exit statuses of every command."""

    OK = 0
    FAILED = 1  # the work failed: I/O, MPI error, timeout
    USAGE = 2  # a bad flag, value or file
    UNAVAILABLE = 3  # cannot work here: no MPI, wrong ABI, static binary
    WRONG = 4  # wrong results were found
    SLOWER = 5  # slower than --fail-below allows
    LAUNCH = 125  # `run` itself failed
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127
    INTERRUPTED = 130


class SumacError(Exception):
    """An error with a name that the documentation has a section for."""

    def __init__(
        self, slug: str, what: str, *, found: str = "", fix: str = "", code: Exit = Exit.FAILED
    ) -> None:
        super().__init__(what)
        self.slug = slug
        self.what = what
        self.found = found
        self.fix = fix
        self.code = code

    def __str__(self) -> str:
        return self.as_text("error")

    def as_text(self, kind: str) -> str:
        lines = [f"sumac: {kind}[{self.slug}]: {self.what}"]
        if self.found:
            lines.append(f"  found: {self.found}")
        if self.fix:
            lines.append(f"  fix:   {self.fix}")
        return "\n".join(lines)


def print_warning(slug: str, what: str, *, found: str = "", fix: str = "") -> None:
    """Prints a warning: the lines of an error, and the command goes on."""
    text = SumacError(slug, what, found=found, fix=fix).as_text("warning")
    print(text, file=sys.stderr, flush=True)


class Several(SumacError):
    """All that is wrong, each with its own lines."""

    def __init__(self, errors: Sequence[SumacError]) -> None:
        super().__init__(errors[0].slug, errors[0].what, code=errors[0].code)
        self.errors = errors

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


def reason(error: Exception) -> str:
    """Why a file cannot be read, without its name and the number of the error."""
    return getattr(error, "strerror", None) or str(error)


def usage(what: str, fix: str = "") -> SumacError:
    """The error for words on the command line that are missing or not understood."""
    return SumacError("usage", what, fix=fix, code=Exit.USAGE)


def bad_value(what: str, fix: str = "") -> SumacError:
    """The error for a value on the command line that cannot be used."""
    return SumacError("bad-value", what, fix=fix, code=Exit.USAGE)


# "MPI_Allreduce", "all-reduce" and "--allreduce" are all near to "allreduce".
_DECORATION = re.compile(r"^mpi_|[-_ ]")


def _bare(word: str) -> str:
    return _DECORATION.sub("", word.lower())


def advice(word: str, known: Iterable[str]) -> str:
    """The known name that was probably meant; all of them if none is near."""
    bare = {_bare(name): name for name in known}
    near = difflib.get_close_matches(_bare(word), bare, n=1)
    return f"did you mean {bare[near[0]]}?" if near else f"one of {', '.join(bare.values())}"


def unknown(what: str, word: str, known: Iterable[str]) -> SumacError:
    """The error for a word that is not known; `what` says where it was given."""
    return bad_value(what, fix=advice(word, known))


def require(option: str, word: str, known: Iterable[str]) -> None:
    """Raises a usage error for a value of the option that is not known."""
    known = list(known)
    if word not in known:
        raise unknown(f"{option} {word}: not known", word, known)
