# SPDX-License-Identifier: BSD-3-Clause
"""Temporary installations of the build by the program of `make install`, if possible as a user
other than root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from installed import BUILD, ROOT

PATH = "/usr/bin:/bin"
# pip finds no index, and ends at once.
NO_INDEX = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}
_SETTINGS = ("PIP_", "SSL_", "REQUESTS_", "http_", "https_", "HTTP_", "HTTPS_", "no_", "NO_")


class User:
    """The owner of installations: the user nobody, if root runs the tests and others may read the
    source; else the user who runs the tests. Has a folder of its own that all users may enter."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sumac-test-"))
        self.folder.chmod(0o755)
        self.prefix: list[str] = []
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        if os.getuid() == 0 and shutil.which("setpriv"):
            readable = ["test", "-r", str(BUILD / "cmake_install.cmake")]
            if subprocess.run([*nobody, *readable], cwd="/", check=False).returncode == 0:
                self.prefix = nobody
                os.chown(self.folder, 65534, 65534)
                # CMake writes this file into the build folder, whichever user installs.
                manifest = BUILD / "install_manifest.txt"
                manifest.touch()
                manifest.chmod(0o666)

    @property
    def is_root(self) -> bool:
        return os.getuid() == 0 and not self.prefix

    def run(self, *command: object, cwd: object = "/", **variables: str):
        """Runs a command in an environment of PATH and the given variables only."""
        environment = {"PATH": PATH} | variables
        if self.is_root:
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            [*self.prefix, *map(str, command)], cwd=str(cwd), env=environment, timeout=900,
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def script(self, name: str, *arguments: object, **variables: str):
        """Runs scripts/<name> with pip's settings from this environment."""
        settings = {k: v for k, v in os.environ.items() if k.startswith(_SETTINGS)}
        home = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        return self.run("/usr/bin/env", sys.executable, "-E", ROOT / "scripts" / name, *arguments,
                        **(home | settings | variables))  # fmt: skip


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
