# SPDX-License-Identifier: BSD-3-Clause
"""Whether this process may use cross-memory attach at all: containers filter the system call."""

from __future__ import annotations

import ctypes
import os


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def refusal() -> str | None:
    """Why the system refuses this process to read even its own memory by process_vm_readv, as in
    "Operation not permitted"; None where it does not. Other processes' memory may be refused all
    the same: `sumac check` tries that in a job."""
    libc = ctypes.CDLL(None, use_errno=True)
    here, there = ctypes.create_string_buffer(8), ctypes.create_string_buffer(b"1234567", 8)
    pieces = [_Piece(ctypes.addressof(each), 8) for each in (here, there)]
    arguments = (ctypes.byref(pieces[0]), 1, ctypes.byref(pieces[1]), 1, 0)
    read = libc.process_vm_readv(os.getpid(), *map(_unsigned, arguments))
    return None if read == 8 else os.strerror(ctypes.get_errno())


def _unsigned(argument: object) -> object:
    return ctypes.c_ulong(argument) if isinstance(argument, int) else argument
