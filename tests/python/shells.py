# SPDX-License-Identifier: BSD-3-Clause
"""Asks shells what they offer for an unfinished command line, through the script that
`sumac completion` prints. Bash and zsh run on a terminal and are sent keys."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from pathlib import Path

import pexpect

_PROMPT = "ready>"


class Fish:
    def __init__(self, script: Path, folder: Path) -> None:
        self._script, self._folder = script, folder

    def offers(self, line: str) -> list[str]:
        asked = "source $argv[1]; complete -C $argv[2]"
        done = subprocess.run(
            ["fish", "-N", "-c", asked, self._script, line], cwd=self._folder, timeout=60,
            capture_output=True, text=True, check=True, env=os.environ | {"HOME": self._folder},
        )  # fmt: skip
        return sorted({row.split("\t")[0] for row in done.stdout.splitlines()})

    def close(self) -> None:
        pass


class Bash:
    def __init__(self, script: Path, folder: Path) -> None:
        environment = os.environ | {"PS1": _PROMPT, "HOME": str(folder), "TERM": "dumb"}
        self._shell = pexpect.spawn(
            "bash", ["--norc", "--noprofile", "-i"], cwd=str(folder), encoding="utf-8",
            env=environment, timeout=60, dimensions=(50, 1000),
        )  # fmt: skip
        self._shell.expect_exact(_PROMPT)
        self._do("bind 'set enable-bracketed-paste off'")
        self._do(f"source {script}")
        self._do("sumac() { printf '<%s>' \"$@\"; echo '<end'$'>'; }")

    def _do(self, line: str) -> None:
        self._shell.sendline(line)
        self._shell.expect_exact(_PROMPT)

    def offers(self, line: str) -> list[str]:
        """Readline inserts all that is offered (ESC *) in the place of the last word, and a
        function instead of the command prints the words."""
        self._shell.send(f"{line}\x1b*\n")
        self._shell.expect_exact("<end>")
        words = re.findall("<([^<>]*)>", self._shell.before)
        kept = len(line.split(" ")) - 2
        begun = re.match(r".*[=:]|", line.split(" ")[-1])[0]  # bash leaves this part as it is
        offered = words[kept:]
        if offered == [line.split(" ")[-1]] or not begun:
            return sorted(offered)
        return sorted([offered[0], *(begun + word for word in offered[1:])])

    def close(self) -> None:
        self._shell.close(force=True)


# All matches of each call of compadd, with what precedes them in the word.
_RECORD = r"""
autoload -Uz compinit && compinit -u -D
compadd() {
  if [[ ${(j: :)@} == (|* )-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a found
  builtin compadd -A found "$@"
  (($#found)) && print -rl -- $IPREFIX$^found >>$RECORD
  builtin compadd "$@"
}
recorded() { zle list-choices; print end >>$RECORD }
zle -N recorded
bindkey '^I' recorded
"""


class Zsh:
    def __init__(self, script: Path, folder: Path) -> None:
        (folder / "functions").mkdir()
        (folder / "functions/_sumac").write_text(script.read_text())
        (folder / "start").write_text(f"fpath=({folder}/functions $fpath)\n{_RECORD}")
        self._record = folder / "recorded"
        environment = os.environ | {"HOME": str(folder), "TERM": "dumb", "PS1": _PROMPT}
        self._shell = pexpect.spawn(
            "zsh", ["-f", "-i"], cwd=str(folder), encoding="utf-8", timeout=60,
            env=environment | {"RECORD": str(self._record)}, dimensions=(50, 1000),
        )  # fmt: skip
        self._shell.expect_exact(_PROMPT)
        self._shell.sendline(f". {folder}/start; touch started")
        self._wait(lambda: (folder / "started").exists())

    def _wait(self, done) -> None:
        end = time.monotonic() + 60
        while not done():
            assert time.monotonic() < end, "zsh does not answer"
            with contextlib.suppress(pexpect.TIMEOUT):  # what it shows must be read, or it blocks
                self._shell.read_nonblocking(65536, timeout=0.02)

    def offers(self, line: str) -> list[str]:
        self._record.write_text("")
        self._shell.send(f"\x15{line}\t")
        self._wait(lambda: self._record.read_text().endswith("end\n"))
        return sorted(set(self._record.read_text().splitlines()[:-1]))

    def close(self) -> None:
        self._shell.close(force=True)


SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}
