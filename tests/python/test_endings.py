# SPDX-License-Identifier: BSD-3-Clause
"""How commands end when their output cannot be written, or when Sumac has a bug; output files are
tried before measuring, and replaced completely or not at all."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess

import pytest
import records
from installed import COMMAND, needs_command, package
from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.commands import info

COMMANDS = {
    "help": ("--help",),
    "version": ("--version",),
    "bench-help": ("bench", "--help"),
    "info": ("info",),
    "json": ("info", "--json"),
    "check": ("check",),
}


def run(arguments, stdout, **variables):
    line, environment = package(*arguments, **variables)
    return subprocess.Popen(line, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(sandbox, command, unbuffered):
    with open("/dev/full", "w") as full:
        process = run(COMMANDS[command], full, PYTHONUNBUFFERED=unbuffered)
        _, err = process.communicate()
    assert err == (
        "sumac: error[output]: cannot write to standard output: No space left on device\n"
    )
    assert process.returncode == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_pipe(sandbox, command, unbuffered):
    """A shell must show status 141, as for any other command."""
    reader, writer = os.pipe()
    os.close(reader)
    process = run(COMMANDS[command], writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    _, err = process.communicate()
    assert (process.returncode, err) == (-signal.SIGPIPE, "")


IN_C = {
    "help": ("--help",),
    "version": ("--version",),
    "exec-help": ("exec", "--help"),
    "plan-help": ("plan", "--help"),
    "plan": ("plan", "allreduce", "8", "-n", "4"),
    "options": ("__options",),
}


@needs_command
@pytest.mark.parametrize("command", IN_C)
def test_commands_in_c_end_alike(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, *IN_C[command]], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (
        1, "sumac: error[output]: cannot write to standard output: No space left on device\n"
    )  # fmt: skip
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COMMAND, *IN_C[command]], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_no_standard_output_at_all(sandbox):
    line, environment = package("info")
    closed = ["/bin/sh", "-c", '"$@" >&-', "sh", *line]
    done = subprocess.run(closed, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_defect_is_a_message(sandbox, sumac, monkeypatch):
    def mistake(_):
        raise KeyError("cores")

    monkeypatch.setitem(info._GATHER, info.Topic.mpi, mistake)
    status, _, err = sumac("info")
    assert status == 1 and "Traceback" not in err
    assert err.startswith("sumac: error[defect]: KeyError in test_endings.py, line ")
    assert "SUMAC_DEBUG=trace" in err
    monkeypatch.setenv("SUMAC_DEBUG", "trace")
    status, _, err = sumac("info")
    assert status == 1 and err.startswith("Traceback") and "error[defect]" in err


def _small_disk(path):
    """The command prefix that mounts a file system of 64 KiB at `path` in a mount namespace."""
    path.mkdir()
    script = f'mount -t tmpfs -o size=64k none {path} && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
    if subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces for this user")
    return prefix


BAD = {
    "no-folder/r.json": "there is no such directory",
    "folder": "is a directory",
    "r.json/r.json": "there is no such directory",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("option", ["--json", "-o"])
def test_bench_tries_its_files_first(one_mpi, sumac, tmp_path, name, option):
    pytest.importorskip("matplotlib")
    ending = ".png" if option == "-o" else ""
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "r.json").touch()
    status, out, err = sumac(
        "bench",
        "allreduce",
        "-n",
        "2",
        f"{option}={name}{ending}" if option == "--json" else f"{option}{name}{ending}",
    )
    assert (status, out) == (2, "") and one_mpi.launched() == []
    assert err.startswith(f"sumac: error[bad-value]: {option} {name}{ending}: {BAD[name]}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_may_not_be_written(one_mpi, sumac, tmp_path):
    (tmp_path / "r.json").touch(0o400)
    (tmp_path / "folder").mkdir(0o500)
    for name in ("r.json", "folder/r.json"):
        status, _, err = sumac("bench", "allreduce", "-n", "2", f"--json={name}")
        assert status == 2 and ("may not be written" in err or "Permission denied" in err)
    assert one_mpi.launched() == []


@pytest.mark.parametrize("name", ["p.nope", "p", "p.", "p.json"])
def test_unknown_pictures(one_mpi, sumac, name):
    pytest.importorskip("matplotlib")
    status, _, err = sumac("bench", "allreduce", "-n", "2", "-o", name)
    assert status == 2 and one_mpi.launched() == []
    assert "fix:   name it .png, .svg or .pdf" in err


def test_a_barrier_is_not_drawn(one_mpi, sumac):
    status, _, err = sumac("bench", "barrier", "-n", "2", "-o", "p.png")
    assert status == 2 and "-o: not for barrier" in err and one_mpi.launched() == []


def test_a_full_disk_is_seen_first(tmp_path):
    prefix = _small_disk(tmp_path / "disk")
    program = "import sys; from pathlib import Path; from sumac_mpi.base import files; "
    program += "files.check('--json', Path(sys.argv[1]))"
    done = subprocess.run(
        [*prefix, os.sys.executable, "-c", program, str(tmp_path / "disk/r.json")],
        env=os.environ | {"PYTHONPATH": str(files.Path(files.__file__).parents[2])},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "cannot be written: No space left on device" in done.stderr


class TestWrite:
    def test_a_new_file_has_the_usual_rights(self, tmp_path):
        mask = os.umask(0o027)
        try:
            files.write(tmp_path / "new", b"x")
        finally:
            os.umask(mask)
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640

    def test_a_file_keeps_its_rights_and_a_link_its_target(self, tmp_path):
        target = tmp_path / "target"
        target.write_text("earlier")
        target.chmod(0o604)
        (tmp_path / "link").symlink_to(target)
        files.write(tmp_path / "link", b"now")
        assert (tmp_path / "link").is_symlink() and target.read_text() == "now"
        assert stat.S_IMODE(target.stat().st_mode) == 0o604
        assert {each.name for each in tmp_path.iterdir()} == {"target", "link"}

    def test_devices_are_written_in_place(self):
        files.check("--json", files.Path(os.devnull))
        files.write(files.Path(os.devnull), b"x")
        assert stat.S_ISCHR(os.stat(os.devnull).st_mode)

    def test_what_cannot_be_written_is_kept(self, tmp_path, monkeypatch):
        monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
        with pytest.raises(SumacError) as caught:
            files.write(files.Path("/dev/full"), b"results")
        assert caught.value.code == Exit.FAILED and caught.value.slug == "output"
        (kept,) = tmp_path.iterdir()
        assert str(kept) in caught.value.found and kept.read_bytes() == b"results"

    def test_what_was_there_stays_when_the_new_cannot_be_written(self, tmp_path, monkeypatch):
        path = tmp_path / "r.json"
        path.write_text("earlier")

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(SumacError):
            files.write(path, b"now")
        assert path.read_text() == "earlier"
        assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_an_mpi_that_fails_leaves_what_the_others_measured(one_mpi, sumac, tmp_path):
    one_mpi.add_launcher("mpiexec.mpich", "mpich")
    one_mpi.add_program("bench", "mpich", [], 9)
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--mpi", "all", "--json=r.json")
    assert status == 1 and "# verified 3 of 3 sizes" in out
    assert "# incomplete: job-failed after Open MPI 4.1.4" in err
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["incomplete"] == "job-failed"
    assert ["incomplete" in run for run in document["runs"]] == [False]


def test_a_job_that_fails_leaves_what_it_measured(one_mpi, sumac, tmp_path):
    one_mpi.add_program("bench", "openmpi", records.session()[:3], 9)
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--json=r.json")
    assert status == 1 and "error[job-failed]" in err
    assert "# incomplete: job-failed after 2 of 3 sizes" in out
    _, rows, err = sumac("bench", "allreduce", "-n", "2", "--format", "csv")
    assert len(rows.splitlines()) == 3 and "# incomplete: job-failed after 2 of 3 sizes" in err
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["incomplete"] == "job-failed" and len(document["runs"][0]["sizes"]) == 2
