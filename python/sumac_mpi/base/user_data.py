# SPDX-License-Identifier: BSD-3-Clause
"""Where Sumac keeps what it has installed or measured for a user."""

from __future__ import annotations

import os
from pathlib import Path


def folder(name: str) -> Path:
    """A folder of that name below the user's data, which need not exist."""
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(data) / "sumac" / name
