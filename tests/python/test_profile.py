# SPDX-License-Identifier: BSD-3-Clause
"""`sumac profile`, with a folder of profiles as the library writes them."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import script
from rich.console import Console
from sumac_mpi.profile import job, report, rows

ROOT = Path(__file__).parents[2]
APPLICATION = ROOT / "build/release/examples/cg-openmpi"
SUMAC = ROOT / ".venv/bin/sumac"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Profiles of the solver on two ranks, in a folder of the user's."""
    if not APPLICATION.exists() or not SUMAC.exists() or not shutil.which("mpiexec.openmpi"):
        pytest.skip("needs Open MPI, and the examples built and installed")
    found = tmp_path_factory.mktemp("profiles")
    command = [SUMAC, "run", "--mpi", "openmpi", "-n", "2", "--oversubscribe", "--set",
               f"PROFILE={found}", "--", APPLICATION, "-n", "8", "-r", "5"]  # fmt: skip
    subprocess.run(command, check=True, timeout=100, stdout=subprocess.DEVNULL)
    return found


@pytest.fixture
def installed():
    """Runs the installed command, which finds the tables of the library."""

    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run([SUMAC, *arguments], capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout, done.stderr

    return run


def test_all_rows_as_json(installed, folder):
    status, out, err = installed("profile", "--from", str(folder), "--json")
    assert (status, err) == (0, "")
    rows = json.loads(out)["collectives"]
    calls = {(row["call"], *row["sizes"]): row["calls"] for row in rows}
    assert calls[("allreduce", "8")] > 100 and calls[("barrier", "0")] == 5


@pytest.mark.parametrize("by", ["call", "site", "communicator", "collective", "size"])
def test_tables(installed, folder, by):
    status, out, err = installed("profile", "--from", str(folder), "--by", by)
    assert (status, err) == (0, "")
    assert out.startswith("2 ranks on ") and "waiting for other ranks: " in out


def test_fewer_rows(installed, folder):
    _, out, _ = installed("profile", "--from", str(folder), "--top", "1")
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
