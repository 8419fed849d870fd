# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune --simulate`: which algorithm over a hierarchy is the fastest on a described cluster.

Each way, an algorithm and its chunk, is one simulation of all sizes. Simulated times are the same
each time, so one simulation tells which way is faster than the rules for simulated clusters."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumac_mpi.base import files, units
from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.library import tables
from sumac_mpi.simulate import measure, request, smpi
from sumac_mpi.tune.decision import Cell, Verdict
from sumac_mpi.tune.request import SHIPPED
from sumac_mpi.tune.rules import Place
from sumac_mpi.tune.state import other_measurement

COLLECTIVES = ("allreduce", "reduce", "bcast")
_FORMAT = 1
_AT_ONCE = 2  # simulations, of some hundred MB each
# What an algorithm needs that works over any hierarchy over messages (src/base/algorithms.def).
_OVER_LEVELS = ("levels", "levels_messages", "levels_all_ranks", "levels_slow_ranks")
_CHUNKS = ("4K", "8K", "16K", "32K", "64K", "256K")
_MOST_CHUNKS = 64  # of a message, for a chunk to be worth a simulation
_LEAST_GAIN = 1.01  # there is no noise, but what is less is no reason for a rule


@dataclass(frozen=True)
class Job:
    """One simulation: a way at all sizes it is worth trying at."""

    collective: str
    ranks: int
    way: str  # ALGORITHM:CHUNK, or SHIPPED
    sizes: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"{self.collective} {self.ranks} {self.way}"


@dataclass
class Kept:
    """What was simulated: microseconds by job and size, in a file beside the rules."""

    path: Path
    identity: dict[str, Any]
    found: dict[str, dict[int, float]]

    def add(self, job: Job, us: dict[int, float]) -> None:
        self.found[job.key] = us
        content = {"format": _FORMAT, "identity": self.identity, "us": self.found}
        files.write(self.path, (json.dumps(content) + "\n").encode())


def collectives(named: Sequence[str]) -> tuple[str, ...]:
    for name in named:
        if name not in COLLECTIVES:
            raise bad_value(f"{name}: with --simulate one of {', '.join(COLLECTIVES)}")
    return tuple(dict.fromkeys(named)) or COLLECTIVES


def jobs(requests: Sequence[request.Request]) -> list[Job]:
    """`requests` are one for each collective and number of ranks."""
    found = []
    for asked in requests:
        found.append(Job(asked.collective, asked.ranks, SHIPPED, asked.sizes))
        for algorithm in _algorithms(asked):
            for chunk in _CHUNKS:
                sizes = tuple(size for size in asked.sizes if _is_worth(size, chunk))
                if sizes:
                    found.append(Job(asked.collective, asked.ranks, f"{algorithm}:{chunk}", sizes))
    return found


def _algorithms(asked: request.Request) -> list[str]:
    rows = [row for row in tables.rows("algorithms") if row["collective"] == asked.collective]
    return [
        row["name"]
        for row in rows
        if row["needs"] in _OVER_LEVELS
        and (row["needs"] != "levels_slow_ranks" or asked.cluster.slow)
        and row["order"] != "rank"
    ]


def _is_worth(size: int, chunk: str) -> bool:
    """Smaller messages than a chunk are one with the least chunk, too."""
    bytes_of_chunk = units.parse_size(chunk)
    least = chunk == _CHUNKS[0]
    return size <= bytes_of_chunk * _MOST_CHUNKS and (least or size > bytes_of_chunk)


