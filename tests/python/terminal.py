# SPDX-License-Identifier: BSD-3-Clause
"""Runs the installed command on a terminal of its own, as in an interactive shell."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pexpect
from installed import COMMAND, environment

# What a shell shows: the exit status, and what is left in a /dev/shm that no other process uses.
_SHELL = 'trap : INT; "$@"; echo "status=$?"; echo "left=$(ls /dev/shm)."'
_OWN_SHM = "mount -t tmpfs tmpfs /dev/shm"


@cache
def can_mount() -> bool:
    tried = subprocess.run(["unshare", "-m", "sh", "-c", _OWN_SHM], capture_output=True)
    return tried.returncode == 0


class Terminal:
    """A running command."""

    def __init__(self, *arguments: str, cwd: Path) -> None:
        script = f"{_OWN_SHM} && {_SHELL}" if can_mount() else _SHELL
        prefix = ["unshare", "-m"] if can_mount() else []
        words = [*prefix, "sh", "-c", script, "sh", str(COMMAND), *arguments]
        # Marks the ranks' environment, so that ranks are found even after their parents have ended.
        self.mark = f"{cwd}"
        self._child = pexpect.spawn(
            words[0], words[1:], cwd=str(cwd), encoding="utf-8", timeout=120,
            env=environment(TERMINAL_TEST=self.mark), dimensions=(40, 200),
        )  # fmt: skip
        self.output = ""

    def wait_for(self, pattern: str) -> None:
        self._child.expect(pattern)
        self.output += self._child.before + self._child.after

    def press_ctrl_c(self) -> None:
        self._child.sendintr()

    def end(self) -> None:
        self._child.expect(pexpect.EOF)
        self.output += self._child.before
        self._child.close()

    @property
    def status(self) -> int:
        return int(re.search(r"status=(\d+)", self.output)[1])

    @property
    def left_in_shm(self) -> str:
        """The files left in /dev/shm; empty if other processes' files cannot be excluded."""
        return re.search(r"left=(.*)\.", self.output, re.DOTALL)[1] if can_mount() else ""

    @property
    def cursor_is_shown(self) -> bool:
        return self.output.rfind("\x1b[?25h") >= self.output.rfind("\x1b[?25l")

    def processes(self) -> list[int]:
        """The processes of this test that still run."""
        return [int(each.name) for each in Path("/proc").glob("[0-9]*") if self._is_of_test(each)]

    def _is_of_test(self, process: Path) -> bool:
        try:
            return f"TERMINAL_TEST={self.mark}\0" in (process / "environ").read_text(
                errors="replace"
            )
        except OSError:
            return False
