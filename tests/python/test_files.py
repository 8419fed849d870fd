# SPDX-License-Identifier: BSD-3-Clause
"""Output files must be tried before measuring, and be replaced completely or not at all."""

import json
import os
import stat
import subprocess

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError


@pytest.fixture
def one_mpi(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("bench", "openmpi", records.session())
    return sandbox


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
