# SPDX-License-Identifier: BSD-3-Clause
"""The files of `sumac bench`: the document of results, and the picture."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sumac_mpi.base import files
from sumac_mpi.base.errors import bad_value
from sumac_mpi.bench import results
from sumac_mpi.library import calls
from sumac_mpi.machine import hardware
from sumac_mpi.plot import drawing


@dataclass(frozen=True)
class Files:
    """The files; raises a usage error for one that could not be written at the end."""

    call: str
    document: Path | None
    picture: Path | None

    def __post_init__(self) -> None:
        if self.document:
            files.check("-J", self.document)
        if self.picture and not calls.has_data(self.call):
            raise bad_value(f"--plot: not for {self.call}", fix="it has one size: nothing to draw")
        if self.picture:
            drawing.check("--plot", self.picture)

    def write(self, runs: list[results.Run], cut_by: str = "", **others: Any) -> results.Record:
        """Writes the files; returns the document, which has the others too."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        content = results.document(runs, hardware.describe().as_dict(), date, cut_by)
        content |= others
        if self.document:
            results.save(self.document, content)
        if self.picture:
            drawing.draw([("", run) for run in runs], self.picture, None)
        return content
