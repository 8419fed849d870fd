# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sumac_mpi.launch import elf

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


def mpi_that_says(directory: Path, *arguments: str) -> Path:
    """Builds a library that no system has. Its function returns the directory of the library."""
    directory.mkdir()
    source = directory / "who.c"
    source.write_text(f'const char *who(void) {{ return "{directory.name}"; }}\n')
    library = directory / "libmpi_test.so.40"
    flags = ["-shared", "-fPIC", "-Wl,-soname,libmpi_test.so.40", *arguments]
    subprocess.run(["cc", str(source), "-o", str(library), *flags], check=True)
    return library


def program_that_asks(output: Path, library: Path, *arguments: str) -> Path:
    source = output.with_suffix(".c")
    source.write_text(
        "#include <stdio.h>\nconst char *who(void);\nint main(void) { puts(who()); return 0; }\n"
    )
    command = ["cc", str(source), "-o", str(output), str(library), *arguments]
    subprocess.run(command, check=True)
    return output


def same_as_when_run(program: Path, environment: dict[str, str]) -> str | None:
    """The MPI found for the program, after comparing it with the MPI that the program uses."""
    found = elf.mpi_library(program, environment)
    assert found is not None and found.family == "openmpi"
    run = subprocess.run([str(program)], env=environment, capture_output=True, text=True)
    told = run.stdout.strip() if run.returncode == 0 else None
    assert (found.path.parent.name if found.path else None) == told
    return told


SEARCHES = {
    "nothing": (),
    "runpath": ("-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/built"),
    "rpath": ("-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/built"),
}


@needs_compiler
def test_the_loader_decides_which_mpi_it_is(tmp_path):
    built = mpi_that_says(tmp_path / "built")
    module = mpi_that_says(tmp_path / "module").parent
    preloaded = mpi_that_says(tmp_path / "preloaded")
    settings = [{}, {"LD_LIBRARY_PATH": f"/nowhere:{module}"}, {"LD_PRELOAD": str(preloaded)}]
    told = {}
    for name, search in SEARCHES.items():
        program = program_that_asks(tmp_path / name, built, *search)
        told[name] = [same_as_when_run(program, environment) for environment in settings]
    assert told == {
        "nothing": [None, "module", "preloaded"],
        "runpath": ["built", "module", "preloaded"],
        "rpath": ["built", "built", "preloaded"],
    }


@needs_compiler
def test_an_mpi_behind_another_library_is_searched_for_by_that_one(tmp_path):
    built = mpi_that_says(tmp_path / "built")
    module = mpi_that_says(tmp_path / "module").parent
    for name, search in SEARCHES.items():
        middle = compile_c(tmp_path / f"libmiddle_{name}.so", "-shared", "-fPIC",
                           "-Wl,--no-as-needed", str(built), *search)  # fmt: skip
        program = compile_c(tmp_path / name, "-Wl,--no-as-needed", str(middle),
                            f"-Wl,-rpath-link,{built.parent}")  # fmt: skip
        expected = {"": built, str(module): built if name == "rpath" else module / built.name}
        if name == "nothing":
            expected[""] = None  # it cannot be loaded, and does not name its MPI
        for path, file in expected.items():
            found = elf.mpi_library(program, {"LD_LIBRARY_PATH": path})
            assert (found and found.path) == file, (name, path)


@needs_compiler
@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_no_variable_counts_for_a_program_with_anothers_rights(tmp_path):
    if os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip("no such programs on this file system")
    built = mpi_that_says(tmp_path / "built")
    module = mpi_that_says(tmp_path / "module").parent
    for file in (tmp_path, built.parent):
        file.chmod(0o755)
    program = program_that_asks(tmp_path / "program", built, f"-Wl,-rpath,{built.parent}")
    environment = {"LD_LIBRARY_PATH": str(module)}
    assert same_as_when_run(program, environment) == "module"
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    found = elf.mpi_library(program, environment)
    assert found is not None and found.path == built


LOADERS = {
    "/nowhere/ld-linux-x86-64.so.2": None,
    "ld-hangs.so.1": "#!/bin/sh\nexec sleep 1000\n",
    "ld-fails.so.1": "#!/bin/sh\nexit 127\n",
    "ld-talks.so.1": "#!/bin/sh\necho libmpi.so.12\necho '(0x00)'\nprintf '\\377'\n",
    "no_loader": "#!/bin/sh\ntouch touched\n",
}


@needs_compiler
@pytest.mark.parametrize("name", LOADERS)
def test_where_the_loader_cannot_be_asked_the_file_tells_the_family(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(elf, "_SECONDS", 0.2)
    own = tmp_path / name
    if LOADERS[name]:
        own.write_text(LOADERS[name])
        own.chmod(0o755)
    mpi = mpi_that_says(tmp_path / "built")
    program = program_that_asks(tmp_path / "program", mpi, f"-Wl,--dynamic-linker,{own}")
    assert elf.mpi_library(program) == elf.MpiLibrary("openmpi", "libmpi_test.so.40", None)
    assert not (tmp_path / "touched").exists()


@needs_compiler
def test_static_programs_are_told(tmp_path):
    program = tmp_path / "static"
    try:
        compile_c(program, "-static")
    except subprocess.CalledProcessError:
        pytest.skip("no static C library")
    binary = elf.read(program)
    assert binary is not None and binary.static
