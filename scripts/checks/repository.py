# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the repository checks: the list of files, and the output of findings."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*patterns):
    """The files of the repository that match: tracked, and new ones that are not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run(
        [*command, *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    paths = (ROOT / name for name in sorted(set(listed.split("\0"))) if name)
    return [path for path in paths if path.is_file()]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def finish(findings):
    """Prints the findings, one a line, and ends the program: 1 when there were any."""
    for finding in findings:
        print(finding)
    sys.exit(bool(findings))
