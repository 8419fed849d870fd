# SPDX-License-Identifier: BSD-3-Clause
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sumac_mpi import elf

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


@pytest.mark.parametrize(
    ("soname", "family"),
    [
        ("libmpi.so.40", "openmpi"),
        ("libmpi_mpifh.so.40", "openmpi"),
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpichfort.so.12", "mpich"),
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi_abi.so.1", "mpiabi"),
        ("libm.so.6", None),
        ("libmpc.so.3", None),
    ],
)
def test_sonames_tell_the_family(soname, family):
    assert elf.family_of_soname(soname) == family


def test_other_files_are_no_binaries(tmp_path):
    text = tmp_path / "text"
    text.write_text("hello")
    assert elf.read(text) is None
    assert elf.read(tmp_path / "missing") is None
    assert elf.mpi_library(text) is None


def test_python_is_dynamic_and_has_no_mpi():
    binary = elf.read(Path(sys.executable).resolve())
    assert binary is not None and not binary.static
    assert elf.mpi_library(Path(sys.executable).resolve()) is None


def compile_c(output: Path, *arguments: str) -> Path:
    source = output.with_suffix(".c")
    source.write_text("int f(void) { return 0; }\nint main(void) { return f(); }\n")
    subprocess.run(["cc", str(source), "-o", str(output), *arguments], check=True)
    return output


@needs_compiler
def test_mpi_is_found_directly_and_through_another_library(tmp_path):
    mpi = compile_c(tmp_path / "libmpi.so.40", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
    linked = ("-Wl,--no-as-needed", str(mpi))
    direct = compile_c(tmp_path / "direct", *linked, "-Wl,-rpath,$ORIGIN")
    assert elf.mpi_library(direct) == elf.MpiLibrary("openmpi", "libmpi.so.40", mpi)

    middle = compile_c(tmp_path / "libmiddle.so", "-shared", "-fPIC", *linked, "-Wl,-rpath,$ORIGIN")
    indirect = compile_c(
        tmp_path / "indirect", "-Wl,--no-as-needed", str(middle), f"-Wl,-rpath-link,{tmp_path}"
    )
    found = elf.mpi_library(indirect)
    assert found == elf.MpiLibrary("openmpi", "libmpi.so.40", mpi)


@needs_compiler
def test_library_that_the_loader_would_not_find(tmp_path):
    mpi = compile_c(tmp_path / "libmpich.so.12", "-shared", "-fPIC", "-Wl,-soname,libmpich.so.12")
    program = compile_c(tmp_path / "program", "-Wl,--no-as-needed", str(mpi))
    mpi.rename(tmp_path / "elsewhere")
    found = elf.mpi_library(program)
    assert found is not None and found.family == "mpich"


@needs_compiler
def test_static_programs_are_told(tmp_path):
    program = tmp_path / "static"
    try:
        compile_c(program, "-static")
    except subprocess.CalledProcessError:
        pytest.skip("no static C library")
    binary = elf.read(program)
    assert binary is not None and binary.static
