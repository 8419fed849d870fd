# SPDX-License-Identifier: BSD-3-Clause
"""Other projects find an installed Sumac by CMake and by pkg-config, even after it was moved, and
link it behind their MPI."""

from __future__ import annotations

import shlex
import shutil

import pytest
from installed import BUILD, ROOT, output_of
from installed import run as finished
from sumac_mpi.library import layout

FAMILIES = [f for f in layout.Installation(BUILD).families("check") if shutil.which(f"mpicc.{f}")]
SOURCES = ROOT / "tests/consumer"

pytestmark = pytest.mark.skipif(not FAMILIES, reason="make build has built nothing")


def run(*command, **variables):
    return output_of(finished(*command, **variables))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("consumer")
    run("cmake", "--install", BUILD, "--prefix", folder / "installed")
    return (folder / "installed").rename(folder / "moved with blanks")


def job(family, program):
    launcher = f"mpiexec.{family}"
    return run(launcher, "-n", "2", program, OMPI_MCA_rmaps_base_oversubscribe="1").strip()


@pytest.mark.parametrize("family", FAMILIES)
def test_cmake(prefix, tmp_path, family):
    fortran = shutil.which(f"mpif90.{family}") is not None
    build = tmp_path / "of a consumer"
    run(
        *("cmake", "-S", SOURCES, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"),
        *(f"-DMPI_C_COMPILER=mpicc.{family}", f"-DMPI_Fortran_COMPILER=mpif90.{family}"),
        f"-DCONSUMER_FORTRAN={int(fortran)}",
    )
    run("cmake", "--build", build)
    assert job(family, build / "in_c").endswith(", active 0")
    for binding in ("in_f90", "in_f08") if fortran else ():
        assert job(family, build / binding) == "sum 1"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
@pytest.mark.parametrize("family", FAMILIES)
def test_pkg_config(prefix, tmp_path, family):
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "sumac", **path))
    (libdir,) = shlex.split(run("pkg-config", "--variable=libdir", "sumac", **path))
    mpi = {"openmpi": "-lmpi", "mpich": "-lmpich"}[family]
    program = tmp_path / "app"
    run(f"mpicc.{family}", SOURCES / "app.c", "-o", program, mpi, *flags, f"-Wl,-rpath,{libdir}")
    assert job(family, program).endswith(", active 0")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize("family", FAMILIES)
def test_plain_make(prefix, tmp_path, family):
    installed = tmp_path / "installed"  # make splits at blanks
    installed.symlink_to(prefix)
    shutil.copytree(SOURCES, tmp_path / "consumer")
    mpi = {"openmpi": "-lmpi", "mpich": "-lmpich"}[family]
    command = ("make", "-C", tmp_path / "consumer", f"MPICC=mpicc.{family}", f"MPI={mpi}")
    run(*command, f"SUMAC={installed}")
    assert job(family, tmp_path / "consumer/app").endswith(", active 0")


def test_pkg_config_knows_the_version(prefix):
    (line,) = [line for line in (prefix / "lib/pkgconfig/sumac.pc").read_text().splitlines()
               if line.startswith("Version: ")]  # fmt: skip
    assert run(prefix / "bin/sumac", "--version").splitlines()[0] == f"sumac {line.split()[1]}"
