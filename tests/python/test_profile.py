# SPDX-License-Identifier: BSD-3-Clause
"""Files of a profile, made of sections: what of them is read, and what is refused (those of a trace
are in test_trace.py); and `sumac profile`, with a folder of profiles as the library writes them."""

from __future__ import annotations

import io
import json
import shutil
import struct
import sys
from pathlib import Path

import pytest
import recordings
from conftest import script
from installed import BUILD, FAMILIES, needs_command, output_of
from installed import sumac as installed
from rich.console import Console
from sumac_mpi.base import recording
from sumac_mpi.base.errors import SumacError
from sumac_mpi.profile import files, job, report, rows
from sumac_mpi.profile.files import Call, Sums

HEAD = recordings.head("profile", 0, 2, mpi="Open MPI v4.1.4", begin_ns=100)
KIND = {"kind": 1, "function": "bcast", "form": "blocking", "count": 2, "bytes": 8}
SUMS = {"sums": 1, "calls": 9, "kept": 2, "bytes": 72, "inside_ns": 90, "completing_ns": 0}
CALLS = [(1, 0, 110, 5, 0, 115), (1, 1, 120, 7, 0, 127)]
CALL = "=IIQQQQ"
TEXT = recordings.text(HEAD, KIND)
RECORDS = recordings.records("call", CALL, CALLS)
SIZE = struct.calcsize(CALL)


def test_a_whole_file():
    rank = files.read(TEXT + RECORDS + recordings.text(SUMS, {"end_ns": 200}))
    assert (rank.rank, rank.ranks, rank.host, rank.mpi) == (0, 2, "a", "Open MPI v4.1.4")
    assert (rank.begin, rank.end) == (100, 200)
    assert rank.calls == [Call(*call) for call in CALLS]
    assert rank.kinds[1].function == "bcast"
    assert rank.sums == {1: Sums(9, 2, 72, 90, 0)}


@pytest.mark.parametrize(
    ("missing", "calls"), [(0, 2), (1, 1), (SIZE - 1, 1), (SIZE, 1), (SIZE + 1, 0), (2 * SIZE, 0)]
)
def test_of_a_cut_section_the_whole_records_are_read(missing, calls):
    content = TEXT + RECORDS
    rank = files.read(content[: len(content) - missing])
    assert rank.calls == [Call(*call) for call in CALLS[:calls]]
    assert rank.end is None
    inside = sum(call.inside for call in rank.calls)
    assert rank.sums == ({1: Sums(calls, calls, 8 * calls, inside, 0)} if calls else {})


@pytest.mark.parametrize("missing", [1, 5, 30])
def test_of_a_cut_section_the_whole_lines_are_read(missing):
    content = TEXT + recordings.text({"site": 1, "address": 16}, {"end_ns": "\N{EURO SIGN}" * 9})
    rank = files.read(content[:-missing])
    assert rank.sites[1].address == 16 and rank.end is None


@pytest.mark.parametrize("left", [1, 4, 7])
def test_the_head_of_a_section_may_be_cut(left):
    assert files.read(TEXT + RECORDS[:left]).calls == []


MALFORMED = [
    (b"", "nothing in it"),
    (b"tex", "nothing in it"),
    (b"nonsense\n", "a section b'nons'"),
    (TEXT[:60], "nothing in it"),
    (RECORDS, "a section b'call' at its beginning"),
    (recordings.text(KIND), "no head of a recording"),
    (recordings.text({"sumac_profile": 1, "rank": 0}), "no head of a recording"),
    (recordings.text(HEAD | {"of": "trace"}), "a recording of another mode: trace"),
    (recordings.text(HEAD | {"sumac_recording": 2}), "format 2"),
    (recordings.text(recordings.head("profile", 0, 2)), "KeyError: 'mpi'"),
    (TEXT + recordings.section("oper", b""), "a section b'oper'"),
    (TEXT + recordings.section("call", b"abc"), "3 bytes of records of 40 bytes"),
    (TEXT + recordings.section("text", b"{\n"), "JSONDecodeError"),
    (TEXT + recordings.section("text", b"7\n"), "a line '7'"),
    (TEXT + recordings.section("text", b"{}\n"), "a line '{}'"),
    (TEXT + recordings.text({"kind": 2}), "KeyError: 'function'"),
    (TEXT + recordings.records("call", CALL, [(5, 0, 1, 2, 0, 3)]), "KeyError: 5"),
    (TEXT + recordings.text({"sums": 1, "calls": 2}), "TypeError"),
]


@pytest.mark.parametrize(("content", "found"), MALFORMED, ids=[found for _, found in MALFORMED])
def test_malformed_files(tmp_path, sumac, content, found):
    recordings.write(tmp_path, 0, "profile", content)
    status, _, err = sumac("profile", "--from", str(tmp_path))
    assert status == 2 and "error[bad-profile]" in err
    assert found in err


def test_files_of_several_jobs(tmp_path):
    recordings.write(tmp_path, 0, "profile", TEXT)
    recordings.write(tmp_path, 1, "profile", recordings.text(HEAD | {"rank": 1, "ranks": 3}))
    with pytest.raises(SumacError, match="files of several jobs"):
        files.load(tmp_path)


def test_a_folder_in_place_of_a_file(tmp_path, sumac):
    (tmp_path / "rank-0.profile").mkdir()
    (tmp_path / "rank-0.trace").mkdir()
    for command in ("profile", "trace"):
        status, _, err = sumac(command, "--from", str(tmp_path))
        assert status == 2 and "error[bad-value]: cannot read" in err


