# SPDX-License-Identifier: BSD-3-Clause
"""Results as the OSU micro-benchmarks 7.4 print them, for scripts that read those.

The same preamble, columns and precision. As there, the figure is the mean over calls and ranks.
One table holds one contender.
"""

from __future__ import annotations

from sumac_mpi.results import Row, Run

_TITLES = {"allreduce": "Allreduce", "reduce": "Reduce", "bcast": "Broadcast", "barrier": "Barrier"}
_TYPES = {
    "int8": "MPI_INT8_T",
    "uint8": "MPI_UINT8_T",
    "int16": "MPI_INT16_T",
    "uint16": "MPI_UINT16_T",
    "int32": "MPI_INT",
    "uint32": "MPI_UNSIGNED",
    "int64": "MPI_INT64_T",
    "uint64": "MPI_UINT64_T",
    "float": "MPI_FLOAT",
    "double": "MPI_DOUBLE",
}


class Osu:
    """`series` is "sumac" (the MPI's own figures where it is not loaded) or "mpi"."""

    def __init__(self, run: Run, series: str = "sumac") -> None:
        self.run = run
        self.series = series

    def head(self) -> list[str]:
        lines = ["", f"# OSU MPI {_TITLES[self.run.collective]} Latency Test v7.4"]
        if self.run.collective == "barrier":
            return [*lines, "# Avg Latency(us)"]
        data_type = _TYPES[self.run.header["type"]]
        return [*lines, f"# Datatype: {data_type}.", f"{'# Size':<10}{'Avg Latency(us)':>20}"]

    def row(self, row: Row) -> str:
        native = self.series == "mpi" or row.sumac_us is None
        mean = row.record["native" if native else "sumac"]["mean"]
        if row.collective == "barrier":
            return f"{mean:>17.2f}"
        return f"{row.bytes:<10}{mean:>20.2f}"

    def foot(self) -> list[str]:
        return []
