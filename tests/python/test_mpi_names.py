# SPDX-License-Identifier: BSD-3-Clause
import pytest
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import mpi_names
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
    assert {mpi_names.family_of(name) for name in names.split()} == {family}


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
        mpi_names.family_of(name)
    assert (caught.value.slug, caught.value.code) == ("bad-value", Exit.USAGE)
    assert caught.value.fix.startswith(fix)
