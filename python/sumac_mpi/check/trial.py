# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac check` learns from a small job on one MPI."""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

from sumac_mpi.base import units
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench import results
from sumac_mpi.check import surroundings
from sumac_mpi.check.surroundings import Findings
from sumac_mpi.launch import installations, programs
from sumac_mpi.library import layout, options

_MOST_LINES = 12  # of an MPI's message
# Messages of MPIs that cannot start, and what helps.
_ADVICE = (
    (r"run as root|allow-run-as-root", "export OMPI_ALLOW_RUN_AS_ROOT=1 "
     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or use another user"),
    (r"not enough slots", "give -n fewer ranks, or export OMPI_MCA_rmaps_base_oversubscribe=1"),
    (r"gethostbyname|getaddrinfo|resolve .*host", "add this host's name to /etc/hosts"),
    (r"\b[rs]sh\b.*not found|unable to (?:find|locate).*\bssh\b|plm_rsh_agent",
     "install openssh-client; for one host, export OMPI_MCA_plm_rsh_agent=/bin/false"),
    (r"[Nn]o space left|Shared memory error|[Nn]ot enough memory|No resources are available",
     "make room in /dev/shm and in the folder of TMPDIR"),
    (r"[Pp]ermission denied|not writable|session director", "let TMPDIR name a folder that may be "
     "written"),
    (r"cannot open shared object|error while loading shared", "add the folder of the library that "
     "is missing to LD_LIBRARY_PATH"),
)  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """An MPI to try. Without `mpi`: the one of this family that Sumac's program was built with."""

    name: str  # "Open MPI", in findings
    family: str
    mpi: installations.Mpi | None = None


def examine(
    findings: Findings,
    installation: layout.Installation,
    subject: Subject,
    ranks: int,
    launcher_name: str | None,
    timeout: float,
) -> None:
    name = subject.name
    if installation.back_end(subject.family) is None:
        findings.fail(
            name,
            "this Sumac has no back end for it",
            "all calls are left to the MPI",
            "build Sumac where its headers are installed",
        )
        return
    if options.check_environment(installation):
        return  # reported already; all ranks would repeat it
    with tempfile.TemporaryFile() as said:
        try:
            target = _target(installation, subject, launcher_name)
            with _loading(subject, target) as variables:
                job = programs.run(target, ranks, [], timeout, errors=said, variables=variables)
                records = list(job)
        except SumacError as error:
            _not_started(findings, name, error, _text(said))
            return
        print(_site_files(findings, _text(said)), end="", file=sys.stderr)
    if records:
        _read(findings, name, records[-1], installation, target)
    else:
        findings.fail(name, "the check program said nothing", "", "", Exit.FAILED)


# The library's warning of a line that it ignores, as src/config/options.c writes it.
_OF_SITE = re.compile(r"^sumac: warning\[site-file\]: (.*); it is ignored\n  fix:   (.*)\n", re.M)


def _site_files(findings: Findings, said: str) -> str:
    """Adds a finding for each line of a site's files that is ignored, once for all MPIs. Returns
    what else was said."""
    known = [each.detail for each in findings.all]
    for what, fix in _OF_SITE.findall(said):
        if what not in known:
            findings.warn("site file", what, "every job ignores that, and warns of it", fix)
    return _OF_SITE.sub("", said)


def _target(
    installation: layout.Installation, subject: Subject, launcher_name: str | None
) -> programs.Target:
    if subject.mpi is None:
        return programs.target(installation, "check", subject.family, launcher_name)
    return programs.Target(installation, "check", subject.family, subject.mpi.launcher)


def _loading(subject: Subject, target: programs.Target) -> AbstractContextManager[dict[str, str]]:
    return installations.environment(subject.mpi, target) if subject.mpi else nullcontext({})


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _not_started(findings: Findings, name: str, error: SumacError, said: str) -> None:
    """Adds the finding for a job that did not start: the MPI's own message has the cause."""
    lines = [line for line in said.splitlines() if line.strip(" -=|*")]
    advice = next((fix for pattern, fix in _ADVICE if re.search(pattern, said)), error.fix)
    why = "\n".join([*lines[:_MOST_LINES], *(["..."] if len(lines) > _MOST_LINES else [])])
    findings.fail(name, error.what, why or error.found, advice, min(error.code, Exit.UNAVAILABLE))


def _read(
    findings: Findings,
    name: str,
    record: dict[str, Any],
    installation: layout.Installation,
    target: programs.Target,
) -> None:
    version = results.short_mpi_name(record["mpi"])
    findings.ok(name, f"{version}, {record['ranks']} ranks, started by {target.launcher.path}")
    if record["active_ranks"] == record["ranks"]:
        findings.ok(f"{name}: loading", record["description"])
    elif switch := options.disabled_by(installation):
        by_user = switch == "SUMAC_DISABLE"
        findings.warn(
            f"{name}: loading",
            "Sumac is switched off",
            f"{switch} {'is set' if by_user else 'says so'}, so all calls are left to the MPI",
            "unset SUMAC_DISABLE" if by_user else "ask those who run this machine",
        )
    else:
        state = "stands aside" if record["loaded"] else "was not loaded"
        findings.fail(
            f"{name}: loading",
            f"Sumac {state} in {record['ranks'] - record['active_ranks']} ranks",
            "their calls are left to the MPI",
            "SUMAC_DEBUG=info sumac check says what for",
        )
    attach = record["cross_memory_attach"]
    if attach == "ok":
        findings.ok(f"{name}: large messages", "cross-memory attach works")
    elif record["ranks"] > 1:
        why, fix = surroundings.refused_attach(attach)
        findings.warn(f"{name}: large messages", f"cross-memory attach: {attach}", why, fix)
    _results(findings, name, record)


def _call(row: dict[str, Any]) -> str:
    return f"{row['collective']} of {units.format_size(row['bytes'])}"


def _reason(row: dict[str, Any]) -> str:
    """Why the MPI served this call."""
    return str(row["algorithm"]).removeprefix("mpi:").strip()


def _results(findings: Findings, name: str, record: dict[str, Any]) -> None:
    tries = record["collectives"]
    wrong = [row for row in tries if row["wrong"]]
    if wrong:
        at = ", ".join(map(_call, wrong))
        findings.fail(
            f"{name}: results",
            f"wrong: {at}",
            "Sumac or the MPI has a defect here: SUMAC_DISABLE=1 sumac check tells which",
            "please report this",
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
        detail += f": {', '.join(names)}"
        left = [f"{_call(row)} ({_reason(row)})" for row in tries if row not in taken]
        if left:
            detail += f"; left to the MPI: {', '.join(left)}"
        findings.ok(f"{name}: paths", detail)
    else:
        findings.warn(
            f"{name}: paths", detail, _reason(tries[0]), "SUMAC_STATS=1 lists the reasons"
        )
