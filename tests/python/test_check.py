# SPDX-License-Identifier: BSD-3-Clause
"""`sumac check` with a program that prints a prepared record."""

import dataclasses
import json
import os

import pytest
import records
from conftest import script
from sumac_mpi.base import hardware
from sumac_mpi.check import surroundings, trial
from sumac_mpi.check.surroundings import Findings, Status


@pytest.fixture
def findings(sandbox, sumac):
    """Runs `sumac check` on a record; returns the exit status and {check: status}."""

    def run(record, *arguments, status=0):
        sandbox.add_launcher("mpiexec", "openmpi")
        sandbox.add_program("check", "openmpi", [record] if record else [], status)
        code, out, _ = sumac("check", "--json", *arguments)
        found = json.loads(out)
        assert found["exit"] == code
        for each in found["findings"]:
            if each["status"] == "warning":
                assert each["why"] and each["fix"]
            if each["status"] == "problem" and each["what"] != "not found" and each["code"] != 1:
                assert each["why"] or each["fix"]
        return code, {each["what"]: each["status"] for each in found["findings"]}

    return run


def test_files_in_memory_that_are_refused(findings, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "memfd_create", refuse)
    code, found = findings(records.check())
    assert code == 3 and found["shared memory"] == "problem"


def test_all_is_well(findings):
    code, found = findings(records.check())
    assert code == 0
    for of_machine in ("cores", "shared memory", "processes", "locked memory"):
        assert found.get(of_machine, "ok") in ("ok", "warning")
    assert "problem" not in found.values() and "warning" not in [
        status for what, status in found.items() if "Open MPI" in what
    ]
    assert {"installation", "options", "locked memory", "Open MPI: results"} <= set(found)


@pytest.mark.parametrize(
    ("changes", "code", "what", "status"),
    [
        ({"active_ranks": 1}, 3, "loading", "problem"),
        ({"active_ranks": 0, "loaded": False}, 3, "loading", "problem"),
        ({"cross_memory_attach": "Operation not permitted"}, 0, "large messages", "warning"),
        ({"collectives": [{"collective": "bcast", "bytes": 8, "algorithm": "slots", "wrong": 3}]},
         4, "results", "problem"),
        ({"collectives": [{"collective": "bcast", "bytes": 8, "algorithm": "mpi: x", "wrong": 0}]},
         0, "paths", "warning"),
    ],
)  # fmt: skip
def test_each_trouble_is_told(findings, changes, code, what, status):
    got, found = findings(records.check(**changes))
    assert got == code and found[f"Open MPI: {what}"] == status


def test_lines_of_a_site_that_are_ignored():
    """Two MPIs' jobs warn of the same line; what else they say is left."""
    line = "sumac: warning[site-file]: /etc/sumac.conf:1: SPINN is not an option; it is ignored\n"
    said = f"{line}  fix:   did you mean SUMAC_SPIN?\nfrom the MPI\n"
    findings = Findings()
    assert [trial._site_files(findings, said) for _ in range(2)] == ["from the MPI\n"] * 2
    (found,) = findings.all
    assert found.status is Status.WARNING and found.fix == "did you mean SUMAC_SPIN?"
    assert found.detail == "/etc/sumac.conf:1: SPINN is not an option"


@pytest.mark.parametrize("option", ["-n", "-np", "--ranks"])
def test_the_number_of_ranks(findings, sandbox, option):
    findings(records.check(), option, "3")
    (line,) = sandbox.launched()
    assert line.startswith("mpiexec -n 3 ")


@pytest.fixture
def openmpi5(sandbox, tmp_path, monkeypatch):
    """The launcher of another Open MPI, of a Python environment that is active."""
    launcher = sandbox.add_launcher("mpiexec", "openmpi5", tmp_path / "venv/bin")
    monkeypatch.setenv("PATH", str(launcher.parent), prepend=os.pathsep)
    return launcher


def test_each_mpi_in_path_is_tried(findings, openmpi5, sandbox):
    code, found = findings(records.check())
    assert code == 0
    assert {"Open MPI 5.0.11: results", "Open MPI 4.1.4: results"} <= set(found)
    assert len(sandbox.launched()) == 2


@pytest.mark.parametrize(("name", "tried"), [("openmpi5", "venv"), ("openmpi4", "sandbox")])
def test_a_version_is_asked_for(sumac, findings, openmpi5, sandbox, name, tried):
    findings(records.check(), "--mpi", name)
    code, out, _ = sumac("check", "--json", "--mpi", name)
    what = next(each for each in json.loads(out)["findings"] if each["what"] == "Open MPI")
    assert code == 0
    assert (str(openmpi5) in what["detail"]) == (tried == "venv")


def test_switched_off_is_a_warning(findings, monkeypatch):
    monkeypatch.setenv("SUMAC_DISABLE", "1")
    code, found = findings(records.check(active_ranks=0))
    assert code == 0 and found["Open MPI: loading"] == "warning"


def test_a_program_that_fails(findings):
    assert findings(records.check(), status=9)[0] == 1
    assert findings(None)[0] == 1


