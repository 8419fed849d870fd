# SPDX-License-Identifier: BSD-3-Clause
"""Starting Sumac's own MPI programs, and reading the records they print."""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from sumac_mpi import __version__
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench.results import Record
from sumac_mpi.launch import elf, launcher, mpi_words, processes
from sumac_mpi.launch.hosts import Hosts
from sumac_mpi.launch.job import Job, command_line, environment
from sumac_mpi.library import layout, options
from sumac_mpi.library.layout import FAMILIES, Installation

# Unless the user sets it: what is measured and shown are the rules' choices, and no trials of them.
_WITHOUT_TRIALS = {"SUMAC_ADAPT": "off"}


@dataclass(frozen=True)
class Target:
    """One of Sumac's programs and the launcher that starts it."""

    installation: Installation
    name: str  # "bench" or "check"
    family: str
    launcher: launcher.Launcher


def target(
    installation: Installation, name: str, family: str, launcher_name: str | None = None
) -> Target:
    """Raises with status 3 when the program or its launcher is missing."""
    path = installation.program(name, family)
    if path is None:
        raise SumacError(
            "no-program",
            f"this Sumac has no {name} program for {FAMILIES[family]}",
            found=", ".join(installation.families(name)) or f"none in {installation.parts}",
            fix="build Sumac where that MPI's compiler wrapper is installed",
            code=Exit.UNAVAILABLE,
        )
    mpi = elf.mpi_library(path)
    return Target(
        installation, name, family, launcher.choose(path.name, mpi, family, launcher_name)
    )


def build_of(installation: Installation, families: Iterable[str]) -> list[str]:
    """What tells this build of Sumac from others: the version, and hashes of the library and of the
    back ends of these families."""
    parts = [installation.library, *map(installation.back_end, families)]
    hashes = [hashlib.sha256(part.read_bytes()).hexdigest()[:16] for part in parts if part]
    return [__version__, *hashes]


def targets(mpi: str | None, launcher_name: str | None) -> list[Target]:
    """The benchmark program of each MPI that --mpi means. Raises as target() does."""
    installation = layout.find()
    families = choose_families(installation, "bench", mpi)
    return [target(installation, "bench", family, launcher_name) for family in families]


def choose_families(installation: Installation, name: str, wanted: str | None) -> list[str]:
    """What --mpi means: one family, `all` that can be started here, or the first of these."""
    if wanted is not None and wanted != mpi_words.ALL:
        return [_asked_for(installation, name, wanted)]
    built = installation.families(name)
    found = [each.family for each in launcher.find_all() if each.family]
    usable = [family for family in dict.fromkeys(found) if family in built]
    if not usable:
        raise SumacError(
            "no-launcher",
            "no MPI was found that Sumac's programs could be started with",
            found=f"programs for {', '.join(built) or 'no MPI'}; launchers of "
            f"{', '.join(dict.fromkeys(found)) or 'no MPI'} in PATH",
            fix="install openmpi-bin or mpich",
            code=Exit.UNAVAILABLE,
        )
    return usable if wanted == mpi_words.ALL else usable[:1]


def _asked_for(installation: Installation, name: str, wanted: str) -> str:
    """The family of the wanted MPI. Raises with status 3 where another MPI of the family is the one
    that Sumac's program would be started with."""
    family = mpi_words.family_of(wanted)
    path = installation.program(name, family)
    mpi = elf.mpi_library(path) if path else None
    started = launcher.find(family, mpi.path if mpi else None) if family != "mpiabi" else None
    if started and mpi_words.contradicts(wanted, started.version):
        raise SumacError(
            "other-mpi",
            f"--mpi {wanted}: Sumac's programs start with {started.version} here",
            found=str(started.path),
            fix=f"sumac bench COLLECTIVE --against {wanted} --under {wanted}, which looks for it",
            code=Exit.UNAVAILABLE,
        )
    return family


def run(
    what: Target,
    ranks: int,
    arguments: list[str],
    silence: float,
    *,
    oversubscribe: bool = False,
    hosts: Hosts | None = None,
    launcher_args: list[str] | None = None,
    errors: IO[bytes] | None = None,
    load: bool = True,
    variables: Mapping[str, str] | None = None,
) -> Generator[Record, None, None]:
    """Starts the program behind `sumac exec`, or without `load` by itself, and yields its records
    as they come. `variables` are added to the environment.

    Raises with status 1 when the job fails or says nothing for `silence` seconds. What it writes to
    standard error goes to `errors`, else to this command's. Status 4 of the program (wrong results)
    is no failure: the records tell.
    """
    options.require_good_environment(what.installation)
    program = what.installation.program(what.name, what.family)
    loading = [str(what.installation.command), "exec", "--"] if load else []
    job = Job(
        ranks,
        [*loading, str(program), *arguments],
        variables=_WITHOUT_TRIALS | options.to_pass_on() if hosts or launcher_args else {},
        bind=True,
        oversubscribe=oversubscribe,
        hosts=hosts,
        extra=launcher_args or [],
    )
    command = command_line(what.launcher, job)
    surroundings = _WITHOUT_TRIALS | environment(what.launcher, job) | dict(variables or {})
    with processes.job(command, surroundings, errors) as process:
        for line in _lines(process, silence):
            record = _record(line, errors)
            if record is not None:
                yield _checked(record, ranks, what)
        status = process.wait()
    if status not in (0, Exit.WRONG):
        raise SumacError(
            "job-failed",
            f"{os.path.basename(str(program))} ended with status {status}",
            found=" ".join(command),
            code=Exit(status) if status in (Exit.USAGE, Exit.UNAVAILABLE) else Exit.FAILED,
        )


def _checked(record: Record, ranks: int, what: Target) -> Record:
    """Checks the number of ranks: under another MPI's launcher each program is a job of one
    rank."""
    if record.get("ranks", ranks) != ranks:
        raise SumacError(
            "abi-mismatch",
            f"{what.launcher.path} started {ranks} processes, but each saw {record['ranks']} rank",
            found=f"{what.launcher.version}; the program is linked with {record.get('mpi')}",
            fix="name the launcher of the program's own MPI: --launcher",
            code=Exit.UNAVAILABLE,
        )
    return record


def _record(line: str, errors: IO[bytes] | None) -> Record | None:
    """The record in a line. Other lines, which launchers may write, go to standard error."""
    try:
        record = json.loads(line)
        if isinstance(record, dict) and "kind" in record:
            return record
    except ValueError:
        pass
    if line.strip() and errors:
        errors.write(f"{line}\n".encode())
        errors.flush()
    elif line.strip():
        print(line, file=sys.stderr)
    return None


def _lines(process: subprocess.Popen[bytes], silence: float) -> Iterator[str]:
    assert process.stdout is not None
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(silence):
                raise SumacError(
                    "timeout",
                    f"the job said nothing for {silence:g} seconds and was ended",
                    fix="--timeout allows more; SUMAC_DEBUG=info shows where it stands",
                )
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
    if pending:
        yield pending.decode(errors="replace")
