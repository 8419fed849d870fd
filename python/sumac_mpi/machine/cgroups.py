# SPDX-License-Identifier: BSD-3-Clause
"""The limits of this process's control groups (of a container, a batch job). None: no limit."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def processors() -> float | None:
    """How many processors this process may use at once, on average."""
    shares = []
    for folder in _folders("cpu"):
        words = (_read(folder / "cpu.max") or "").split()
        if len(words) != 2:  # the first version of control groups
            quota = _read(folder / "cpu.cfs_quota_us")
            words = [quota or "", _read(folder / "cpu.cfs_period_us") or ""]
        if all(word.isdigit() for word in words) and int(words[1]):
            shares.append(int(words[0]) / int(words[1]))
    return min(shares, default=None)


def memory() -> int | None:
    """Memory in bytes, shared memory included."""
    limits = [
        _number(folder / name)
        for folder in _folders("memory")
        for name in ("memory.max", "memory.limit_in_bytes")
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def processes() -> int | None:
    """Processes and threads that may still be started."""
    left = []
    for folder in _folders("pids"):
        most, now = _number(folder / "pids.max"), _number(folder / "pids.current")
        if most is not None and now is not None:
            left.append(max(most - now, 0))
    return min(left, default=None)


def _folders(controller: str) -> list[Path]:
    """The folders of this process's control group and its ancestors, in either version of them."""
    folders = []
    for line in (_read(_OWN) or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            base = _ROOT
        elif controller in controllers.split(","):
            base = _ROOT / controller
        else:
            continue
        own = Path(path.lstrip("/"))
        folders += [base / part for part in (own, *own.parents)]
    return folders


def _number(path: Path) -> int | None:
    text = _read(path) or ""
    return int(text) if text.isdigit() else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
