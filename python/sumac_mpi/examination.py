# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac check` looks at and tries, one function each."""

from __future__ import annotations

import os
from typing import Any

from sumac_mpi import application, launcher, layout, machine, options, programs, results, units
from sumac_mpi.errors import Exit, SumacError
from sumac_mpi.findings import Findings

_ENOUGH_SHARED_MEMORY = 64 << 20  # for each rank: the default of SUMAC_SHM_BUDGET


def examine(
    findings: Findings,
    command: list[str],
    ranks: int,
    mpi: str | None,
    launcher_name: str | None,
    timeout: float,
) -> None:
    installation = _installation(findings)
    _environment(findings, installation)
    _machine(findings, ranks)
    if command:
        app = application.find(command)
        linked = app.mpi if app.certain or not (mpi or launcher_name) else None
        chosen = launcher.choose(app.name, linked, mpi, launcher_name)
        if app.static:
            findings.fail(
                "program",
                f"{app.path} is static: it runs without Sumac",
                "link it with the shared library of its MPI",
            )
        needs = app.mpi.soname if app.mpi else "no MPI library that could be seen"
        findings.ok("program", f"{app.path} needs {needs}; launcher {chosen.path}")
        family = chosen.family if linked is None else linked.family
        families = [family] if family else []
    else:
        families = programs.choose_families(installation, "check", mpi or "all")
    for family in families:
        _try(findings, installation, family, ranks, launcher_name, timeout)


def _installation(findings: Findings) -> layout.Installation:
    installation = layout.find()
    if not installation.library.exists():
        raise layout.missing("the Sumac library", installation.library)
    findings.ok("installation", f"{installation.library}, {installation.command}")
    return installation


def _environment(findings: Findings, installation: layout.Installation) -> None:
    complaint = options.check_environment(installation)
    if complaint:
        findings.fail("options", complaint, "correct or unset the variable", Exit.USAGE)
        return
    rows = [option for option in options.load(installation) if option.source != "default"]
    findings.ok("options", ", ".join(f"{o.variable}={o.value}" for o in rows) or "all default")


def _machine(findings: Findings, ranks: int) -> None:
    here = machine.describe()
    if ranks > here.cores:
        findings.warn(
            "cores",
            f"{ranks} ranks on {here.cores} cores: they will take turns",
            f"-n {here.cores} for the best times",
        )
    else:
        findings.ok("cores", f"{here.cores} ({here.cpu})")
    free = here.shm_free
    if not free:
        findings.fail(
            "shared memory",
            "there is no usable /dev/shm",
            "mount a tmpfs on /dev/shm (docker run --shm-size=1g)",
        )
    elif free < _ENOUGH_SHARED_MEMORY * ranks:
        findings.warn(
            "shared memory",
            f"/dev/shm has {units.format_amount(free)} free",
            "enlarge it (docker run --shm-size=1g), or lower SUMAC_SHM_BUDGET",
        )
    else:
        findings.ok("shared memory", f"/dev/shm has {units.format_amount(free)} free")


def _try(
    findings: Findings,
    installation: layout.Installation,
    family: str,
    ranks: int,
    launcher_name: str | None,
    timeout: float,
) -> None:
    name = layout.FAMILIES[family]
    if installation.back_end(family) is None:
        findings.fail(
            name,
            "this Sumac has no back end for it: calls are left to the MPI",
            "build Sumac where its headers are installed",
        )
        return
    if options.check_environment(installation):
        return  # reported; the ranks would all complain
    try:
        target = programs.target(installation, "check", family, launcher_name)
        records = list(programs.run(target, ranks, [], timeout))
    except SumacError as error:
        findings.error(name, error)
        return
    if not records:
        findings.fail(name, "the check program said nothing", "", Exit.FAILED)
        return
    _read(findings, name, records[-1], target)


def _read(findings: Findings, name: str, record: dict[str, Any], target: programs.Target) -> None:
    version = results.short_mpi_name(record["mpi"])
    findings.ok(name, f"{version}, {record['ranks']} ranks, started by {target.launcher.path}")
    if record["active_ranks"] == record["ranks"]:
        findings.ok(f"{name}: loading", record["description"])
    elif os.environ.get("SUMAC_DISABLE") == "1":
        findings.warn(f"{name}: loading", "switched off", "unset SUMAC_DISABLE")
    else:
        state = "stands aside" if record["loaded"] else "was not loaded"
        findings.fail(
            f"{name}: loading",
            f"Sumac {state} in {record['ranks'] - record['active_ranks']} ranks",
            "SUMAC_DEBUG=info sumac check says why",
        )
    attach = record["cross_memory_attach"]
    if attach == "ok":
        findings.ok(f"{name}: large messages", "cross-memory attach works")
    elif record["ranks"] > 1:
        findings.warn(
            f"{name}: large messages",
            f"cross-memory attach: {attach}",
            "sysctl kernel.yama.ptrace_scope=0; in a container: --cap-add=SYS_PTRACE",
        )
    _results(findings, name, record)


def _results(findings: Findings, name: str, record: dict[str, Any]) -> None:
    tries = record["collectives"]
    wrong = [row for row in tries if row["wrong"]]
    if wrong:
        at = ", ".join(f"{row['collective']} of {units.format_size(row['bytes'])}" for row in wrong)
        findings.fail(
            f"{name}: results",
            f"wrong: {at}",
            "SUMAC_DISABLE=1 tells whether the MPI is at fault; please report this",
            Exit.WRONG,
        )
    else:
        findings.ok(f"{name}: results", f"{len(tries)} of {len(tries)} collectives right")
    if record["active_ranks"] != record["ranks"]:
        return
    taken = [row for row in tries if not row["algorithm"].startswith("mpi:")]
    detail = f"{len(taken)} of {len(tries)} collectives taken"
    if taken:
        names = dict.fromkeys(row["algorithm"] for row in taken)
        findings.ok(f"{name}: paths", f"{detail}: {', '.join(names)}")
    else:
        reason = tries[0]["algorithm"].removeprefix("mpi:").strip()
        findings.warn(f"{name}: paths", f"{detail}: {reason}", "SUMAC_STATS=1 lists the reasons")
