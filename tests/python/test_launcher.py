# SPDX-License-Identifier: BSD-3-Clause
"""Which launcher is found or refused, and what people call their MPI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import installations, launcher, mpi_words, programs
from sumac_mpi.launch.elf import MpiLibrary
from sumac_mpi.library import layout

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


@pytest.mark.parametrize(
    ("family", "names"),
    [
        (
            "openmpi",
            "openmpi ompi open-mpi OpenMPI Open_MPI openmpi5 openmpi-4.1.4 openmpi/5.0 hpcx",
        ),
        ("mpich", "mpich mpich4 MPICH mpich/4.0.2 hydra mpich-3 parastation"),
        ("mpich", "intel intelmpi impi intel-mpi Intel_MPI intel-2021.18 oneapi"),
        ("mpich", "mvapich mvapich2 mvapich2-2.3.7 cray cray-mpich cray-mpich/8.1"),
        ("mpiabi", "mpiabi abi mpi-abi mpi_abi"),
    ],
)
def test_what_people_call_their_mpi(family, names):
    assert family in layout.FAMILIES
    assert {mpi_words.family_of(name) for name in names.split()} == {family}


@pytest.mark.parametrize(
    ("wanted", "version", "other"),
    [
        ("mpich5", "MPICH 4.0.2", True),
        ("mpich-4.0", "MPICH 4.0.2", False),
        ("mpich4.1", "MPICH 4.0.2", True),
        ("mpich", "Intel MPI 2021.18", False),
        ("mpich4", "Intel MPI 2021.18", True),
        ("intel", "MPICH 4.0.2", True),
        ("Intel_MPI", "Intel MPI 2021.18", False),
        ("intel-2021", "Intel MPI 2021.18", False),
        ("openmpi5", "Open MPI 4.1.4", True),
        ("openmpi", "Open MPI 4.1.4", False),
        ("openmpi4.1.4", "Open MPI 4.1.4", False),
        ("cray-mpich/8.1", "MPICH 3.4", False),
        ("mvapich2", "MPICH 3.4", False),
        ("intel", "unknown", False),
    ],
)
def test_names_of_another_mpi(wanted, version, other):
    assert mpi_words.contradicts(wanted, version) == other


class NothingBuilt:
    def program(self, name, family):
        return None


def test_another_mpi_is_not_measured_under_the_name(monkeypatch):
    first = launcher.Launcher(Path("/usr/bin/mpiexec.mpich"), "mpich", "MPICH 4.0.2")
    monkeypatch.setattr(launcher, "find", lambda family, library=None: first)
    assert programs.choose_families(NothingBuilt(), "bench", "mpich4") == ["mpich"]
    with pytest.raises(SumacError) as caught:
        programs.choose_families(NothingBuilt(), "bench", "mpich5")
    assert caught.value.code == Exit.UNAVAILABLE
    assert "start with MPICH 4.0.2" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("openmp", "did you mean openmpi?"),
        ("opnempi", "did you mean openmpi?"),
        ("mpcih4", "did you mean mpich?"),
        ("intle", "did you mean intel?"),
        ("lam", "one of openmpi, ompi"),
        ("", "one of openmpi"),
        ("4.1", "one of openmpi"),
    ],
)
def test_unknown_names(name, fix):
    with pytest.raises(SumacError) as caught:
        mpi_words.family_of(name)
    assert (caught.value.slug, caught.value.code) == ("bad-value", Exit.USAGE)
    assert caught.value.fix.startswith(fix)
