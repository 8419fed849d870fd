# SPDX-License-Identifier: BSD-3-Clause
"""`sumac check` with a program that prints a prepared record."""

import json

import pytest
import records
from conftest import script


@pytest.fixture
def findings(sandbox, sumac):
    """Runs check on a record; returns the exit status and {what: status}."""

    def run(record, *arguments, status=0):
        sandbox.add_launcher("mpiexec", "openmpi")
        sandbox.add_program("check", "openmpi", [record] if record else [], status)
        code, out, _ = sumac("check", "--json", *arguments)
        found = json.loads(out)
        assert found["exit"] == code
        assert all(each["fix"] for each in found["findings"] if each["status"] == "warn")
        return code, {each["what"]: each["status"] for each in found["findings"]}

    return run


def test_all_is_well(findings):
    code, found = findings(records.check())
    assert code == 0
    assert found.pop("cores") in ("ok", "warn") and found.pop("shared memory") in ("ok", "warn")
    assert set(found.values()) == {"ok"}
    assert {"installation", "options", "Open MPI: results", "Open MPI: paths"} <= set(found)


@pytest.mark.parametrize(
    ("changes", "code", "what", "status"),
    [
        ({"active_ranks": 1}, 3, "loading", "fail"),
        ({"active_ranks": 0, "loaded": False}, 3, "loading", "fail"),
        ({"cross_memory_attach": "Operation not permitted"}, 0, "large messages", "warn"),
        ({"collectives": [{"collective": "bcast", "bytes": 8, "algorithm": "slots", "wrong": 3}]},
         4, "results", "fail"),
        ({"collectives": [{"collective": "bcast", "bytes": 8, "algorithm": "mpi: x", "wrong": 0}]},
         0, "paths", "warn"),
    ],
)  # fmt: skip
def test_each_trouble_is_told(findings, changes, code, what, status):
    got, found = findings(records.check(**changes))
    assert got == code and found[f"Open MPI: {what}"] == status


def test_switched_off_is_a_warning(findings, monkeypatch):
    monkeypatch.setenv("SUMAC_DISABLE", "1")
    code, found = findings(records.check(active_ranks=0))
    assert code == 0 and found["Open MPI: loading"] == "warn"


def test_a_program_that_fails(findings):
    assert findings(records.check(), status=9)[0] == 1
    assert findings(None)[0] == 1


def test_bad_options(findings, monkeypatch):
    monkeypatch.setenv("SUMAC_CMA", "maybe")
    code, found = findings(records.check())
    assert code == 2 and found["options"] == "fail" and "Open MPI" not in found


def test_without_a_back_end(sandbox, sumac):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("check", "openmpi", [records.check()])
    (sandbox.root / "lib/sumac/libsumac-openmpi.so").unlink()
    code, out, _ = sumac("check")
    assert code == 3 and "no back end" in out


def test_without_the_library(sandbox, sumac):
    (sandbox.root / "lib/libsumac.so").unlink()
    code, out, _ = sumac("check")
    assert code == 3 and out.startswith("fail") and "fix:" in out


def test_a_program_to_look_at(findings, sandbox, tmp_path):
    script(tmp_path / "app", "#!/bin/sh\nexit 9\n")
    code, found = findings(records.check(), "--", "./app")
    assert code == 0 and found["program"] == "ok"
    assert all("app" not in line for line in sandbox.launched())
    code, found = findings(records.check(), "--", "./missing")
    assert code == 3 and found["not found"] == "fail"


def test_text_has_a_line_for_each_finding(sandbox, sumac):
    sandbox.add_launcher("mpiexec", "openmpi")
    bad = records.check(cross_memory_attach="[Errno 1] not permitted")
    sandbox.add_program("check", "openmpi", [bad])
    code, out, _ = sumac("check")
    assert code == 0
    assert "warn  Open MPI: large messages  cross-memory attach: [Errno 1] not permitted" in out
    assert "fix: sysctl kernel.yama.ptrace_scope=0" in out
