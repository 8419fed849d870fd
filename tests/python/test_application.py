# SPDX-License-Identifier: BSD-3-Clause
import sys
from pathlib import Path

import pytest
from conftest import script
from sumac_mpi import application
from sumac_mpi.errors import Exit, SumacError


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
    assert failure(str(tmp_path)) == ("not-executable", Exit.NOT_EXECUTABLE)


def test_a_shell_script_tells_nothing(sandbox, tmp_path):
    script(tmp_path / "run.sh", "#!/bin/sh\n./heat\n")
    found = application.find(["./run.sh"])
    assert found.mpi is None and not found.static


# An interpreter that answers as one with mpi4py does.
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