def test_sections_of_records_are_given_by_name():
    """The reader knows the names of no section but those of lines."""
    head = recordings.head("other", 0, 1)
    content = recordings.text(head) + recordings.section("abcd", b"1234") + b"cut.\4\0\0\0xy"
    found, parts = recording.read(content, "other")
    assert found == head
    assert list(parts) == [
        recording.Records(b"abcd", b"1234"), recording.Records(b"cut.", b"xy", cut=True)
    ]  # fmt: skip
    _, parts = recording.read(content, "other", whole=True)
    with pytest.raises(ValueError, match="in the middle"):
        list(parts)


APPLICATION = BUILD / "examples/cg-openmpi"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Profiles of the solver on two ranks, in a folder of the user's."""
    if not APPLICATION.exists() or "openmpi" not in FAMILIES:
        pytest.skip("needs Open MPI, and the examples built and installed")
    found = tmp_path_factory.mktemp("profiles")
    job = ("run", "--mpi", "openmpi", "-n", "2", "--oversubscribe", "--set", f"PROFILE={found}")
    output_of(installed(*job, "--", APPLICATION, "-n", "8", "-r", "5"))
    return found


def shown(folder, *options):
    """What the installed command, which finds the tables of the library, prints of the folder."""
    done = installed("profile", "--from", folder, *options)
    assert done.stderr == ""
    return output_of(done)


def test_all_rows_as_json(folder):
    rows = json.loads(shown(folder, "--json"))["collectives"]
    calls = {(row["call"], *row["sizes"]): row["calls"] for row in rows}
    assert calls[("allreduce", "8")] > 100 and calls[("barrier", "0")] == 5


@pytest.mark.parametrize("by", ["call", "site", "communicator", "collective", "size"])
def test_tables(folder, by):
    out = shown(folder, "--by", by)
    assert out.startswith("2 ranks on ") and "waiting for other ranks: " in out


def test_fewer_rows(folder):
    out = shown(folder, "--top", "1")
    # A rank that comes late may make the few barriers take longer than all the all-reduces.
    assert sum(out.count(f"\n{call} ") for call in ("allreduce", "barrier")) == 1


def test_a_folder_without_profiles(sumac, tmp_path):
    status, _, err = sumac("profile", "--from", str(tmp_path))
    assert status == 1 and "error[no-profile]" in err


@pytest.mark.parametrize("command", ["profile", "trace"])
def test_sumac_is_switched_off(sandbox, sumac, tmp_path, monkeypatch, command):
    """Nothing is run: a long job would end with nothing to show."""
    sandbox.add_launcher("mpiexec", "openmpi")
    script(tmp_path / "app", "#!/bin/sh\n")
    off = "error[disabled]: Sumac is off (SUMAC_DISABLE), so the ranks would write nothing to show"
    options = [
        command,
        *(["--json=x"] if command == "trace" else []),
        "--mpi",
        "openmpi",
        "-n",
        "1",
    ]
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--set", "DISABLE=1"]):
        if not more:
            monkeypatch.setenv("SUMAC_DISABLE", "1")
        status, _, err = sumac(*options, *more, "--", str(tmp_path / "app"))
        assert status == 3 and f"{off}\n  fix:   unset SUMAC_DISABLE" in err
        monkeypatch.delenv("SUMAC_DISABLE", raising=False)


def test_a_file_that_is_no_profile(sumac, tmp_path, folder):
    for path in folder.glob("rank-*.profile"):
        shutil.copy(path, tmp_path)
    (tmp_path / "rank-1.profile").write_text("nonsense\n")
    status, _, err = sumac("profile", "--from", str(tmp_path))
    assert status == 2 and "error[bad-profile]" in err


def test_a_program_and_a_folder(sumac, tmp_path):
    status, _, err = sumac("profile", "--from", str(tmp_path), "--", "app")
    assert status == 2 and "error[" in err


@pytest.mark.parametrize("by", rows.By)
def test_names_and_numbers_are_whole_on_a_narrow_terminal(folder, by):
    found = job.load(folder)
    out = Console(width=80, file=io.StringIO())
    out.print(report.table(found, by, 20, True, 80))
    words = out.file.getvalue().split()
    assert not any("…" in word for word in words)
    for row in rows.rows(found, by):
        assert str(row.calls) in words
        assert row.call in words or by is rows.By.communicator


# A rank makes two calls at once, and ends so that it does not come to MPI_Finalize.
ENDS_EARLY = """
import os, sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
for _ in range(2):
    comm.Barrier()
how = sys.argv[1]
if how == "abort":
    comm.Abort(3)
os.kill(os.getpid(), 9)
"""


@needs_command
@pytest.mark.parametrize(("how", "told"), [
    ("abort", "\nbarrier "), ("killed", "they had written no call (ranks write every second"),
])  # fmt: skip
def test_a_job_that_ends_in_its_first_second(tmp_path, how, told):
    pytest.importorskip("mpi4py")
    (tmp_path / "job.py").write_text(ENDS_EARLY)
    program = ("--", sys.executable, tmp_path / "job.py", how)
    done = installed("profile", "-n", "1", "--mpi", FAMILIES[0], *program)
    assert done.returncode != 0
    assert told in done.stdout and "did not come to MPI_Finalize" in done.stdout, done.stderr


def test_a_job_that_fails_before_it_writes(sandbox, sumac, tmp_path):
    sandbox.add_launcher("mpiexec", "mpich")
    script(tmp_path / "app", "#!/bin/sh\nexit 7\n")
    status, out, err = sumac("profile", "-n", "1", "--mpi", "mpich", "./app")
    assert (status, out) == (7, "")
    assert "warning[no-profile]: the job ended with status 7 before its ranks had written" in err
