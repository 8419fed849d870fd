# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import launcher, mpi_words, programs
from sumac_mpi.library import layout


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
