# SPDX-License-Identifier: BSD-3-Clause
"""A word that must be one of several: commands, options, collectives, types, operations and so on.
Whatever is misspelt gets the same answer."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from sumac_mpi.base.errors import SumacError, bad_value

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
