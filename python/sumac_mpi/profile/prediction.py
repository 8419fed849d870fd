# SPDX-License-Identifier: BSD-3-Clause
"""What a profiled program's collectives would take with Sumac.

Sumac changes the work in a call, and not the time for which ranks wait for one another:

    time with Sumac = waiting + work x (Sumac's time over the MPI's)

with the ratio of that call, number of bytes and of ranks from the table of gains. Where ranks leave
a call one after another, the first ones wait for the others in the next call. That part of the
waiting comes of the call before, and changes as its work does. Calls that Sumac leaves to the MPI
take as long as before: the first ones on a communicator, those of programs' own operations and
types, those on communicators of one rank or with two groups, and collectives that it only counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.library import calls, tables
from sumac_mpi.profile.files import Kind, Rank
from sumac_mpi.profile.gains import Known, Table
from sumac_mpi.profile.job import Profile, Times
from sumac_mpi.profile.rows import call_name

Tables = Callable[[int], Table | None]  # the table for a number of ranks
# Calls on a communicator until its ranks have agreed, which the MPI serves.
CALLS_BEFORE = 2


@dataclass
class Predicted:
    """Nanoseconds, means over the ranks."""

    before: float = 0.0  # in collectives
    after: float = 0.0
    set_up: float = 0.0  # of `after`, that of communicators
    run: float = 0.0  # of the whole run, as it was
    unknown: dict[str, float] = field(default_factory=dict)  # of `before`: not in a table, by why

    @property
    def run_after(self) -> float:
        return self.run - (self.before - self.after)


def predict(profile: Profile, tables: Tables) -> Predicted:
    """Sets `with_sumac` of the profile's times, and returns their sums."""
    result = Predicted(run=profile.run_ns)
    ranks = len(profile.ranks)
    on_communicator = _calls_by_communicator(profile)
    for rank in profile.ranks:
        ratios: dict[int, float] = {}
        collectives = {
            number: times
            for number, times in profile.times[rank.rank].items()
            if rank.kinds[number].form != "local"
        }
        for number, times in collectives.items():
            kind = rank.kinds[number]
            ratio = _ratio(rank, kind, times, tables)
            if isinstance(ratio, str):
                result.unknown[ratio] = result.unknown.get(ratio, 0.0) + times.total / ranks
                ratio = 1.0
            served = _served(on_communicator.get((rank.rank, kind.communicator), 0))
            ratios[number] = 1 - served + served * ratio
        for number, times in collectives.items():
            times.with_sumac = _with_sumac(times, ratios, number)
            result.before += times.total / ranks
            result.after += times.with_sumac / ranks
    result.set_up = _set_up(profile, tables, on_communicator) / ranks
    result.after += result.set_up
    return result


def _with_sumac(times: Times, ratios: Mapping[int, float], number: int) -> float:
    """Of the calls of a kind, the time with Sumac, by the ratios of the rank's kinds."""
    known = times.total / times.split if times.split else 0.0  # as Times.waited takes it
    passed_on = sum(
        ns * known * (1 - ratios.get(kind, 1.0)) for kind, ns in times.passed_on.items()
    )
    return times.waited - passed_on + (times.total - times.waited) * ratios[number]


def _set_up(
    profile: Profile, tables: Tables, on_communicator: Mapping[tuple[int, int | None], int]
) -> float:
    """Nanoseconds, of all ranks together, that it takes to set up the communicators that are used
    more than once, the first of a rank and the others."""
    total, begun = 0.0, set()
    for (number, communicator), made in on_communicator.items():
        rank = next(each for each in profile.ranks if each.rank == number)
        known = rank.communicators.get(communicator) if communicator is not None else None
        if known is None or known.ranks == 1 or known.inter or made < CALLS_BEFORE:
            continue
        if table := tables(known.ranks):
            total += 1e3 * table.set_up_us[number in begun]
            begun.add(number)
    return total


