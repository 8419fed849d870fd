# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and times as text, and numbers derived from times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from sumac_mpi.base.errors import bad_value

# Limits of what is asked for, as cli/numbers.h has them.
MOST_BYTES, MOST_RANKS = 64 << 30, 1 << 17
_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str) -> int:
    """Bytes in "64", "64K", "1M", "2G" (powers of 1024)."""
    match = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise bad_value(f"'{text}' is not a size", fix="write a number of bytes, or 64K, 1M, 2G")
    size = int(match[1]) * _SUFFIXES[match[2].upper()]
    if size > MOST_BYTES:
        raise bad_value(f"'{text}' is more than {format_size(MOST_BYTES)}")
    return size


def format_size(size: int) -> str:
    """The shortest exact form: 65536 is "64K", 100 is "100 B"."""
    for suffix in ("G", "M", "K"):
        if size >= _SUFFIXES[suffix] and size % _SUFFIXES[suffix] == 0:
            return f"{size // _SUFFIXES[suffix]}{suffix}"
    return f"{size} B"


def format_bytes(size: int) -> str:
    """The same with its unit, for pictures: "64 KiB"."""
    text = format_size(size)
    return text if text.endswith("B") else f"{text[:-1]} {text[-1]}iB"


def format_amount(size: float) -> str:
    """A rounded amount of memory: 25267879936 is "23.5 GiB"."""
    for suffix, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= unit:
            return f"{size / unit:.3g} {suffix}"
    return f"{size:.0f} B"


def format_us(us: float) -> str:
    """Microseconds with three or four significant digits, and at most three decimals."""
    if us < 10:
        return f"{us:.3f}"
    if us < 100:
        return f"{us:.2f}"
    if us < 1000:
        return f"{us:.1f}"
    return f"{us:.0f}"


def format_time(ns: float) -> str:
    """A time with its unit and three digits: "9.93 ms"."""
    for unit, length in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= length:
            return f"{plain(float(f'{ns / length:.3g}'))} {unit}"
    return f"{ns:.0f} ns"


def plain(number: float) -> str:
    """Without an exponent: "1000000", "0.05"."""
    return f"{number:.9f}".rstrip("0").rstrip(".")


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def bus_bandwidth(passes: int, size: int, us: float, ranks: int) -> float:
    """GB/s that each rank's memory must carry for the result: independent of the number of ranks.

    As in nccl-tests: the bytes of the whole message per time, times passes(n-1)/n, which is
    2(n-1)/n for an all-reduce and (n-1)/n for a reduce-scatter, an all-gather or an all-to-all; or
    times 1, for no passes: a reduction to one rank or a broadcast.
    """
    if us <= 0 or size == 0:
        return 0.0
    return size * (passes * (ranks - 1) / ranks if passes else 1.0) / us / 1000


def geometric_mean(values: Iterable[float]) -> float:
    """0 for no values."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0
