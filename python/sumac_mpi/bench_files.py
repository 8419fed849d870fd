# SPDX-License-Identifier: BSD-3-Clause
"""The files of `sumac bench`: the document of results, and the picture."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sumac_mpi import calls, cmd_plot, files, machine, results
from sumac_mpi.errors import bad_value


@dataclass(frozen=True)
class Files:
    """Raises a usage error for what could not be written at the end."""

    call: str
    document: Path | None
    picture: Path | None

    def __post_init__(self) -> None:
        if self.document:
            files.check("-J", self.document)
        if self.picture and calls.collective(self.call) == "barrier":
            raise bad_value(f"--plot: not for {self.call}", fix="it has one size: nothing to draw")
        if self.picture:
            cmd_plot.check("--plot", self.picture)

    def write(self, runs: list[results.Run], cut_by: str = "") -> results.Record:
        """Returns the document."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        content = results.document(runs, machine.describe().as_dict(), date, cut_by)
        if self.document:
            results.save(self.document, content)
        if self.picture:
            cmd_plot.draw([("", run) for run in runs], self.picture, None)
        return content
