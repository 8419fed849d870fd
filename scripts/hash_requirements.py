#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the hashes of wheels into python/requirements*.txt, after a version there has changed.

Usage: scripts/hash_requirements.py [FILE...]
pip downloads the wheels of every package for the Pythons and processors below, and installs none.
'make install' and 'make setup' then take these wheels and no others.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "python").glob("requirements*.txt"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = ("x86_64", "aarch64")
# From the C library of Debian 12 down to the oldest that wheels are made for.
SYSTEMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
PINNED = re.compile(r"([\w-]+)==([\w.]+)")


def download(pins, folder):
    for python in PYTHONS:
        for processor in PROCESSORS:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
            command += [folder, "--only-binary", ":all:", "--python-version", python]
            for system in SYSTEMS:
                command += ["--platform", f"{system}_{processor}"]
            subprocess.run([*command, *pins], check=True)


def hashes_of(pin, wheels):
    name, version = PINNED.fullmatch(pin).groups()
    start = f"{name.replace('-', '_')}-{version}-".lower()
    found = [wheel for wheel in wheels if wheel.name.lower().startswith(start)]
    if not found:
        sys.exit(f"hash_requirements: no wheel of {pin}")
    return sorted(hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in found)


def hashed(text, wheels):
    """The text of a file with the hashes below each package."""
    lines = []
    for line in text.splitlines():
        pin = PINNED.match(line)
        if pin:
            hashes = (f"    --hash=sha256:{each}" for each in hashes_of(pin[0], wheels))
            lines.append(" \\\n".join([pin[0], *hashes]))
        elif not line.startswith(" "):
            lines.append(line)
    return "\n".join(lines) + "\n"


def main(files):
    for file in files:
        text = file.read_text()
        with tempfile.TemporaryDirectory(prefix="sumac-wheels-") as folder:
            download([each[0] for each in re.finditer(rf"^{PINNED.pattern}", text, re.M)], folder)
            file.write_text(hashed(text, list(Path(folder).iterdir())))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or FILES)
