# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac check` finds: one line for each thing looked at, worst results decide."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum

from sumac_mpi.errors import Exit, SumacError


class Status(str, Enum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    what: str
    status: Status
    detail: str
    fix: str = ""
    code: Exit = Exit.OK  # the exit status that a failure of this kind calls for


@dataclass
class Findings:
    all: list[Finding] = field(default_factory=list)

    def ok(self, what: str, detail: str) -> None:
        self.all.append(Finding(what, Status.OK, detail))

    def warn(self, what: str, detail: str, fix: str) -> None:
        self.all.append(Finding(what, Status.WARN, detail, fix))

    def fail(self, what: str, detail: str, fix: str, code: Exit = Exit.UNAVAILABLE) -> None:
        self.all.append(Finding(what, Status.FAIL, detail, fix, code))

    def error(self, what: str, error: SumacError) -> None:
        detail = f"{error.what} ({error.found})" if error.found else error.what
        # 125 and above are for commands that run the program.
        self.fail(what, detail, error.fix, min(error.code, Exit.UNAVAILABLE))

    @property
    def exit(self) -> Exit:
        """Wrong results outweigh everything; else the first failure says."""
        codes = [finding.code for finding in self.all if finding.status is Status.FAIL]
        return Exit.WRONG if Exit.WRONG in codes else (codes or [Exit.OK])[0]

    def as_dicts(self) -> list[dict[str, object]]:
        return [{**asdict(finding), "code": int(finding.code)} for finding in self.all]
