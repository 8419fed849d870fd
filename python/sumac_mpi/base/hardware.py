# SPDX-License-Identifier: BSD-3-Clause
"""What this machine offers: processors, vector instructions, shared memory, other processes'
memory; and what of it the limits of this process's control groups (of a container, a batch job)
leave to it."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

# /proc/cpuinfo flags that say which kernels can run, the best last.
_VECTOR_FLAGS = (
    "sse2",
    "ssse3",
    "sse4_1",
    "sse4_2",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512_fp16",
    "asimd",
    "sve",
)


@dataclass(frozen=True)
class Machine:
    host: str
    kernel: str
    cpu: str
    cores: int  # physical cores this process may use
    cpus: int  # hardware threads this process may use
    simd: tuple[str, ...]
    lowers_clock: bool  # by vectors of 512 bits
    ptrace_scope: int | None  # Yama's setting; None when the kernel has no Yama
    attach_refused: str | None  # why cross-memory attach cannot work; None where it may

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


@cache
def usable_cores() -> int:
    """Physical cores this process may run on: what the MPIs count as places for ranks."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings = _read(topology)
        cores.add(siblings or str(cpu))
    return len(cores)


def describe() -> Machine:
    info = _read(Path("/proc/cpuinfo")) or ""
    flags = set(_field(info, "flags").split() + _field(info, "Features").split())
    scope = _read(Path("/proc/sys/kernel/yama/ptrace_scope"))
    return Machine(
        host=socket.gethostname(),
        kernel=platform.release(),
        cpu=_field(info, "model name") or platform.machine(),
        cores=usable_cores(),
        cpus=len(os.sched_getaffinity(0)),
        simd=tuple(flag for flag in _VECTOR_FLAGS if flag in flags),
        lowers_clock=lowers_clock(info),
        ptrace_scope=int(scope) if scope and scope.isdigit() else None,
        attach_refused=attach_refusal(),
    )


def identity() -> dict[str, object]:
    """What tells this machine from others of which measurements may have been kept."""
    here = describe().as_dict()
    return {name: here[name] for name in ("host", "cpu", "kernel", "cores", "cpus")}


def lowers_clock(cpuinfo: str) -> bool:
    """True of Skylake's to Cooper Lake's processors of servers, which have one model number."""
    kind = [_field(cpuinfo, name) for name in ("vendor_id", "cpu family", "model")]
    return kind == ["GenuineIntel", "6", "85"]


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _field(info: str, name: str) -> str:
    for line in info.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def attach_refusal() -> str | None:
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


_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")


def allowed_processors() -> float | None:
    """How many processors this process may use at once, on average; None without a limit."""
    shares = []
    for folder in _folders("cpu"):
        words = (_read(folder / "cpu.max") or "").split()
        if len(words) != 2:  # the first version of control groups
            quota = _read(folder / "cpu.cfs_quota_us")
            words = [quota or "", _read(folder / "cpu.cfs_period_us") or ""]
        if all(word.isdigit() for word in words) and int(words[1]):
            shares.append(int(words[0]) / int(words[1]))
    return min(shares, default=None)


def allowed_memory() -> int | None:
    """Bytes of memory that this process may use, shared memory included; None without a limit."""
    limits = [
        _number(folder / name)
        for folder in _folders("memory")
        for name in ("memory.max", "memory.limit_in_bytes")
    ]
    # The first version of control groups writes the largest number of pages for no limit.
    return min((limit for limit in limits if limit is not None and limit < 1 << 62), default=None)


def processes_left() -> int | None:
    """The processes and threads that may still be started; None without a limit."""
    left = []
    for folder in _folders("pids"):
        most, now = _number(folder / "pids.max"), _number(folder / "pids.current")
        if most is not None and now is not None:
            left.append(max(most - now, 0))
    return min(left, default=None)


def _folders(controller: str) -> list[Path]:
    """The folders of this process's control group and its ancestors, in either version of them."""
    folders = []
    for line in (_read(_OWN_GROUP) or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            base = _GROUPS
        elif controller in controllers.split(","):
            base = _GROUPS / controller
        else:
            continue
        own = Path(path.lstrip("/"))
        folders += [base / part for part in (own, *own.parents)]
    return folders


def _number(path: Path) -> int | None:
    text = _read(path) or ""
    return int(text) if text.isdigit() else None
