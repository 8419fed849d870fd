# SPDX-License-Identifier: BSD-3-Clause
"""recording.py FILE: fails unless a rank's trace is whole, and its text is lines of JSON."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from sumac_mpi.base import recording  # noqa: E402

_, parts = recording.read(Path(sys.argv[1]).read_bytes(), "trace", whole=True)
for _ in parts:
    pass
