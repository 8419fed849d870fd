# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark results: what the benchmark programs print and what result files hold.

A program prints JSON Lines (a header, a record for each size, a summary). A file holds one document
{"format": 1, "machine": ..., "runs": [{"header", "sizes", "summary"}]}; both can be loaded. If a
measurement ended early, "incomplete" has the reason, in the document and in its last run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.base.errors import SumacError, bad_value, reason
from sumac_mpi.base.spread import Spread, speedup, spread
from sumac_mpi.bench import modes
from sumac_mpi.library import calls, tables

FORMAT = 1
Record = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One size. `sumac_*` are None when Sumac was not loaded."""

    record: Record
    ranks: int

    @property
    def bytes(self) -> int:
        return int(self.record["bytes"])

    @property
    def asked(self) -> int:
        """The requested size; `bytes` is this size rounded to whole elements."""
        return int(self.record.get("asked", self.bytes))

    @property
    def call(self) -> str:
        return str(self.record["collective"])

    @property
    def collective(self) -> str:
        return calls.collective_name(self.call)

    @property
    def what(self) -> str:
        """What was measured, without its size; for reduce_local with operation and type, for pack
        with the layout."""
        if self.call == calls.PACK:
            return self.operation
        return f"{self.call} {self.operation}" if self.is_local else self.call

    @property
    def place(self) -> str:
        """What distinguishes this row from the others of its run."""
        size = units.format_size(self.bytes)
        return f"{size} {self.operation}" if self.is_local else size

    @property
    def is_local(self) -> bool:
        return self.call in calls.LOCAL

    @property
    def operation(self) -> str:
        operand = self.record["layout" if self.call == calls.PACK else "type"]
        return f"{self.record['op']} of {operand}"

    def is_unsteady(self, contender: str) -> bool:
        """Whether the rounds differ much, as on a busy machine: quartiles 1.5 times apart."""
        rounds = sorted((self.record.get(contender) or {}).get("rounds", []))
        quarter = len(rounds) // 4
        return bool(rounds) and bool(rounds[-1 - quarter] > 1.5 * rounds[quarter])

    def time(self, contender: str) -> float | None:
        """Of "native", "sumac", "memcpy" or "loop": microseconds of a call, where it takes part."""
        found = self.record.get(contender)
        return float(found["p50"]) if found else None

    def times(self, contender: str) -> Spread | None:
        """The same, with the spread of the rounds."""
        us = self.time(contender)
        return spread(self.record[contender].get("rounds") or [us], us) if us else None

    def over_memcpy(self, contender: str | None = None) -> float | None:
        """Of reduce_local: the time of Sumac (of the MPI if it is alone) divided by memcpy's; None
        without a measurement."""
        us, copy = self.time(contender or self._own), self.time("memcpy")
        return us / copy if us is not None and copy else None

    def ns_over_loop(self) -> float | None:
        """Of reduce_local: by how many nanoseconds that time exceeds a plain loop's."""
        us, loop = self.time(self._own), self.time("loop")
        return None if us is None or loop is None else (us - loop) * 1000

    @property
    def _own(self) -> str:
        return "native" if self.time("sumac") is None else "sumac"

    def gb_per_second(self, contender: str) -> float | None:
        """Of pack: packed bytes per time; None without a measurement."""
        us = self.time(contender)
        return self.bytes / us / 1000 if us else None

    @property
    def native_us(self) -> float:
        return float(self.record["native"]["p50"])

    @property
    def sumac_us(self) -> float | None:
        sumac = self.record.get("sumac")
        return float(sumac["p50"]) if sumac else None

    @property
    def sumac_p99(self) -> float | None:
        """Not known of a row that holds some of its size's rounds."""
        p99 = (self.record.get("sumac") or {}).get("p99")
        return None if p99 is None else float(p99)

    @property
    def blocking_us(self) -> float | None:
        """The time of the blocking call in a run of a persistent one: Sumac's if it is loaded."""
        blocking = self.record.get("blocking")
        return float(blocking["p50"]) if blocking else None

    @property
    def against_blocking(self) -> Spread | None:
        """The blocking call's time divided by the persistent one's."""
        return self._quotient("blocking", "native" if self.sumac_us is None else "sumac")

    def _quotient(self, above: str, below: str) -> Spread | None:
        """Of two contenders' times."""
        both = self.times(above), self.times(below)
        return speedup(*both) if all(both) else None

    @property
    def mode(self) -> str:
        """The machine's mode in which the row was measured, and the time of a line in it."""
        found = self.record.get("mode")
        return f"{found['name']} {found['line_ns']}" if found else ""

    @property
    def dropped(self) -> int:
        """The rounds in which the mode changed, which were left out."""
        return int(self.record.get("line", {}).get("dropped", 0))

    def start_us(self, contender: str) -> float | None:
        """Of "native" or "sumac": the time of the start alone. None for a blocking call."""
        return (self.record.get(contender) or {}).get("start")

    def overlap(self, contender: str, tests: bool = False) -> Record | None:
        """percent, pure, compute and overall, where they were measured."""
        found: Record | None = (self.record.get(contender) or {}).get("overlap")
        return found.get("tests") if found and tests else found

    @property
    def speedup(self) -> float | None:
        """The MPI's own time divided by Sumac's."""
        return self.record.get("speedup")

    @property
    def gain(self) -> Spread | None:
        """The speedup with the spread of the rounds."""
        return self._quotient("native", "sumac")

    @property
    def algorithm(self) -> str:
        return str(self.record.get("algorithm", ""))

    @property
    def handed_down(self) -> bool:
        """Whether the MPI served Sumac's calls too: the path of such a call begins so."""
        return self.algorithm.startswith("mpi:")

    @property
    def wrong(self) -> int:
        """The number of wrong elements in the result: of Sumac, or of the MPI if Sumac is not
        loaded."""
        return int(self.record.get("wrong", self.record.get("wrong_native", 0)))

    def bus_bandwidth(self, us: float) -> float:
        passes = calls.passes(self.collective)
        return units.bus_bandwidth(passes, self.bytes, us, self.ranks)


