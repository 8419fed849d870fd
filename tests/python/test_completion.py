# SPDX-License-Identifier: BSD-3-Clause
"""What shells offer for unfinished command lines, by the scripts of `sumac completion`."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from shells import SHELLS
from sumac_mpi.library import tables
from test_help import COMMANDS, options
from test_installed import COLLECTIVES, COMMAND, INSTALLATION

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")


@pytest.fixture(scope="module", params=SHELLS)
def shell(request, tmp_path_factory):
    if not shutil.which(request.param):
        pytest.skip(f"there is no {request.param}")
    folder = tmp_path_factory.mktemp(request.param)
    done = subprocess.run([COMMAND, "completion", request.param], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "script").write_text(done.stdout)
    (folder / "app-of-mine").write_text("#!/bin/sh\n")
    (folder / "app-of-mine").chmod(0o755)
    (folder / "results.json").touch()
    (folder / "traces").mkdir()
    shell = SHELLS[request.param](folder / "script", folder)
    yield shell
    shell.close()


def test_commands(shell):
    assert set(COMMANDS) <= set(shell.offers("sumac "))
    assert shell.offers("sumac be") == ["bench"]


@pytest.mark.parametrize("command", COMMANDS)
def test_all_options(shell, command):
    listed = {name for names, _ in options(command) for name in names.split(" ")}
    wanted = sorted(name.rstrip(",") for name in listed if name.startswith("--"))
    offered = shell.offers(f"sumac {command} --")
    assert [name for name in offered if name != "--"] == wanted


def rows(table):
    return tables.rows(table, INSTALLATION)


def test_words_of_tables(shell):
    types = [row["name"] for row in rows("types")]
    wanted = [name for name in types if name.startswith("double")]
    assert shell.offers("sumac bench allreduce -d double") == sorted(wanted)
    named = [f"{row['collective']}:{row['name']}" for row in rows("algorithms")]
    wanted = [name for name in named if name.startswith("allreduce:f")]
    assert shell.offers("sumac plan --algo allreduce:f") == sorted(wanted)
    assert set(COLLECTIVES) < set(shell.offers("sumac bench "))


def test_settings(shell):
    names = [f"{row['name']}" for row in rows("options") if row["name"].startswith("SHM")]
    offered = [word.rstrip("=") for word in shell.offers("sumac run --set SHM")]
    assert offered == sorted(names) and names
    assert shell.offers("sumac exec --set CMA=") == ["CMA=auto", "CMA=off"]
    assert shell.offers("sumac run --set DEBUG=t") == ["DEBUG=trace"]


LINES = {
    "info al": ["algorithms"],
    "bench allreduce --mpi m": ["mpiabi", "mpich", "mvapich"],
    "bench allreduce -n 2 --compute i": ["idle"],
    "bench reduce_local --types float,dou": [
        "float,double", "float,double_complex", "float,double_int",
    ],
    "tune allreduce bca": ["bcast"],
    "completion f": ["fish"],
    "plan allreduce 8 --map r": ["round-robin"],
    "plot -o a.png res": ["results.json"],
    "trace --from tra": ["traces"],
    "run -n 2 ./app": ["app-of-mine"],
    "run -n 2 -- ./app": ["app-of-mine"],
    "exec --set CMA=off ./app": ["app-of-mine"],
    "run -n 2 ./app-of-mine --boun": [],  # the program's own option, not --bind
    "bench allreduce --no-such": [],
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_lines(shell, line):
    offered = {word.rstrip("/").rsplit("/")[-1] for word in shell.offers(f"sumac {line}")}
    # A shell that offers nothing may leave the word as it is.
    assert sorted(offered - {line.split(" ")[-1]}) == LINES[line]
