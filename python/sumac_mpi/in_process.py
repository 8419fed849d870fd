# SPDX-License-Identifier: BSD-3-Clause
"""Sumac in this Python process: put in front of its MPI, asked, and paused. Imports nothing beyond
the standard library, and needs no `sumac exec`."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.library import layout

_PROBE = "PMPI_Op_free"  # of every MPI, and of Sumac where it stands in front


def enable() -> None:
    """Puts Sumac in front of the MPI that this program starts later, as `sumac exec` would.

    To be called before `mpi4py.MPI`, or whatever else uses the MPI, is imported. The library is
    opened so that modules imported from then on find its functions before the MPI's. Without
    effect where Sumac is in front already. Raises `SumacError` where it is too late, and where the
    library is missing.

        import sumac_mpi

        sumac_mpi.enable()
        from mpi4py import MPI

    Options are read when MPI starts: set `os.environ["SUMAC_..."]` before.
    """
    if _library() is not None:
        return
    if "mpi4py.MPI" in sys.modules or _has(ctypes.CDLL(None), _PROBE):
        raise SumacError(
            "too-late",
            "sumac_mpi.enable() was called after an MPI had been loaded",
            fix="call it before mpi4py.MPI is imported, or start the program by 'sumac exec'",
            code=Exit.UNAVAILABLE,
        )
    ctypes.CDLL(str(layout.find().library), mode=os.RTLD_NOW | os.RTLD_GLOBAL)


def stats() -> dict[str, Any]:
    """How the calls of this process were served until now.

    `active`: whether they are being served at all, which is so from the first MPI call on.
    `description`: version, MPI family and instruction set. `calls`, and of these `served`: the
    numbers of all calls of collectives. `paths`: a list with, for each collective and each way its
    calls went, `collective`, `path` (the algorithm, or "mpi: " and the reason), `taken` (whether
    Sumac served them), `calls`, `bytes`, and `seconds`, which are 0 unless SUMAC_STATS is set.
    While active, further counts as in the file that SUMAC_STATS=FILE writes.
    """
    library = _library()
    if library is None or not library.sumac_active():
        return {"active": False, "description": "", "served": 0, "calls": 0, "paths": []}
    library.sumac_description.restype = ctypes.c_char_p
    counts: dict[str, Any] = json.loads(_text(library))
    return {"active": True, "description": library.sumac_description().decode(), **counts}


@contextmanager
def disabled() -> Iterator[None]:
    """Leaves the collectives that this thread calls within the block to the MPI.

    All ranks of a communicator must be within such a block for the same calls on it. Nonblocking
    operations that were started before go on, and persistent ones that were initialised before stay
    Sumac's. Blocks may be nested. Nothing happens where Sumac is not in front.

        with sumac_mpi.disabled():
            comm.Allreduce(a, b)
    """
    library = _library()
    paused = library is not None and library.sumac_pause() == 1
    try:
        yield
    finally:
        if library is not None and paused:
            library.sumac_resume()


def _library() -> ctypes.CDLL | None:
    """Sumac, if it is in this process and in front of the MPI: by enable(), `sumac exec` or
    LD_PRELOAD."""
    everything = ctypes.CDLL(None)
    return everything if _has(everything, "sumac_stats") else None


def _has(library: ctypes.CDLL, name: str) -> bool:
    return hasattr(library, name)


def _text(library: ctypes.CDLL) -> str:
    write = library.sumac_stats
    write.restype, write.argtypes = ctypes.c_size_t, (ctypes.c_char_p, ctypes.c_size_t)
    size = 1 << 14
    while True:
        text = ctypes.create_string_buffer(size)
        length = write(text, size)
        if length < size:
            return text.value.decode()
        size = 2 * length