@dataclass
class Run:
    """One call measured on one MPI."""

    header: Record
    rows: list[Row] = field(default_factory=list)
    summary: Record = field(default_factory=dict)
    cut_by: str = ""  # what ended the measurement before it was complete
    machine: Record = field(default_factory=dict)  # as the document has it, and the date
    date: str = ""

    @property
    def call(self) -> str:
        return str(self.header["collective"])

    @property
    def collective(self) -> str:
        return calls.collective_name(self.call)

    @property
    def is_local(self) -> bool:
        """Whether each row is one operation on one type, or on one layout."""
        return self.call in calls.LOCAL

    @property
    def kind(self) -> calls.Kind:
        return calls.kind(self.call)

    @property
    def family(self) -> str:
        return str(self.header["family"])

    @property
    def ranks(self) -> int:
        return int(self.header["ranks"])

    @property
    def line_is_measured(self) -> bool:
        """Whether rows know the machine's mode."""
        return "line_ns" in self.header

    @property
    def sumac_takes_part(self) -> bool:
        """Whether Sumac is active and can serve the call. Known before the first size."""
        sumac = self.header["sumac"]
        return bool(sumac["active"]) and "lacks" not in sumac

    @property
    def overlap(self) -> Record | None:
        """How overlap was measured, if it was: the mode "compute" and the number of "tests"."""
        return self.header.get("overlap")

    @property
    def with_sumac(self) -> bool:
        return any(row.sumac_us is not None for row in self.rows)

    @property
    def measured(self) -> int:
        """How many sizes or cells have rows: one may have several, of different modes."""
        return len({self._cell(row) for row in self.rows})

    @property
    def wrong(self) -> int:
        return sum(row.wrong for row in self.rows)

    @property
    def mpi_name(self) -> str:
        return short_mpi_name(str(self.header.get("mpi", self.family)))

    def add(self, record: Record) -> list[Row]:
        """Takes one record of a program's output. Returns the rows, one for each of the machine's
        modes, when it was one of a size."""
        if record.get("kind") == "size":
            parts = [Row(part, self.ranks) for part in modes.apart(record)]
            self.rows += parts
            return parts
        if record.get("kind") == "summary":
            self.summary = record
        return []

    def as_dict(self) -> Record:
        return {
            "header": self.header,
            "sizes": [row.record for row in self.rows],
            "summary": self.summary,
            **({"incomplete": self.cut_by} if self.cut_by else {}),
        }

    @classmethod
    def of_dict(cls, part: Mapping[str, Any]) -> Run:
        """The run that as_dict() has described."""
        run = cls(part["header"], [], part.get("summary", {}), part.get("incomplete", ""))
        run.rows = [Row(record, run.ranks) for record in part["sizes"]]
        return run

    def key(self, row: Row) -> tuple[Any, ...]:
        """Rows of two files with equal keys measure the same thing. A key ends with the mode."""
        of_run = ("family", "ranks", "collective", "root", "in_place", "with_counts")
        return (
            *(self.header.get(name) for name in of_run),
            *self._cell(row),
            row.record.get("mode", {}).get("name"),
        )

    @staticmethod
    def _cell(row: Row) -> tuple[Any, ...]:
        """What the row is of, in whichever mode."""
        return tuple(row.record.get(name) for name in ("type", "layout", "op", "bytes"))


