# SPDX-License-Identifier: BSD-3-Clause
"""How commands end when their output cannot be written, or when Sumac has a bug."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sumac_mpi.commands import info
from test_installed import COMMAND

PACKAGE = str(Path(__file__).parents[2] / "python")
COMMANDS = {
    "help": ("--help",),
    "version": ("--version",),
    "bench-help": ("bench", "--help"),
    "info": ("info",),
    "json": ("info", "--json"),
    "check": ("check",),
}


def run(arguments, stdout, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "sumac_mpi", *arguments],
        env=os.environ | {"PYTHONPATH": PACKAGE} | environment,
        stdout=stdout, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(sandbox, command, unbuffered):
    with open("/dev/full", "w") as full:
        process = run(COMMANDS[command], full, PYTHONUNBUFFERED=unbuffered)
        _, err = process.communicate()
    assert err == (
        "sumac: error[output]: cannot write to standard output: No space left on device\n"
    )
    assert process.returncode == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_pipe(sandbox, command, unbuffered):
    """A shell must show status 141, as for any other command."""
    reader, writer = os.pipe()
    os.close(reader)
    process = run(COMMANDS[command], writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    _, err = process.communicate()
    assert (process.returncode, err) == (-signal.SIGPIPE, "")


IN_C = {
    "help": ("--help",),
    "version": ("--version",),
    "exec-help": ("exec", "--help"),
    "plan-help": ("plan", "--help"),
    "plan": ("plan", "allreduce", "8", "-n", "4"),
    "options": ("__options",),
}


@pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")
@pytest.mark.parametrize("command", IN_C)
def test_commands_in_c_end_alike(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, *IN_C[command]], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (
        1, "sumac: error[output]: cannot write to standard output: No space left on device\n"
    )  # fmt: skip
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COMMAND, *IN_C[command]], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_no_standard_output_at_all(sandbox):
    command = [sys.executable, "-m", "sumac_mpi", "info"]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *command],
        env=os.environ | {"PYTHONPATH": PACKAGE}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_defect_is_a_message(sandbox, sumac, monkeypatch):
    def mistake(_):
        raise KeyError("cores")

    monkeypatch.setitem(info._GATHER, info.Topic.mpi, mistake)
    status, _, err = sumac("info")
    assert status == 1 and "Traceback" not in err
    assert err.startswith("sumac: error[defect]: KeyError in test_endings.py, line ")
    assert "SUMAC_DEBUG=trace" in err
    monkeypatch.setenv("SUMAC_DEBUG", "trace")
    status, _, err = sumac("info")
    assert status == 1 and err.startswith("Traceback") and "error[defect]" in err
