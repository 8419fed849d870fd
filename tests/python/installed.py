# SPDX-License-Identifier: BSD-3-Clause
"""The command that `make build` installs, or SUMAC_TEST_COMMAND, and how tests run it: with no
option of Sumac in the environment but those that they name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sumac_mpi.library import layout

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/release"
COMMAND = Path(os.environ.get("SUMAC_TEST_COMMAND", ROOT / ".venv/bin/sumac"))
INSTALLATION = layout.Installation(COMMAND.parents[1])
FAMILIES = [f for f in INSTALLATION.families("check") if INSTALLATION.back_end(f)]

needs_command = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")

_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(**variables: str) -> dict[str, str]:
    """This process's variables without those of Sumac, and with the given ones. Open MPI's launcher
    may be called by root."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SUMAC_")}
    return clean | _AS_ROOT | variables


def run(*command: object, seconds: float = 300, **variables: str):
    """Runs any program to its end, with its output as text."""
    return subprocess.run(
        list(map(str, command)), env=environment(**variables), capture_output=True, text=True,
        timeout=seconds, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def sumac(*arguments: object, **variables: str):
    """Runs the installed command."""
    return run(COMMAND, *arguments, **variables)


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    """What a program has printed, which must have ended with status 0."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def package(*arguments: str, **variables: str) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of `python -m sumac_mpi` from the source, where the
    command must run in a process of its own."""
    path = {"PYTHONPATH": str(ROOT / "python")}
    return [sys.executable, "-m", "sumac_mpi", *arguments], os.environ | path | variables
