# SPDX-License-Identifier: BSD-3-Clause
"""The jobs that have been measured, in a file beside the rules until these are written.

The file is written after each job. A later run goes on with it only if it would measure the same:
on the same machine and MPIs, with the same build of Sumac, options and arguments.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sumac_mpi.base import files, hardware
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench.results import Run
from sumac_mpi.launch import programs
from sumac_mpi.launch.programs import Target
from sumac_mpi.library import options
from sumac_mpi.tune.request import Job, Request

FORMAT = 1
_ENDING = ".measured"
Identity = dict[str, Any]


@dataclass
class State:
    path: Path
    identity: Identity
    runs: dict[Job, Run] = field(default_factory=dict)

    def add(self, job: Job, run: Run) -> None:
        self.runs[job] = run
        content = {
            "format": FORMAT,
            "identity": self.identity,
            "jobs": [asdict(job) | run.as_dict() for job, run in self.runs.items()],
        }
        files.write(self.path, (json.dumps(content) + "\n").encode())

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def path_beside(output: Path) -> Path:
    return output.with_name(output.name + _ENDING)


def identify(request: Request, targets: Sequence[Target]) -> Identity:
    """What must be the same for measurements to be put together."""
    families = dict.fromkeys(each.family for each in targets)
    return {
        "machine": hardware.identity(),
        "MPI": [f"{each.launcher.version} ({each.launcher.path})" for each in targets],
        "build of Sumac": programs.build_of(targets[0].installation, families),
        "SUMAC_ options": options.to_pass_on(),
        "arguments": json.loads(json.dumps(asdict(request))),  # with lists, as a file has them
    }


def load(path: Path, identity: Identity) -> State:
    """The measurements in the file; none where there is no file. Raises a usage error for those of
    another machine and so on, and for a file that another user may have put there."""
    if not path.exists():
        return State(path, identity)
    try:
        if path.stat().st_uid != os.geteuid():
            raise _other(path, "it belongs to another user")
        content = json.loads(path.read_text())
        if content["format"] != FORMAT:
            raise _other(path, "another version of Sumac has written it")
        if different := _different(content["identity"], identity):
            raise _other(path, f"other {', '.join(different)}")
        return State(path, identity, dict(map(_measured, content["jobs"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _other(path, "it is damaged, or no file of 'sumac tune'") from error


def _measured(record: Mapping[str, Any]) -> tuple[Job, Run]:
    job = Job(**{name: record[name] for name in Job.__dataclass_fields__})
    return job, Run.of_dict(record)


def _different(theirs: Mapping[str, Any], own: Identity) -> list[str]:
    return [name for name in own if theirs.get(name) != own[name]]


def _other(path: Path, why: str) -> SumacError:
    return SumacError(
        "other-measurement",
        f"{path} holds measurements that this run cannot go on with",
        found=why,
        fix="repeat the command that was interrupted; or --restart, to measure all again",
        code=Exit.USAGE,
    )
