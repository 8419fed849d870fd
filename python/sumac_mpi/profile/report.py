# SPDX-License-Identifier: BSD-3-Clause
"""A profile as text."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.bench.results import short_mpi_name
from sumac_mpi.profile.job import Profile
from sumac_mpi.profile.rows import COLUMNS, By, Row, rows

_TEXTS = ("call", "communicator", "type", "operation", "site")
_NARROW = 110  # columns of a console; below, headings are shorter or take several lines
_SHORT = {"communicator": "commu-\nnicator", "operation": "op"}


def title(profile: Profile) -> str:
    first = profile.ranks[0]
    hosts = {rank.host for rank in profile.ranks}
    where = first.host if len(hosts) == 1 else f"{len(hosts)} hosts"
    inside = _mean([profile.of_rank(rank.rank).total for rank in profile.ranks])
    share = inside / profile.run_ns if profile.run_ns else 0.0
    return (
        f"{profile.size} ranks on {where}, {short_mpi_name(first.mpi)}: "
        f"{units.format_time(profile.run_ns)} per rank on average, "
        f"{units.format_time(inside)} ({share:.1%}) of it in collectives"
    )


def table(profile: Profile, by: By, most: int | None, predicted: bool, width: int) -> Table:
    """Collectives, most time first; at most so many rows, if given. `predicted`: the times with
    Sumac are known. `width`: the console's."""
    shown = rows(profile, by)
    numbers = ("calls", "time", "of run", "waiting", "work per call")
    result = _empty(by, shown, numbers + (("with Sumac",) if predicted else ()), width)
    for row in shown[:most]:
        times = row.times
        mean = times.total / len(profile.ranks)
        calls = sum(row.by_rank.values())
        result.add_row(
            *row.key, str(row.calls), units.format_time(mean),
            f"{mean / profile.run_ns:.1%}" if profile.run_ns else "",
            f"{times.waited / times.total:.0%}" if times.split else "?",
            units.format_time((times.total - times.waited) / calls) if times.split else "?",
            *([units.format_time(times.with_sumac / len(profile.ranks))] if predicted else ()),
        )  # fmt: skip
    if most is not None and len(shown) > most:
        result.add_row(f"and {len(shown) - most} more (--top)", *[""] * (len(result.columns) - 1))
    return result


def local_table(profile: Profile, by: By, width: int) -> Table | None:
    """Calls without communication: packing, and MPI_Reduce_local."""
    shown = rows(profile, by, local=True)
    if not shown:
        return None
    result = _empty(by, shown, ("calls", "time", "per call"), width)
    for row in shown:
        calls = sum(row.by_rank.values())
        result.add_row(
            *row.key, str(row.calls), units.format_time(row.times.total / len(profile.ranks)),
            units.format_time(row.times.total / calls),
        )  # fmt: skip
    return result


def _empty(by: By, shown: list[Row], numbers: tuple[str, ...], width: int) -> Table:
    """Where there is little room, texts are folded; names of calls, and numbers, never are."""
    narrow = width < _NARROW
    result = Table(box=None, pad_edge=False, collapse_padding=narrow)
    for at, name in enumerate(COLUMNS[by]):
        whole = name not in _TEXTS or name == "call"
        result.add_column(
            _SHORT.get(name, name) if narrow else name,
            justify="left" if name in _TEXTS else "right",
            overflow="fold",
            min_width=max((len(row.key[at]) for row in shown), default=0) if whole else None,
        )
    for name in numbers:
        heading = name.replace(" ", "\n") if narrow else name
        result.add_column(heading, justify="right", no_wrap=True)
    return result


def waiting_line(profile: Profile) -> str:
    """Which rank waited least, hence was waited for most, and which most."""
    waited = sorted((profile.of_rank(rank.rank).waited, rank.rank) for rank in profile.ranks)
    (least, late), (most, early) = waited[0], waited[-1]
    return (
        f"waiting for other ranks: {units.format_time(_mean([each for each, _ in waited]))} on "
        f"average, least in rank {late} ({units.format_time(least)}), most in rank {early} "
        f"({units.format_time(most)})"
    )


def notes(profile: Profile) -> list[str]:
    result = []
    if len(profile.ranks) < profile.size:
        result.append(f"there are files of {len(profile.ranks)} of the {profile.size} ranks only")
    cut = [rank.rank for rank in profile.ranks if rank.end is None]
    if cut:
        shown = "what they had written is shown"
        if not any(rank.calls for rank in profile.ranks):
            shown = "they had written no call (ranks write every second, and the one that aborts)"
        result.append(
            f"{units.counted(len(cut), 'rank')}, the first rank {cut[0]}, did not come to "
            f"MPI_Finalize, or could not write more: {shown}"
        )
    beyond = sum(
        sums.calls - sums.kept
        for rank in profile.ranks
        for number, sums in rank.sums.items()
        if rank.kinds[number].form != "local"
    )
    if beyond:
        result.append(
            f"{beyond} calls came after SUMAC_PROFILE_CALLS: of these there are sums, and their "
            "waiting is taken to be as that of the others"
        )
    if profile.unmatched:
        result.append(
            f"{profile.unmatched} calls are not known of all ranks of their communicator: of these "
            "waiting is not known"
        )
    return result


def as_dict(profile: Profile, by: By) -> dict[str, Any]:
    ranks = len(profile.ranks)

    def of(found: list[Row]) -> list[dict[str, Any]]:
        return [row.as_dict(by, ranks) for row in found]

    return {
        "ranks": profile.size,
        "mpi": profile.ranks[0].mpi,
        "run_seconds": profile.run_ns / 1e9,
        "collectives": of(rows(profile, by)),
        "local": of(rows(profile, by, local=True)),
        "by_rank": [
            {"rank": rank.rank, "host": rank.host,
             "seconds": (times := profile.of_rank(rank.rank)).total / 1e9,
             "waiting_seconds": times.waited / 1e9}
            for rank in profile.ranks
        ],
        "notes": notes(profile),
    }  # fmt: skip


def _mean(values: list[float] | list[int]) -> float:
    return sum(values) / len(values)