def _ignore(_run: Run, _rows: list[Row]) -> None:
    pass


def of_job(
    job: Generator[Record, None, None],
    begin: Callable[[Record], Run] = Run,
    took: Callable[[Run, list[Row]], None] = _ignore,
    what: str = "the benchmark",
) -> Run:
    """The run of a program's records: `begin` makes it of the first one, and `took` gets the rows
    of each further one. Raises with status 1 where there is no size among them."""
    run: Run | None = None
    with closing(job) as records:
        for record in records:
            if run is None:
                run = begin(record)
            else:
                took(run, run.add(record))
    if run is None or not run.rows:
        raise SumacError("job-failed", f"{what} ended without results")
    return run


def short_mpi_name(version: str) -> str:
    """The text with which a library describes itself, cut to a name such as "Open MPI 4.1.4"."""
    words = version.replace("Version:", " ").replace(",", " ").split()
    if version.startswith("Open MPI") and len(words) > 2:
        return f"Open MPI {words[2].removeprefix('v')}"
    if version.startswith("MPICH") and len(words) > 1:
        return f"MPICH {words[1]}"
    if version.startswith("Intel"):
        numbers = [word for word in words if word[:1].isdigit()]
        return f"Intel MPI {numbers[0] if numbers else ''}".strip()
    return version


def types_and_operations(rows: Iterable[Row]) -> tuple[list[str], list[str]]:
    """The types and the operations of rows of reduce_local, in the library's order."""
    known = list(rows)
    types, ops = ({row.record[name] for row in known} for name in ("type", "op"))
    return (
        [name for name in tables.types() if name in types],
        [op for op in tables.operations() if op in ops],
    )


def document(runs: Iterable[Run], machine: Record, date: str, cut_by: str = "") -> Record:
    return {
        "format": FORMAT,
        "date": date,
        **({"incomplete": cut_by} if cut_by else {}),
        "machine": machine,
        "runs": [run.as_dict() for run in runs],
    }


def load(path: Path) -> list[Run]:
    """The runs of a document, or of a program's output. Raises a usage error for other files."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise bad_value(f"cannot read {path}: {reason(error)}") from error
    try:
        runs = _from_document(text) or _from_lines(text)
        if all(run.rows for run in runs) and runs:
            return runs
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise bad_value(
        f"{path} holds no results", fix="name a file that 'sumac bench --json=FILE' has written"
    )


def _from_document(text: str) -> list[Run]:
    try:
        content = json.loads(text)
    except ValueError:
        return []
    runs = []
    for part in content["runs"]:
        run = Run.of_dict(part)
        run.machine, run.date = content.get("machine", {}), content.get("date", "")
        runs.append(run)
    return runs


def _from_lines(text: str) -> list[Run]:
    runs: list[Run] = []
    for line in text.splitlines():
        record = json.loads(line)
        if record["kind"] == "header":
            runs.append(Run(record))
        else:
            runs[-1].add(record)
    return runs
