# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of the matrix: programs of tests/mpi and tests/fortran under Sumac, on one MPI and
number of ranks."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
# pylint: disable=wrong-import-position
from sumac_mpi.launch import installations, processes
from sumac_mpi.launch.job import Job, command_line, environment

ROOT = pathlib.Path(__file__).resolve().parents[1]
RANKS = (2, 3, 5)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# A line at the end of each program, and of one that the MPI has not the functions for.
_CHECKS = re.compile(r"^passed: ([1-9][0-9]*) checks", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED: (.*)", re.MULTILINE)
# As tests/launch.sh: how a call is served must not depend on what happens to be faster.
_SURROUNDINGS = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "SUMAC_ADAPT": "off",
    "SUMAC_KNOWN_AFTER": "1",
}


@dataclass(frozen=True)
class Program:
    """One row of matrix.toml."""

    name: str
    what: str
    folder: str = "tests/mpi/programs"  # of the build
    arguments: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    ranks: list = field(default_factory=lambda: list(RANKS))
    short: list | None = None
    without: dict = field(default_factory=dict)  # why it cannot run, by the name of the MPI
    launcher: dict = field(default_factory=dict)  # its options, by the name of the MPI

    @property
    def is_in_c(self):
        return self.folder == "tests/mpi/programs"

    def why_not(self, mpi):
        """Why it cannot run on this MPI, or None."""
        if not self.is_in_c and mpi.family == installations.ABI:
            return "the modules of Fortran are not those of the standard's binary interface"
        return self.without.get(mpi.name)


@dataclass
class Result:
    """How a job ended. `paths`: by collective and path, the calls of rank 0."""

    program: str
    ranks: int
    outcome: str
    checks: int = 0
    why: str = ""  # it was skipped; or, failed, the end of its output
    paths: list = field(default_factory=list)


@dataclass
class Run:
    """All jobs under one MPI."""

    name: str  # openmpi5
    version: str  # Open MPI 5.0.11
    results: list = field(default_factory=list)

    def put(self, result):
        """Instead of an earlier result of the same job."""
        job = result.program, result.ranks
        self.results = [each for each in self.results if (each.program, each.ranks) != job]
        self.results.append(result)

    def has_passed(self, program, ranks):
        job = program, ranks
        passed = (each for each in self.results if each.outcome == PASSED)
        return any((each.program, each.ranks) == job for each in passed)

    def count(self, outcome):
        return sum(result.outcome == outcome for result in self.results)

    def reasons(self):
        """How many calls of rank 0 went to the MPI, by collective and reason."""
        handed = Counter()
        for result in self.results:
            for path in result.paths:
                if not path["taken"]:
                    key = path["collective"], path["path"].removeprefix("mpi: ")
                    handed[key] += path["calls"]
        return handed

    def taken(self):
        return sum(p["calls"] for result in self.results for p in result.paths if p["taken"])

    def write(self, path):
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read(path):
    run = Run(**json.loads(path.read_text(encoding="utf-8")))
    run.results = [Result(**each) for each in run.results]
    return run


def table():
    """The rows of the MPIs, the programs, and what is known of mpi4py's tests."""
    with open(ROOT / "scripts/matrix.toml", "rb") as file:
        content = tomllib.load(file)
    return content["mpi"], [Program(**row) for row in content["program"]], content["mpi4py"]


class Build:
    """The build whose library and test programs are used."""

    def __init__(self, preset):
        self.folder = ROOT / "build" / preset
        self.command = self.folder / "bin/sumac"

    def program(self, program, family):
        return self.folder / program.folder / f"{program.name}_{family}"

    def add_standard_abi(self, mpich, programs):
        """Compiles the programs for the standard's binary interface, by an MPICH's header."""
        subprocess.run(["cmake", f"-DSUMAC_MPIABI_ROOT={mpich}", str(self.folder)], check=True)
        targets = [f"mpi_test_{each.name}_mpiabi" for each in programs if each.is_in_c]
        subprocess.run(["cmake", "--build", str(self.folder), "--target", *targets], check=True)


def run(build, mpi, program, arguments, ranks, seconds):
    """Runs one job, which is ended after so many seconds."""
    binary = build.program(program, mpi.family)
    with (
        tempfile.TemporaryDirectory(prefix="sumac-matrix-") as folder,
        installations.loading(mpi, binary) as variables,
    ):
        stats = pathlib.Path(folder, "stats.json")
        words = [word.replace("{folder}", folder) for word in arguments]
        command = [str(build.command), "exec", "--", str(binary), *words]
        job = Job(ranks, command, extra=program.launcher.get(mpi.name, []))
        surroundings = environment(mpi.launcher, job) | _SURROUNDINGS | variables
        surroundings |= program.environment | {
            "SUMAC_STATS": str(stats),
            "SUMAC_TEST_SECONDS": str(seconds),
        }
        status, output = _output_of(command_line(mpi.launcher, job), surroundings, seconds)
        result = _result(program.name, ranks, status, output)
        if stats.exists():
            result.paths = json.loads(stats.read_text(encoding="utf-8"))["paths"]
    return result


def _output_of(command, surroundings, seconds):
    with tempfile.TemporaryFile() as errors, processes.job(command, surroundings, errors) as job:
        try:
            output, _ = job.communicate(timeout=seconds + 10)
        except subprocess.TimeoutExpired:
            return None, f"no end after {seconds} s"
        errors.seek(0)
        text = errors.read().decode(errors="replace")
        return job.returncode, output.decode(errors="replace") + text


def _result(name, ranks, status, output):
    if status == 0 and (match := _SKIPPED.search(output)):
        return Result(name, ranks, SKIPPED, why=match[1])
    if status == 0 and (match := _CHECKS.search(output)):
        return Result(name, ranks, PASSED, int(match[1]))
    return Result(name, ranks, FAILED, why=f"status {status}\n{output[-4000:]}")
