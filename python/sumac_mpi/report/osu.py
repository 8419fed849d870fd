# SPDX-License-Identifier: BSD-3-Clause
"""Results as the OSU micro-benchmarks 7.4 print them, for scripts that read those.

The same preamble, columns and precision. As there, the figure is the mean over calls and ranks. The
figures of a nonblocking call and its overlap are medians, measured without MPI_Test. One table
holds one contender.
"""

from __future__ import annotations

from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import calls, elements
from sumac_mpi.library.calls import Kind

# Collectives whose OSU name differs from MPI's.
_TITLES = {"bcast": "Broadcast"}
_FIGURES = {
    "overall": "Overall(us)",
    "compute": "Compute(us)",
    "pure": "Pure Comm.(us)",
    "percent": "Overlap(%)",
}


class Osu:
    """`series` is "sumac" (the MPI's own figures where it takes no part) or "mpi"."""

    def __init__(self, run: Run, series: str = "sumac") -> None:
        self.run = run
        self.series = series
        self._overlap = run.kind is Kind.nonblocking and run.overlap is not None
        self._sized = calls.collective(run.call).data
        self._last = -1

    def head(self) -> list[str]:
        title = _TITLES.get(self.run.collective, calls.collective(self.run.call).mpi)
        if self.run.kind is Kind.nonblocking:
            title = f"Non-blocking {title}"
        elif self.run.kind is Kind.persistent:
            title += " Persistent"
        lines = ["", f"# OSU MPI {title} Latency Test v7.4"]
        if self._overlap:
            lines += ["# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait", ""]
        if self._sized:
            lines.append(f"# Datatype: {elements.mpi_name(self.run.header['type'])}.")
        return [*lines, self._titles()]

    def _titles(self) -> str:
        size = f"{'# Size':<10}" if self._sized else ""
        if self._overlap:
            return size + "".join(f"{title:>18}" for title in _FIGURES.values())
        return f"{size}{'Avg Latency(us)':>20}" if self._sized else "# Avg Latency(us)"

    def row(self, row: Row) -> str:
        """Of the machine's modes, which this format does not know, the fastest alone."""
        if row.bytes == self._last:
            return ""
        self._last = row.bytes
        contender = "native" if self.series == "mpi" or row.sumac_us is None else "sumac"
        size = f"{row.bytes:<10}" if self._sized else ""
        if self._overlap:
            overlap = row.overlap(contender) or {}
            return size + "".join(f"{overlap[name]:>18.2f}" for name in _FIGURES)
        mean = row.record[contender]["mean"]
        return f"{size}{mean:>20.2f}" if self._sized else f"{mean:>17.2f}"

    def foot(self) -> list[str]:
        return []