def load(path: Path, requests: Sequence[request.Request]) -> Kept:
    """What an interrupted run has kept, if it was for the same. Raises a usage error else."""
    identity = {
        "requests": json.loads(json.dumps([dataclasses.asdict(each) for each in requests])),
        "program": hashlib.sha256(smpi.program().read_bytes()).hexdigest()[:16],
        "rules": hashlib.sha256(request.RULES.read_bytes()).hexdigest()[:16],
    }
    kept = Kept(path, identity, {})
    if not path.exists():
        return kept
    try:
        content = json.loads(path.read_text())
        if content["format"] != _FORMAT:
            raise other_measurement(path, "another version of Sumac has written it")
        if content["identity"] != identity:
            raise other_measurement(path, "of another cluster, other arguments or another build")
        kept.found = {
            key: {int(size): us for size, us in of.items()} for key, of in content["us"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise other_measurement(path, "it is damaged, or of measurements") from error
    return kept


def simulate(
    requests: Sequence[request.Request],
    kept: Kept,
    seconds: float,
    advance: Callable[[str], None],
) -> None:
    """Simulates what was not kept. Raises with status 4 for wrong results."""
    by_call = {(each.collective, each.ranks): each for each in requests}
    wanted = jobs(requests)
    left = [job for job in wanted if job.key not in kept.found]
    for job in wanted:
        if job not in left:
            advance(job.key)
    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        under_way = {
            pool.submit(_run, by_call[job.collective, job.ranks], job, seconds): job for job in left
        }
        waiting = dict(under_way)
        try:
            for done in as_completed(under_way):
                kept.add(waiting.pop(done), done.result())
                advance(under_way[done].key)
        except BaseException:
            # Those that have begun come to their end, and are kept.
            pool.shutdown(wait=True, cancel_futures=True)
            for job in waiting:
                if not job.cancelled() and not job.exception():
                    kept.add(waiting[job], job.result())
            raise


def _run(asked: request.Request, job: Job, seconds: float) -> dict[int, float]:
    with tempfile.NamedTemporaryFile("w", prefix="sumac-tune-", suffix=".toml") as rules:
        variables = asked.variables
        if job.way != SHIPPED:
            rules.write(rule_text(job) + "\n" + request.RULES.read_text(encoding="utf-8"))
            rules.flush()
            variables = (*variables, f"SUMAC_RULES={rules.name}")
        own = dataclasses.replace(asked, sizes=job.sizes, selections=(), variables=variables)
        records, over = measure.records(own, request.SUMAC, seconds, lambda _: None)
    if not over:
        raise SumacError(
            "simulation", f"{job.key} was not over in {seconds:g} s", fix="a longer --timeout, or "
            "fewer ranks"
        )  # fmt: skip
    wrong = [each["bytes"] for each in records if each["wrong"]]
    if wrong:
        raise SumacError("wrong-results", f"{job.key} at {wrong[0]} bytes", code=Exit.WRONG)
    return {each["bytes"]: each["us"] for each in records}


def rule_text(job: Job) -> str:
    algorithm, _, chunk = job.way.partition(":")
    return (
        f'[[rule]]\ncollective = "{job.collective}"\nover = "levels"\n'
        f'algorithm = "{algorithm}"\nchunk = "{chunk}"\n'
    )


def verdicts(requests: Sequence[request.Request], kept: Kept) -> dict[Place, list[Verdict]]:
    found = {}
    for asked in requests:
        ways = {
            job.way: kept.found[job.key]
            for job in jobs([asked])
        }  # fmt: skip
        place = Place(
            asked.mpi, asked.collective, asked.ranks, False, over="levels",
            nodes=len({node for node, _, _ in asked.job(request.SUMAC)["places"]}),
        )  # fmt: skip
        found[place] = [_decide(size, ways) for size in asked.sizes]
    return found


def _decide(size: int, ways: Mapping[str, Mapping[int, float]]) -> Verdict:
    at = {way: us[size] for way, us in ways.items() if size in us}
    cell = Cell(size, SHIPPED, {way: {None: [[us]]} for way, us in at.items()})
    best = min(at, key=at.__getitem__)
    ratio = at[SHIPPED] / at[best] if at[best] else 1.0
    if ratio < _LEAST_GAIN:
        return Verdict(cell, SHIPPED, "the fastest", 1.0)
    return Verdict(cell, best, f"{ratio:.2f}x", ratio)


def table(found: Mapping[Place, Sequence[Verdict]]) -> list[str]:
    lines = []
    for place, rows in found.items():
        lines += ["", f"# {place.collective} · {place.ranks} ranks on {place.nodes} nodes",
                  f"#{'size':>9} {'shipped us':>11}  {'kept':<24} {'us':>9}  why"]  # fmt: skip
        for row in rows:
            us = row.cell.us
            lines.append(
                f"{row.bytes:>10} {us(SHIPPED, None):>11.2f}  {row.kept:<24} "
                f"{us(row.kept, None):>9.2f}  {row.why}"
            )
    return lines[1:]
