# SPDX-License-Identifier: BSD-3-Clause
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import script
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import application, launcher


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
needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
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
