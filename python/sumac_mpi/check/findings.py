# SPDX-License-Identifier: BSD-3-Clause
"""The findings of `sumac check`: a verdict on each; the first problem decides the exit status."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum

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
