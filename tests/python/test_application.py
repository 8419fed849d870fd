# SPDX-License-Identifier: BSD-3-Clause
"""The program a user wants to run: which MPI its binary loads, and what is found behind wrappers
and in scripts."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import script
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import application, elf, launcher

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


def failure(*command):
    with pytest.raises(SumacError) as caught:
        application.find(list(command))
    return caught.value.slug, caught.value.code


def test_what_cannot_be_run(sandbox, tmp_path):
    (tmp_path / "data").write_text("x")
    assert failure("./missing") == ("not-found", Exit.NOT_FOUND)
    assert failure("missing") == ("not-found", Exit.NOT_FOUND)
    assert failure("data") == ("not-found", Exit.NOT_FOUND)
    assert failure("./data") == ("not-executable", Exit.NOT_EXECUTABLE)
    for name, text, fix in (("data", "x", ""), ("x.py", "x", "python3 ./x.py"),
                            ("script", "#!/bin/sh\n", "chmod +x ./script")):  # fmt: skip
        (tmp_path / name).write_text(text)
        with pytest.raises(SumacError) as caught:
            application.find([f"./{name}"])
        assert caught.value.fix == fix
        # One advice suffices: what "./" alone would not make run is told at once.
        with pytest.raises(SumacError) as caught:
            application.find([name])
        assert (caught.value.slug, caught.value.fix) == ("not-found", fix)
        assert caught.value.found == f"./{name}, which is not executable"
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    with pytest.raises(SumacError) as caught:
        application.find(["program"])
    assert caught.value.fix == "./program names the file in this directory"
    assert failure(str(tmp_path)) == ("not-executable", Exit.NOT_EXECUTABLE)


def program_of(mpi: str, directory: Path) -> Path:
    """Builds a program that needs this library from its own folder."""
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "source.c"
    source.write_text("int main(void) { return 0; }\n")
    library, program = directory / mpi, directory / "app"
    for arguments in (
        ["-shared", "-fPIC", f"-Wl,-soname,{mpi}", "-o", str(library)],
        ["-o", str(program), "-Wl,--no-as-needed", str(library), "-Wl,-rpath,$ORIGIN"],
    ):
        subprocess.run(["cc", str(source), *arguments], check=True, env={"PATH": PATH})
    return program


PATH = os.environ["PATH"]  # has a compiler, which the sandbox lacks
MPIS = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}

# Command lines for a shell. ./app is the program.
WRAPPED = [
    "env A=1 ./app",
    "env -u X -i A=1 B='2 3' ./app -n 5",
    "env -S './app -n 5'",
    "nice -n 10 ./app",
    "taskset -c 0,1 ./app",
    "taskset 0x3 nice -10 ./app x y",
    "numactl --cpunodebind=0 -m 0 -- ./app",
    "time -f %e -o times ./app",
    "stdbuf -o L ./app",
    "chrt -f 10 ./app",
    "timeout -k 5 60 ./app",
    "valgrind --tool=memcheck -q ./app",
    "gdb -batch -ex 'run 1 2' --args ./app 3",
    "strace -o out -e trace=open ./app",
    "perf stat -e cycles ./app",
    "sumac exec -x A=1 -- ./app",
    "sh -c ./app",
    "sh -c './app; exit 3'",
    "sh -c 'cd . && A=1 exec ./app in>out'",
    "sh -c '(./app)'",
    "sh -c \"sh -c './app -n 2'\"",
    "./script.sh",
    "./wrapper ./app",
    "./wrapper ./script.sh",
    "nice ./calls_script",
    "./no_first_line",
    "./ends_badly",
]
SCRIPTS = {
    "script.sh": "#!/bin/sh\n# don't\nset -e\ncd . || exit 1\n./app -n 3 >out\n",
    "wrapper": '#!/usr/bin/env sh\nexec "$@"\n',
    "calls_script": "#!/bin/sh\nif true; then ./script.sh; fi\n",
    "no_first_line": "for i in 1 2; do ./app $i; done\n",
    "ends_badly": "#!/bin/sh\n./app\necho 'without an end\n",
}


@pytest.fixture
def wrappers(sandbox, tmp_path):
    for command in WRAPPED:
        name = command.split()[0]
        if not name.startswith("./"):
            script(sandbox.bin / name, '#!/bin/sh\nexec "$@"\n')
    for name, text in SCRIPTS.items():
        script(tmp_path / name, text)


@needs_compiler
@pytest.mark.parametrize("family", MPIS)
def test_wrappers_are_looked_through(wrappers, tmp_path, family):
    program_of(MPIS[family], tmp_path)
    found = {command: application.find(shlex.split(command)) for command in WRAPPED}
    assert {command for command, app in found.items() if not app.mpi} == set()
    assert {app.mpi.family for app in found.values()} == {family}
    assert {app.mpi.path for app in found.values()} == {tmp_path / MPIS[family]}
    assert not any(app.certain for app in found.values())
    assert application.find(["./app", "x"]).certain


@needs_compiler
def test_variables_of_the_command_line_count(wrappers, tmp_path):
    program_of("libmpi.so.40", tmp_path)
    other = program_of("libmpi.so.40", tmp_path / "other").parent / "libmpi.so.40"
    value = str(other.parent)
    for command in (["env", f"LD_LIBRARY_PATH={value}", "./app"],
                    ["sh", "-c", f"LD_LIBRARY_PATH={value} ./app"]):  # fmt: skip
        assert application.find(command).mpi.path == other, command
    assert application.find(["./app"], {"LD_LIBRARY_PATH": value}).mpi.path == other
    assert application.find(["./app"]).mpi.path == tmp_path / "libmpi.so.40"


@needs_compiler
def test_the_launcher_of_a_module_is_taken(sandbox, tmp_path, monkeypatch):
    """An environment module puts another MPI's folders in front of what was linked."""
    sandbox.add_launcher("mpiexec", "openmpi")
    built, module = (tmp_path / name for name in ("built", "module"))
    for place in (built, module):
        program_of("libmpi.so.40", place / "lib")
        sandbox.add_launcher("mpiexec", "openmpi", place / "bin")
    program = str(built / "lib/app")
    for path, place in (("", built), (str(module / "lib"), module)):
        monkeypatch.setenv("LD_LIBRARY_PATH", path)
        mpi = application.find([program]).mpi
        assert launcher.choose("app", mpi, None, None).path == place / "bin/mpiexec"


