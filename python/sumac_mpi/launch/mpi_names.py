# SPDX-License-Identifier: BSD-3-Clause
"""The names that users give their MPI, and the family (binary interface) that it belongs to."""

from __future__ import annotations

import re

from sumac_mpi.base import choices

# Written without separators and version: `Open-MPI_5.0` is looked up as `openmpi`.
_FAMILIES = {
    "openmpi": ("openmpi", "ompi", "orte", "prrte", "hpcx"),
    "mpich": (
        *("mpich", "hydra", "mvapich", "parastation", "psmpi"),
        *("intel", "intelmpi", "impi", "oneapi", "cray", "craympich"),
    ),
    "mpiabi": ("mpiabi", "abi"),
}
_FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names}
_VERSION = re.compile(r"[\d.]+$")
# What launchers call these MPIs. Those that were made from them call themselves anything.
_PRINTED = {
    "Open MPI": ("openmpi", "ompi"),
    "MPICH": ("mpich", "hydra"),
    "Intel MPI": ("intel", "intelmpi", "impi", "oneapi"),
}


def _bare(text: str) -> str:
    return _VERSION.sub("", re.sub(r"[-_ /]", "", text.lower()))


def is_known(text: str) -> bool:
    return _bare(text) in _FAMILY_OF


def family_of(text: str) -> str:
    """Raises a usage error for a name that is not known."""
    bare = _bare(text)
    if bare in _FAMILY_OF:
        return _FAMILY_OF[bare]
    raise choices.unknown(f"--mpi {text}: no MPI that is known by this name", bare, _FAMILY_OF)


def contradicts(wanted: str, version: str) -> bool:
    """Whether an MPI whose launcher calls itself `version`, as in "MPICH 4.0.2", is not the one
    that the wanted, known name means. A family's name without a number is any of the family."""
    bare = _bare(wanted)
    printed = next((text for text, names in _PRINTED.items() if bare in names), None)
    number = _VERSION.search(wanted)
    if printed is None or not any(version.startswith(text) for text in _PRINTED):
        return False
    if number is None and printed != "Intel MPI":
        return False
    if not version.startswith(printed):
        return True
    parts = number[0].strip(".").split(".") if number else []
    return parts != version.removeprefix(printed).strip().split(".")[: len(parts)]
