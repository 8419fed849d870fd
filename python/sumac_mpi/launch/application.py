# SPDX-License-Identifier: BSD-3-Clause
"""The program a user wants to run: where it is, and which MPI it uses."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import elf

# Loads what `from mpi4py import MPI` loads and says which file that was; does not initialize MPI.
_ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
for line in open("/proc/self/maps"):
    path = line.split(None, 5)[5:]
    if path and "/libmpi" in path[0]:
        print(path[0].strip())
        break
"""
_PYTHON = re.compile(r"python(\d(\.\d+)?)?$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
# Several words in one, which shlex splits: bash -c 'cd data && ./app'.
_COMMANDS = re.compile(r"(?=.*\w).*[ \t\r\n;&|<>()]", re.DOTALL)
_LAUNCHER = re.compile(r"(?:mpirun|mpiexec|orterun|prterun)(?:\.\w+)?")
# A command of a shell that starts a launcher, or a variable that holds one.
_STARTS = re.compile(
    r"^(?:[^#\n]*[;&|({`]|[^#\n]*\b(?:then|do|else|exec)\b)?\s*(?:\w+=\S*[ \t]+)*"
    rf"(?:(?:\S*/)?{_LAUNCHER.pattern}[ \t]\S.*"
    rf"|\w+=[\"']?(?:\S*/)?{_LAUNCHER.pattern}[\"']?[ \t]*)$",
    re.MULTILINE,
)
_STARTING = ("code_saturne", "examl", "ff-mpirun")  # programs of Debian that start launchers
_MOST_FILES = 100  # at most so many of the programs that a script names are examined
_SCRIPT_BYTES = 1 << 14


@dataclass(frozen=True)
class Application:
    name: str  # as the user wrote it
    path: Path
    mpi: elf.MpiLibrary | None  # None if unknown
    static: bool = False  # no library can be loaded in front of its MPI
    launcher: str = ""  # that it starts by itself, or what shows that it does
    certain: bool = True  # false behind a wrapper, and for Python: mpi4py may choose another MPI

    @property
    def is_launcher(self) -> bool:
        return bool(_LAUNCHER.fullmatch(os.path.basename(self.name)))

    @property
    def is_python(self) -> bool:
        return bool(_PYTHON.match(self.path.name))

    @property
    def no_mpi(self) -> str:
        """What was looked at in vain, for messages."""
        if self.is_python:
            return f"'from mpi4py import MPI' fails in {self.path}, or loads no MPI library"
        return f"no MPI library was found in {self.name}"


def find(command: list[str], variables: dict[str, str] | None = None) -> Application:
    """Finds command[0] as a shell would. `variables` are added to the environment of the program.

    Raises with status 126 or 127.
    """
    name = command[0]
    search = _Search({**os.environ, **(variables or {})})
    path = search.executable(name)
    if path is None:
        raise _unusable(name)
    if _LAUNCHER.fullmatch(os.path.basename(name)):
        return Application(name, path, None, launcher=str(path), certain=False)
    binary = elf.read(path)
    if binary is None or _PYTHON.match(path.name):
        mpi = search.of_words(command)
        return Application(name, path, mpi, launcher=search.launcher, certain=False)
    mpi = elf.mpi_library(path, search.environment)
    if mpi or binary.static:
        return Application(name, path, mpi, binary.static)
    mpi = search.of_words(command[1:])
    return Application(name, path, mpi, launcher=search.launcher, certain=False)


def _unusable(name: str) -> SumacError:
    if os.sep in name and os.path.exists(name):
        what = "is a directory" if os.path.isdir(name) else "is not executable"
        fix = _way_to_run(name) if os.path.isfile(name) else ""
        return SumacError("not-executable", f"{name} {what}", fix=fix, code=Exit.NOT_EXECUTABLE)
    found = fix = ""
    if os.path.isfile(name) and os.sep not in name:
        here = f"./{name}"
        if os.access(here, os.X_OK):
            fix = f"{here} names the file in this directory"
        else:
            found, fix = f"{here}, which is not executable", _way_to_run(here)
    what = f"{name} was not found in PATH" if os.sep not in name else f"{name} was not found"
    return SumacError("not-found", what, found=found, fix=fix, code=Exit.NOT_FOUND)


def _way_to_run(file: str) -> str:
    """Of a file that may not be executed: "" where it does not look like a program."""
    if file.endswith(".py"):
        return f"python3 {file}"
    with suppress(OSError), open(file, "rb") as content:
        if content.read(4).startswith((b"#!", b"\x7fELF")):
            return f"chmod +x {file}"
    return ""


@dataclass
class _Search:
    """Finds the first word of a command that leads to an MPI.

    That looks through wrappers (env, nice, numactl -C 0, gdb --args) without knowing their options,
    which are hardly ever names of MPI programs; and it only decides which launcher is tried.
    """

    environment: dict[str, str]
    seen: set[Path] = field(default_factory=set)
    launcher: str = ""  # a line that starts a launcher, or the program that is known to do so

    def executable(self, name: str) -> Path | None:
        found = shutil.which(name, path=self.environment.get("PATH"))
        return Path(found) if found else None

    def of_words(self, words: Iterable[str]) -> elf.MpiLibrary | None:
        for word in words:
            path = self.executable(word)
            if path:
                mpi = self._of_file(path)
            else:
                mpi = self._of_text(word) if _COMMANDS.match(word) else None
                if _ASSIGNMENT.fullmatch(word):  # of env, or in front of a shell's command
                    name, _, value = word.partition("=")
                    self.environment[name] = value
            if mpi:
                return mpi
        return None

    def _of_file(self, path: Path) -> elf.MpiLibrary | None:
        if path in self.seen or len(self.seen) >= _MOST_FILES:
            return None
        self.seen.add(path)
        if _PYTHON.match(path.name):
            return self._of_python(path)
        if elf.read(path):
            return elf.mpi_library(path, self.environment)
        with open(path, "rb") as file:
            text = file.read(_SCRIPT_BYTES).decode(errors="replace")
        if path.name in _STARTING:
            self.launcher = str(path)
        interpreter = text.partition("\n")[0][2:] if text.startswith("#!") else ""
        mpi = self.of_words(interpreter.split())
        return mpi or (None if "python" in interpreter else self._of_text(text))

    def _of_text(self, text: str) -> elf.MpiLibrary | None:
        """The programs in a text of shell commands."""
        if started := _STARTS.search(text):
            self.launcher = started[0].strip()
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            return self.of_words(lexer)
        except ValueError:  # a quotation without an end
            return None

    def _of_python(self, interpreter: Path) -> elf.MpiLibrary | None:
        try:
            answer = subprocess.run(
                [str(interpreter), "-c", _ASK_MPI4PY],
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
                env=self.environment,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        path = Path(answer.stdout.strip())
        family = elf.family_of_soname(path.name) or elf.family_of_soname(path.resolve().name)
        return elf.MpiLibrary(family, path.name, path) if family else None
