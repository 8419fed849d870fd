# SPDX-License-Identifier: BSD-3-Clause
import os

import pytest
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import installations, launcher
from sumac_mpi.launch.elf import MpiLibrary

OPENMPI = MpiLibrary("openmpi", "libmpi.so.40")
MPICH = MpiLibrary("mpich", "libmpich.so.12")
ABI = MpiLibrary("mpiabi", "libmpi_abi.so.1")


@pytest.mark.parametrize(
    ("family", "serves", "version"),
    [
        ("openmpi", "openmpi", "Open MPI 4.1.4"),
        ("mpich", "mpich", "MPICH 4.0.2"),
        ("intel", "mpich", "Intel MPI 2021.18"),
    ],
)
def test_version_output_tells_the_family(sandbox, family, serves, version):
    found = launcher.identify(sandbox.add_launcher("mpiexec", family))
    assert (found.family, found.version) == (serves, version)


def test_the_application_decides(sandbox):
    sandbox.add_launcher("mpiexec.openmpi", "openmpi")
    sandbox.add_launcher("mpiexec.mpich", "mpich")
    assert launcher.choose("app", OPENMPI, None, None).path.name == "mpiexec.openmpi"
    assert launcher.choose("app", MPICH, None, None).path.name == "mpiexec.mpich"
    assert launcher.choose("app", ABI, None, None).path.name == "mpiexec.mpich"


def test_common_names_are_asked_for_their_family(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_launcher("mpirun", "mpich")
    assert launcher.choose("app", MPICH, None, None).path.name == "mpirun"
    assert launcher.choose("app", None, None, None).path.name == "mpiexec"


def test_the_launcher_beside_the_library_comes_first(sandbox, tmp_path):
    sandbox.add_launcher("mpiexec", "openmpi")
    own = sandbox.add_launcher("mpiexec", "openmpi", tmp_path / "opt/bin")
    library = tmp_path / "opt/lib/libmpi.so.40"
    library.parent.mkdir()
    library.touch()
    found = launcher.choose("app", MpiLibrary("openmpi", "libmpi.so.40", library), None, None)
    assert found.path == own and found.word == str(own)


def test_a_launcher_in_path_is_called_by_its_name(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    assert launcher.choose("app", OPENMPI, None, None).word == "mpiexec"


def test_without_a_launcher_of_the_family(sandbox):
    other = sandbox.add_launcher("mpiexec", "mpich")
    with pytest.raises(SumacError) as caught:
        launcher.choose("./heat", OPENMPI, None, None)
    assert (caught.value.slug, caught.value.code) == ("no-launcher", Exit.UNAVAILABLE)
    assert str(caught.value) == (
        "sumac: error[no-launcher]: ./heat needs Open MPI (libmpi.so.40) but no mpiexec of it is "
        f"in PATH\n  found: {other} (MPICH 4.0.2)\n"
        "  fix:   install openmpi-bin, or name the launcher: --launcher /path/to/mpiexec"
    )


def test_without_any_launcher(sandbox):
    with pytest.raises(SumacError) as caught:
        launcher.choose("./heat", None, None, None)
    assert caught.value.slug == "no-launcher" and "no MPI found" in caught.value.what


def test_a_named_launcher_of_another_mpi(sandbox):
    sandbox.add_launcher("mpirun", "mpich")
    os.symlink(sandbox.bin / "mpirun", sandbox.bin / "mine")
    sandbox.add_launcher("mpirun.openmpi", "openmpi")
    with pytest.raises(SumacError) as caught:
        launcher.choose("./heat", OPENMPI, None, "mine")
    assert caught.value.code == Exit.UNAVAILABLE
    assert str(caught.value) == (
        "sumac: error[abi-mismatch]: ./heat needs libmpi.so.40 (Open MPI) but mine is MPICH 4.0.2\n"
        f"  found: {sandbox.bin}/mine -> mpirun\n"
        "  fix:   --launcher mpirun.openmpi"
    )


def test_a_family_that_contradicts_the_application(sandbox):
    sandbox.add_launcher("mpiexec.mpich", "mpich")
    with pytest.raises(SumacError) as caught:
        launcher.choose("./heat", OPENMPI, "mpich", None)
    assert str(caught.value) == (
        "sumac: error[abi-mismatch]: ./heat needs libmpi.so.40 (Open MPI) but --mpi names MPICH\n"
        "  fix:   leave --mpi out, or compile the program with the wrappers of MPICH"
    )


def test_folders_that_may_not_be_read(sandbox, monkeypatch):
    """PATH and HOME of another user, as after 'su' without '-'."""

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    own = sandbox.add_launcher("mpiexec", "openmpi")
    monkeypatch.setattr(os, "stat", refused)
    assert list(launcher._executables(sandbox.bin, ["mpiexec"])) == []
    assert installations.prefixes_of_wheels() == []
    monkeypatch.undo()
    assert list(launcher._executables(own.parent, ["mpiexec"])) == [own]


def test_an_unknown_launcher_is_trusted_when_named(sandbox):
    (sandbox.bin / "srun").write_text("#!/bin/sh\necho slurm 23.02\n")
    (sandbox.bin / "srun").chmod(0o755)
    found = launcher.choose("./heat", OPENMPI, None, "srun")
    assert found.family is None and found.serves("openmpi")


def test_a_named_launcher_that_is_not_there(sandbox):
    with pytest.raises(SumacError) as caught:
        launcher.choose("./heat", None, None, "nompi")
    assert caught.value.slug == "no-launcher"


def test_all_launchers_are_listed_once(sandbox):
    sandbox.add_launcher("mpiexec.openmpi", "openmpi")
    os.symlink(sandbox.bin / "mpiexec.openmpi", sandbox.bin / "mpiexec")
    sandbox.add_launcher("mpiexec.mpich", "mpich")
    assert [each.family for each in launcher.find_all()] == ["openmpi", "mpich"]