def _calls_by_communicator(profile: Profile) -> dict[tuple[int, int | None], int]:
    made: dict[tuple[int, int | None], int] = {}
    for rank, kind, times in profile.rows():
        if kind.form != "local" and not _is_counted(kind):
            key = rank.rank, kind.communicator
            made[key] = made.get(key, 0) + times.calls
    return made


def _served(made: int) -> float:
    """The share of a communicator's calls that Sumac may serve."""
    return max(0, made - CALLS_BEFORE) / made if made else 0.0


def _ratio(rank: Rank, kind: Kind, times: Times, tables: Tables) -> float | str:
    """Sumac's time over the MPI's, or why it is not known."""
    if kind.communicator is None:
        return "calls beyond the kinds that a rank tells apart"
    known = rank.communicators[kind.communicator]
    if known.ranks == 1 or known.inter or _is_counted(kind):
        return 1.0
    table = tables(known.ranks)
    if table is None:
        return f"no table of {known.ranks} ranks"
    if not _can_be_taken(kind):
        return 1.0
    curve = table.curves.get(call_name(kind)) or table.curves.get(_stand_in(kind))
    if curve is None:
        return f"{call_name(kind)} is not in the table"
    return curve.at(times.bytes // times.calls if times.calls else kind.bytes)


def _is_counted(kind: Kind) -> bool:
    """Whether Sumac only counts the function, which the MPI serves."""
    return calls.collective_of(kind.function) is None


def _stand_in(kind: Kind) -> str:
    """The call by the function that stands for one that is not in the table."""
    row = calls.collective_of(kind.function)
    name = calls.function_of(row.name) if row else kind.function
    return call_name(kind).replace(kind.function, name, 1)


def _can_be_taken(kind: Kind) -> bool:
    """Whether a reduction is by an operation that MPI defines on an element type of Sumac's."""
    row = calls.collective_of(kind.function)
    if not row or not row.reduces:
        return True
    return kind.type in tables.types() and tables.is_defined(kind.operation, kind.type)


_LITTLE = 0.005  # a share of the time in collectives that is not worth a line


def lines(predicted: Predicted, known: Known) -> list[str]:
    """Totals, and what they do not contain."""
    result = []
    usable = {ranks: table for ranks, table in known.tables.items() if table}
    if usable:
        run = predicted.run_after
        result.append(
            f"with Sumac, predicted: {units.format_time(predicted.after)} in collectives instead "
            f"of {units.format_time(predicted.before)}, the run "
            f"{units.format_time(run)} instead of {units.format_time(predicted.run)} "
            f"({_change(run, predicted.run)})"
        )
        result.append(
            f"of that {units.format_time(predicted.set_up)} are the set-up of communicators, once"
        )
        result += [
            f"by the table of {ranks} ranks of {table.date}"
            + (f", measured in mode {' and '.join(table.modes)}" if table.modes else "")
            for ranks, table in sorted(usable.items())
        ]
        result += [
            f"taken to stay: {time / predicted.before:.1%} of the time in collectives ({why})"
            for why, time in sorted(predicted.unknown.items())
            if time > _LITTLE * predicted.before
        ]
    return result + known.advice()


def _change(after: float, before: float) -> str:
    """In percent, as "3.4% less"."""
    change = after / before - 1 if before else 0.0
    return f"{abs(change):.1%} {'more' if change > 0 else 'less'}"


def as_dict(predicted: Predicted, known: Known) -> dict[str, Any]:
    return {
        "seconds": predicted.before / 1e9,
        "with_sumac_seconds": predicted.after / 1e9,
        "set_up_seconds": predicted.set_up / 1e9,
        "run_seconds": predicted.run / 1e9,
        "run_with_sumac_seconds": predicted.run_after / 1e9,
        "unknown_seconds": {why: time / 1e9 for why, time in predicted.unknown.items()},
        "tables": {str(ranks): {"date": table.date, "modes": table.modes}
                   for ranks, table in known.tables.items() if table},
        "problems": {str(ranks): problem for ranks, problem in known.problems.items()},
    }  # fmt: skip