def test_bad_options(findings, monkeypatch):
    monkeypatch.setenv("SUMAC_CMA", "maybe")
    code, found = findings(records.check())
    assert code == 2 and found["options"] == "problem" and "Open MPI" not in found


def test_without_a_back_end(sandbox, sumac):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("check", "openmpi", [records.check()])
    (sandbox.root / "lib/sumac/libsumac-openmpi.so").unlink()
    code, out, _ = sumac("check")
    assert code == 3 and "no back end" in out


def test_without_the_library(sandbox, sumac):
    (sandbox.root / "lib/libsumac.so").unlink()
    code, out, _ = sumac("check")
    assert code == 3 and out.startswith("problem") and "fix:" in out


def test_a_program_to_look_at(findings, sandbox, tmp_path):
    script(tmp_path / "app", "#!/bin/sh\nexit 9\n")
    code, found = findings(records.check(), "--", "./app")
    assert code == 0 and found["program"] == "warning"  # its MPI cannot be determined
    assert all("app" not in line for line in sandbox.launched())
    code, found = findings(records.check(), "--", "./missing")
    assert code == 3 and found["not found"] == "problem"


def test_text_has_a_line_for_each_finding(sandbox, sumac):
    sandbox.add_launcher("mpiexec", "openmpi")
    bad = records.check(cross_memory_attach="[Errno 1] not permitted")
    sandbox.add_program("check", "openmpi", [bad])
    code, out, _ = sumac("check")
    assert code == 0
    assert "warning  Open MPI: large messages  cross-memory attach: [Errno 1] not permitted" in out
    assert "why: " in out and "fix: " in out and out.splitlines()[-1].endswith("1 warning")


class TestAttach:
    @pytest.mark.parametrize(
        ("scope", "answer", "why", "fix"),
        [
            (1, "Operation not permitted", "ptrace_scope is 1", "ptrace_scope=0"),
            (None, "Operation not permitted", "filter of system calls", "SYS_PTRACE"),
            (0, "Function not implemented", "filter of system calls", "SYS_PTRACE"),
            (0, "No such process", "copied twice", "one container"),
        ],
    )
    def test_the_reason_is_told(self, monkeypatch, scope, answer, why, fix):
        here = dataclasses.replace(hardware.describe(), ptrace_scope=scope)
        monkeypatch.setattr(hardware, "describe", lambda: here)
        found = surroundings.refused_attach(answer)
        assert why in found[0] and fix in found[1]


class TestContainer:
    """Control groups as files: of version 2, where a group above has limits, and of version 1."""

    @pytest.fixture(params=[1, 2])
    def limit(self, request, tmp_path, monkeypatch):
        own = {1: "4:cpu,cpuacct:/a/b\n5:memory:/a/b\n6:pids:/a/b\n", 2: "0::/a/b\n"}
        (tmp_path / "own").write_text(own[request.param])
        monkeypatch.setattr(hardware, "_OWN_GROUP", tmp_path / "own")
        monkeypatch.setattr(hardware, "_GROUPS", tmp_path)
        names = {
            "cpu.max": ["cpu.cfs_quota_us", "cpu.cfs_period_us"],
            "memory.max": ["memory.limit_in_bytes"],
        }

        def write(controller, group, name, text):
            version_1 = request.param == 1
            folder = tmp_path / (controller if version_1 else "") / group
            folder.mkdir(parents=True, exist_ok=True)
            files = names.get(name, [name]) if version_1 else [name]
            texts = text.split() if len(files) > 1 else [text]
            for file, part in zip(files, texts):
                part = "-1" if version_1 and part == "max" else part
                (folder / file).write_text(part + "\n")

        return write

    def test_no_limits(self, limit):
        limit("cpu", "a/b", "cpu.max", "max 100000")
        limit("memory", "a/b", "memory.max", "max")
        limit("memory", "a", "memory.max", "9223372036854771712")  # as version 1 writes it
        assert (
            hardware.allowed_processors()
            is hardware.allowed_memory()
            is hardware.processes_left()
            is None
        )

    def test_the_least_of_all_groups_counts(self, limit):
        limit("cpu", "a/b", "cpu.max", "300000 100000")
        limit("cpu", "a", "cpu.max", "150000 100000")
        limit("memory", "a", "memory.max", str(50 << 20))
        limit("pids", "a/b", "pids.max", "20")
        limit("pids", "a/b", "pids.current", "15")
        assert hardware.allowed_processors() == 1.5
        assert (hardware.allowed_memory(), hardware.processes_left()) == (50 << 20, 5)
        findings = Findings()
        surroundings.processors(findings, min(2, hardware.usable_cores()))
        surroundings.processes(findings, 2)
        surroundings.shared_memory(findings, 2)
        assert [each.status for each in findings.all[-2:]] == [Status.WARNING] * 2
        assert "may use 50 MiB" in findings.all[-1].detail
        assert "5 more processes" in findings.all[-2].detail
        if hardware.usable_cores() >= 2:
            assert "1.5 processors" in findings.all[0].detail
