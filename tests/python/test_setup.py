# SPDX-License-Identifier: BSD-3-Clause
"""Set-up names the packages that are missing by the names of the system that it runs on."""

from __future__ import annotations

import os
import subprocess

import pytest
from installing import ROOT

PACKAGES = ROOT / "scripts/debian-packages.txt"
ROWS = [line.split("#")[0].strip() for line in PACKAGES.read_text().splitlines()]
NAMES = [row.split("|") for row in ROWS if row and not row.startswith("[")]
SEVERAL = [names for names in NAMES if len(names) > 1]


def missing(folder, installed, known):
    """What setup_packages.sh --all names as missing, for a user who may not install it."""
    programs = {
        "dpkg-query": f"printf '%s installed\\n' {' '.join(installed)}",
        "apt-cache": f'case " {" ".join(known)} " in *" $2 "*) echo "  Candidate: 1" ;; esac',
        "apt-get": "exit 1",
        "sudo": "exit 1",
        "id": "echo 1000",
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [ROOT / "scripts/setup_packages.sh", "--all"],
        env={"PATH": f"{folder}:{os.environ['PATH']}", "SUDO": "no"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (3 if done.stdout else 0), done.stderr
    return done.stdout.rpartition(":")[2].split()


def test_one_name_of_each_package_is_enough(tmp_path):
    for chosen in (0, -1):
        assert missing(tmp_path, [names[chosen] for names in NAMES], known=[]) == []


def test_missing_packages_have_the_names_that_the_system_knows(tmp_path):
    assert SEVERAL
    for chosen in (0, -1):
        known = [names[chosen] for names in NAMES]
        assert missing(tmp_path, ["bash"], known) == known


def test_without_package_lists_the_first_name_is_taken(tmp_path):
    assert missing(tmp_path, ["bash"], known=[]) == [names[0] for names in NAMES]


@pytest.mark.parametrize(
    "release, package",
    [
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install python3.11"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "zypper install python311"),
        ("ID=ubuntu\nID_LIKE=debian\n", "apt-get install python3.11-venv"),
        ("ID=debian\n", "apt-get install python3-venv"),
    ],
)
def test_a_python_that_is_missing_is_named_as_the_system_does(tmp_path, release, package):
    (tmp_path / "os-release").write_text(release)
    done = subprocess.run(
        [ROOT / "scripts/find_python.sh", tmp_path / "os-release"],
        env={"PATH": os.environ["PATH"], "PYTHON": "no-such-python"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert package in done.stderr
