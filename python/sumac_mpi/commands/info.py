# SPDX-License-Identifier: BSD-3-Clause
"""`sumac info`: what is installed here, what this machine offers, and which options are set."""

from __future__ import annotations

import math
import platform
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi import __version__
from sumac_mpi.base import files, hardware, units
from sumac_mpi.base.console import wrapped
from sumac_mpi.base.errors import bad_value
from sumac_mpi.commands.common_options import JsonOption
from sumac_mpi.launch import launcher
from sumac_mpi.library import layout, options, tables

Facts = dict[str, Any]


class Topic(str, Enum):
    options = "options"
    algorithms = "algorithms"
    machine = "machine"
    mpi = "mpi"
    build = "build"


def info(
    topic: Annotated[
        Optional[Topic],
        typer.Argument(
            metavar="TOPIC",
            help="options, algorithms, machine, mpi or build; all but algorithms if not given",
        ),
    ] = None,
    as_file: Annotated[
        bool,
        typer.Option("--file", help="With options: as a file to edit, and to source in a shell"),
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Show what is installed, what the machine offers, and which options are set.

    \b
    sumac info
    sumac info options --file > sumac.env
    """
    if as_file and topic is not Topic.options:
        raise bad_value("--file belongs to: sumac info options --file")
    installation = layout.find()
    if as_file:
        print(options.as_file(options.load(installation)), end="")
        return
    topics = [topic] if topic else [Topic.build, Topic.mpi, Topic.machine, Topic.options]
    facts = {each.value: _GATHER[each](installation) for each in topics}
    if json_file:
        files.show_json(facts[topic.value] if topic else facts, json_file)
        return
    for each in topics:
        full = topic is not None
        for line in _SHOW[each](facts[each.value], full):
            print(wrapped(line))


def _gather_build(installation: layout.Installation) -> Facts:
    back_ends = {family: installation.back_end(family) for family in layout.FAMILIES}
    return {
        "version": __version__,
        "built": _built(installation),
        "root": str(installation.root),
        "library": str(installation.library) if installation.library.exists() else None,
        "command": str(installation.command),
        "back_ends": {family: str(path) for family, path in back_ends.items() if path},
        "bench": installation.families("bench"),
        "check": installation.families("check"),
        "python": platform.python_version(),
    }


def _built(installation: layout.Installation) -> str:
    """The commit, the compiler and the type of the build."""
    _, *more = tables.ask(installation.command, "--version").stdout.splitlines() or [""]
    return more[0] if more else "unknown"


def _show_build(facts: Facts, full: bool) -> list[str]:
    back_ends = ", ".join(facts["back_ends"]) or "none"
    lines = [f"Sumac    {facts['version']}   back ends: {back_ends}   in {facts['root']}"]
    if full:
        lines.append(f"Built    {facts['built']}")
        lines.append(f"Library  {facts['library'] or 'missing'}")
        lines += [f"         {path}" for path in facts["back_ends"].values()]
        lines.append(f"Command  {facts['command']}   Python {facts['python']}")
        lines.append(
            f"Programs bench: {', '.join(facts['bench']) or 'none'}   "
            f"check: {', '.join(facts['check']) or 'none'}"
        )
    return lines


def _gather_mpi(installation: layout.Installation) -> Facts:
    return {
        "launchers": [
            {
                "version": each.version,
                "family": each.family,
                "path": str(each.path),
                "back_end": str(installation.back_end(each.family or "") or ""),
            }
            for each in launcher.find_all()
        ]
    }


def _show_mpi(facts: Facts, full: bool) -> list[str]:
    if not facts["launchers"]:
        return ["MPI      no launcher (mpiexec, mpirun) in PATH"]
    lines = []
    for each in facts["launchers"]:
        library = each["back_end"].rsplit("/", 1)[-1] or "no back end for it in this Sumac"
        label = "MPI" if not lines else ""
        lines.append(f"{label:<8} {each['version']}   {each['path']}   → {library}")
    return lines


def _gather_machine(installation: layout.Installation) -> Facts:
    return hardware.describe().as_dict() | {
        "lines": tables.rows("lines", installation),
        "copies": tables.rows("copies", installation),
    }


def _vectors(facts: Facts) -> str:
    """Why not all of what the processor has is in use."""
    if not facts["lowers_clock"]:
        return ""
    return " (512-bit vectors lower this processor's clock: avx2 is used but where they save\n" + (
        "         instructions; SUMAC_SIMD=avx3 uses them always)"
    )


def _show_machine(facts: Facts, full: bool) -> list[str]:
    threads = f" ({facts['cpus']} threads)" if facts["cpus"] != facts["cores"] else ""
    lines = [
        f"CPU      {facts['cores']} cores{threads}, {facts['cpu']}",
        f"SIMD     {' '.join(facts['simd']) or 'none'}{_vectors(facts)}",
        f"Attach   cross-memory attach: {_attach(facts)}",
    ]
    if facts["lines"]:
        lines.append(f"Lines    round trip of a cache line with the first CPU: {_lines(facts)}")
    for copied in facts["copies"]:  # none, or one
        cached, streamed, attached = (
            f"{copied[way + '_ns'] / 1000:.1f}" for way in ("cached", "streamed", "attached")
        )
        lines.append(
            f"Copies   {units.format_bytes(copied['bytes'])} to the next CPU: {cached} us through "
            f"shared memory ({streamed} us bypassing the caches), {attached} us by single copy "
            f"(cross-memory attach is {copied['name']})"
        )
    if full:
        lines.append(f"Host     {facts['host']}, Linux {facts['kernel']}")
    return lines


def _lines(facts: Facts) -> str:
    """The processors of each class of distance, the nearest first. One that did not answer in time
    has no nanoseconds."""
    by_class: dict[str, list[float]] = {}
    for row in sorted(facts["lines"], key=lambda row: row["ns"] or math.inf):
        by_class.setdefault(row["name"], []).append(row["ns"])
    texts = []
    for name, times in by_class.items():
        least, most = times[0], times[-1]
        span = f"{least:.0f}" + (f" to {most:.0f}" if most != least else "") if least else ""
        state = f"{name} ({span} ns)" if span else "too busy to tell"
        texts.append(f"{units.counted(len(times), 'CPU')} {state}")
    return ", ".join(texts)


def _attach(facts: Facts) -> str:
    if refusal := facts["attach_refused"]:
        return f"refused ({refusal}): large messages are copied twice; 'sumac check' has more"
    scope = facts["ptrace_scope"]
    if scope in (None, 0):
        return "allowed by the kernel"
    return f"restricted (kernel.yama.ptrace_scope is {scope})"


def _gather_options(installation: layout.Installation) -> Facts:
    return {"options": [option.as_dict() for option in options.load(installation)]}


def _show_options(facts: Facts, full: bool) -> list[str]:
    rows = facts["options"]
    if not full:
        changed = [row for row in rows if row["source"] != "default"]
        texts = [f"{row['name']}={row['value']} (from {_place(row)})" for row in changed]
        return [*_direct_memory(rows), "Changed  " + (", ".join(texts) or "no options")]
    width = max(len(row["name"]) for row in rows)
    lines = []
    for row in rows:
        source = row["source"] + (", locked by the site" if row["locked"] else "")
        lines.append(f"{row['name']:<{width}}  {row['value'] or '(empty)'}  [{source}]")
        allowed = options.listed(row["kind"], row["choices"])
        lines.append(f"{'':<{width}}  {row['doc']}{f' ({allowed})' if allowed else ''}")
    return lines


XPMEM = Path("/dev/xpmem")


def _direct_memory(rows: list[Facts]) -> list[str]:
    """In which buffers the ranks of a node work in place; none if the table lacks the option."""
    values = [row["value"] for row in rows if row["name"] == "SUMAC_PROMOTE"]
    given = "memory of MPI_Alloc_mem and MPI_Win_allocate_shared"
    texts = {"off": "no buffers (SUMAC_PROMOTE=off)", "alloc": given}
    if XPMEM.exists():
        attached = "all buffers (XPMEM)"
        return ["Direct   " + texts.get(value, attached) for value in values]
    texts["xpmem"] = f"{given}; XPMEM's module is not loaded"
    return ["Direct   " + texts.get(value, f"{given}, and promoted buffers") for value in values]


def _place(row: Facts) -> str:
    return "the environment" if row["source"] == "environment" else row["source"]


def _gather_algorithms(installation: layout.Installation) -> Facts:
    return {"algorithms": tables.rows("algorithms", installation)}


def _show_algorithms(facts: Facts, full: bool) -> list[str]:
    def unruled(row: dict[str, str]) -> str:
        return f" (no shipped rule chooses it: {row['unruled']})" if row["unruled"] else ""

    rows = facts["algorithms"]
    width = max((len(row["collective"]) for row in rows), default=0)
    return [
        f"{row['collective']:<{width}} {row['name']:<20} {row['doc']}{unruled(row)}" for row in rows
    ]


_GATHER = {
    Topic.build: _gather_build,
    Topic.mpi: _gather_mpi,
    Topic.machine: _gather_machine,
    Topic.options: _gather_options,
    Topic.algorithms: _gather_algorithms,
}
_SHOW = {
    Topic.build: _show_build,
    Topic.mpi: _show_mpi,
    Topic.machine: _show_machine,
    Topic.options: _show_options,
    Topic.algorithms: _show_algorithms,
}
