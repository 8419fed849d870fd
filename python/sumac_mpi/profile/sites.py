# SPDX-License-Identifier: BSD-3-Clause
"""Places in a program as people know them: a function, with its file and line where the program was
compiled with them, or else the object file and the offset in it."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from sumac_mpi.profile.files import Site

_SECONDS = 60


def names(sites: Iterable[Site]) -> dict[Site, str]:
    """What each site is called: "solve() cg.c:42 in cg", "ddot in libblas.so.3", "app+0x1f30"."""
    by_object: dict[str, list[Site]] = defaultdict(list)
    for site in set(sites):
        by_object[site.object].append(site)
    found: dict[Site, str] = {}
    for path, members in by_object.items():
        places = _places(path, [_address_in_file(path, site) for site in members])
        for site, place in zip(members, places):
            found[site] = _name(site, place)
    return found


def _name(site: Site, place: str) -> str:
    if not site.object:
        return hex(site.address)
    name = Path(site.object).name
    if place:
        return f"{place} in {name}"
    if site.symbol:
        return f"{site.symbol} in {name}"
    return f"{name}+{site.address - site.base:#x}"


def _address_in_file(path: str, site: Site) -> int:
    """Of the call, which is before the address that it returns to."""
    fixed = False
    try:
        with Path(path).open("rb") as file:
            fixed = ELFFile(file)["e_type"] == "ET_EXEC"
    except (OSError, ELFError):
        pass
    return site.address - (0 if fixed else site.base) - 1


def _places(path: str, addresses: list[int]) -> list[str]:
    """By addr2line, of binutils: "function file:line", or what is known of it; empty where nothing
    is."""
    line = ["addr2line", "-f", "-C", "-e", path, *map(hex, addresses)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return [""] * len(addresses)
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(addresses):
        return [""] * len(addresses)
    return [_place(function, place) for function, place in zip(lines[::2], lines[1::2])]


def _place(function: str, place: str) -> str:
    known = [] if function == "??" else [function]
    file, _, number = place.split(" (")[0].rpartition(":")
    if file != "??" and number.isdigit() and number != "0":
        known.append(f"{Path(file).name}:{number}")
    return " ".join(known)
