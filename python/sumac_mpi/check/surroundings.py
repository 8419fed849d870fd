# SPDX-License-Identifier: BSD-3-Clause
"""The findings of `sumac check`, of which the first problem decides the exit status, and what it
examines on this machine without starting a job, a function for each part."""

from __future__ import annotations

import os
import resource
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path

from sumac_mpi.base import hardware, units
from sumac_mpi.base.errors import Exit, SumacError


class Status(str, Enum):
    OK = "ok"
    WARNING = "warning"  # Sumac works, but slower or for fewer calls than it could
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    what: str
    status: Status
    detail: str  # the observation
    why: str = ""  # why it matters
    fix: str = ""
    code: Exit = Exit.OK  # the exit status for a problem of this kind


@dataclass
class Findings:
    all: list[Finding] = field(default_factory=list)

    def ok(self, what: str, detail: str) -> None:
        self.all.append(Finding(what, Status.OK, detail))

    def warn(self, what: str, detail: str, why: str, fix: str) -> None:
        self.all.append(Finding(what, Status.WARNING, detail, why, fix))

    def fail(
        self, what: str, detail: str, why: str, fix: str, code: Exit = Exit.UNAVAILABLE
    ) -> None:
        self.all.append(Finding(what, Status.PROBLEM, detail, why, fix, code))

    def error(self, what: str, error: SumacError) -> None:
        # 125 and above are for commands that run the program.
        self.fail(what, error.what, error.found, error.fix, min(error.code, Exit.UNAVAILABLE))

    @property
    def exit(self) -> Exit:
        """That of wrong results if there are any, else that of the first problem."""
        codes = [finding.code for finding in self.all if finding.status is Status.PROBLEM]
        return Exit.WRONG if Exit.WRONG in codes else (codes or [Exit.OK])[0]

    def verdict(self) -> str:
        """The result in one line."""
        counts = []
        for status in (Status.PROBLEM, Status.WARNING):
            number = sum(finding.status is status for finding in self.all)
            if number:
                counts.append(f"{number} {status.value}{'s' if number > 1 else ''}")
        return ", ".join(counts) or "all is well"

    def as_dicts(self) -> list[dict[str, object]]:
        return [{**asdict(finding), "code": int(finding.code)} for finding in self.all]


_ENOUGH = 64 << 20  # for each rank: the default of SUMAC_SHM_BUDGET
_LOCKED_ENOUGH = 64 << 20


def processors(findings: Findings, ranks: int) -> None:
    here = hardware.describe()
    share = hardware.allowed_processors()
    if ranks > here.cores:
        findings.warn(
            "cores",
            f"{ranks} ranks on {here.cores} cores",
            "ranks share cores, so times mean little",
            f"use -n {here.cores} to measure times",
        )
    elif share is not None and share < ranks:
        findings.warn(
            "cores",
            f"this container may use {share:.3g} processors at once, and has {here.cores} cores",
            f"{ranks} ranks are stopped again and again, one in the middle of a collective",
            f"docker run --cpus={ranks}, or CPUQuota= of the systemd unit",
        )
    else:
        findings.ok("cores", f"{here.cores} ({here.cpu})")


def shared_memory(findings: Findings, ranks: int) -> None:
    what = "shared memory"
    try:
        os.close(os.memfd_create("sumac-check"))
    except OSError as error:
        findings.fail(
            what,
            f"no file in memory can be made: {error.strerror}",
            "the ranks of a node meet in one; without, all calls are left to the MPI",
            "let this container's filter of system calls allow memfd_create",
        )
        return
    memory, wanted = hardware.allowed_memory(), _ENOUGH * ranks
    seen = f"this container may use {units.format_amount(memory)}" if memory is not None else ""
    if memory is not None and memory < wanted:
        why = f"{ranks} ranks may want {units.format_amount(wanted)}; beyond its limit the kernel"
        fix = "allow it more memory, or lower SUMAC_SHM_BUDGET"
        findings.warn(what, seen, f"{why} ends a rank", fix)
    else:
        findings.ok(what, seen or "files in memory can be made")


def refuses_code(findings: Findings, what: str, path: Path) -> bool:
    """Whether code cannot be loaded from the file's folder; adds a finding if so."""
    if not os.statvfs(path).f_flag & os.ST_NOEXEC:
        return False
    findings.fail(
        what,
        f"{path} is on a file system that is mounted noexec",
        "no code is loaded from there: the dynamic loader refuses it",
        "install it elsewhere, or mount -o remount,exec",
    )
    return True


def locked_memory(findings: Findings) -> None:
    """Locked memory, which Sumac does not need, but the MPIs' drivers of fast networks do."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if limit == resource.RLIM_INFINITY:
        findings.ok("locked memory", "no limit")
    elif limit < _LOCKED_ENOUGH and any(Path("/sys/class/infiniband").glob("*")):
        findings.warn(
            "locked memory",
            f"at most {units.format_amount(limit)}",
            "this machine has a fast network, whose drivers lock the memory that messages are in",
            "ulimit -l unlimited, in /etc/security/limits.conf; docker run --ulimit memlock=-1",
        )
    else:
        findings.ok("locked memory", f"at most {units.format_amount(limit)}; no fast network")


def processes(findings: Findings, ranks: int) -> None:
    """Whether ranks and their threads may be started."""
    free = hardware.processes_left()
    if free is not None and free < 8 * ranks:
        findings.warn(
            "processes",
            f"this container may start {free} more processes or threads",
            "launcher, ranks and the MPI's own threads need about 8 per rank",
            "docker run --pids-limit=-1",
        )


def refused_attach(answer: str) -> tuple[str, str]:
    """Why cross-memory attach does not work here, and what helps."""
    slower = "large messages are copied twice, through shared memory"
    scope = hardware.describe().ptrace_scope
    if scope:
        return (
            f"kernel.yama.ptrace_scope is {scope}: {slower}",
            "sysctl kernel.yama.ptrace_scope=0",
        )
    if "Operation not permitted" in answer or "Function not implemented" in answer:
        return (
            f"a filter of system calls, or missing rights in a container: {slower}",
            "docker run --cap-add=SYS_PTRACE, or --security-opt seccomp=unconfined",
        )
    return slower, "start all ranks of a node in one container, as one user"