@pytest.mark.parametrize(
    "text",
    [
        "./itself",
        "./itself; ./itself 'x",
        "|| ; && >",
        "\\\\ \\",
        "a\u00a0b ;",
        "'\"a b\"' \0 \0;x",
        "",
    ],
)
def test_scripts_that_tell_nothing(sandbox, tmp_path, text):
    script(tmp_path / "itself", "#!/bin/sh\n" + text)
    for command in (["./itself"], ["./itself", text], ["./itself", "|", ";"]):
        found = application.find(command)
        assert found.mpi is None and not found.static


# A script that prints what Python prints when asked for the MPI of mpi4py.
MPI4PY = "#!/bin/sh\necho /opt/mpi/lib/libmpi.so.40.30.4\n"


@pytest.mark.parametrize(
    "first_line", ["#!{path}", "#!/usr/bin/env {name}", "#!/usr/bin/env -S {name}"]
)
def test_python_scripts_are_asked_through_their_interpreter(sandbox, tmp_path, first_line):
    python = script(sandbox.bin / "python3.99", MPI4PY)
    line = first_line.format(path=python, name=python.name)
    script(tmp_path / "train.py", line + "\nfrom mpi4py import MPI\n")
    for command in (["python3.99", "train.py"], ["./train.py"]):
        found = application.find(command)
        assert found.mpi is not None and found.mpi.family == "openmpi"
        assert not found.certain


def test_python_without_mpi4py(sandbox):
    script(sandbox.bin / "python3", "#!/bin/sh\nexit 1\n")
    assert application.find(["python3", "x.py"]).mpi is None


def test_a_real_binary(sandbox):
    found = application.find([str(Path(sys.executable).resolve())])
    assert found.path.exists()


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("mpirun -n 2 ./app\n", "mpirun -n 2 ./app"),
        ("if true; then exec /usr/bin/mpiexec.openmpi -n 2 ./app; fi\n", "if true; then exec"),
        ("A=1 B=2 mpiexec -n 2 ./app &\n", "A=1 B=2 mpiexec"),
        ("cd . && orterun ./app\n", "cd . && orterun"),
        ("MPIRUN='/usr/bin/mpirun'\n$MPIRUN -n 2 ./app\n", "MPIRUN="),
        ("# mpirun -n 2 ./app\n./app\n", ""),
        ("echo 'usage: mpirun -n 2 job'\n./app # mpirun x\n", ""),
        ("command -v mpirun || exit 1\n./app --with-mpirun x\n", ""),
    ],
)
def test_scripts_that_start_a_launcher(sandbox, tmp_path, text, shows):
    script(tmp_path / "job", f"#!/bin/sh\n{text}")
    script(sandbox.bin / "sh", "#!/bin/sh\n")
    for command in (["./job"], ["sh", "./job"], ["sh", "-c", text]):
        found = application.find(command).launcher
        assert found.startswith(shows) and bool(found) == bool(shows), command


def test_programs_that_are_launchers_or_known_to_start_one(sandbox, tmp_path):
    for name in ("mpirun", "examl", "code_saturne"):
        script(sandbox.bin / name, "#!/bin/sh\n")
        assert application.find([name, "x"]).launcher == str(sandbox.bin / name)
