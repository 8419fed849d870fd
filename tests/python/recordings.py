# SPDX-License-Identifier: BSD-3-Clause
"""Files of a profile or a trace, made of sections as a rank writes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def head(of: str, rank: int, ranks: int, **changes: Any) -> Line:
    """The first line of a file."""
    return {"sumac_recording": 1, "of": of, "rank": rank, "ranks": ranks, "host": "a"} | changes


def section(name: str, content: bytes) -> bytes:
    return struct.pack("=4sI", name.encode(), len(content)) + content


def text(*lines: Line) -> bytes:
    """A section of lines."""
    return section("text", "".join(json.dumps(line) + "\n" for line in lines).encode())


def records(name: str, layout: str, rows: Iterable[Iterable[int]]) -> bytes:
    """A section of records; none where there are no rows, as the ranks do it."""
    content = b"".join(struct.pack(layout, *row) for row in rows)
    return section(name, content) if content else b""


def write(folder: Path, rank: int, of: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rank-{rank}.{of}"
    path.write_bytes(content)
    return path
