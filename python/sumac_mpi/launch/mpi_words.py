# SPDX-License-Identifier: BSD-3-Clause
"""Words of other command lines that Sumac's commands understand: the names that users give their
MPI, with the family (binary interface) of each, and the usual options of launchers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sumac_mpi.base import errors

# Of each option that is passed on, without its dashes, the number of its values. MPICH's launcher
# and Open MPI's accept these with one dash and with two.
_PASSED = {
    **dict.fromkeys(("map-by", "bind-to", "rank-by", "rankfile", "rf", "N", "npernode"), 1),
    **dict.fromkeys(("ppn", "perhost", "wdir", "wd", "path", "prefix", "iface", "rmk"), 1),
    **dict.fromkeys(("genvlist", "envlist", "output-filename", "outfile-pattern"), 1),
    **dict.fromkeys(("mca", "gmca", "prtemca", "pmixmca"), 2),
    **dict.fromkeys(("v", "verbose", "q", "quiet", "l", "prepend-rank", "tag-output"), 0),
    **dict.fromkeys(("report-bindings", "display-map", "use-hwthread-cpus", "nooversubscribe"), 0),
}
_OWN = {
    **dict.fromkeys(("f", "hostfile", "machinefile"), "--hostfile"),
    **dict.fromkeys(("H", "host", "hosts"), "--hosts"),
    **dict.fromkeys(("n", "np"), "-n"),
}
_VARIABLES = ("env", "genv")
ALL = "all"  # of --mpi: each MPI that can be started here
# The number of ranks on each node: one launcher's name for it is an error to the other.
_PER_NODE = {"openmpi": "-N", "mpich": "-ppn"}
_NAMES_PER_NODE = ("N", "npernode", "ppn", "perhost")


def as_own(word: str, rest: Iterator[str]) -> list[str] | None:
    """The word, which may be a launcher's option, and its values, which are taken from the rest, as
    options of Sumac's commands; None for any other word."""
    bare, equals, value = word.lstrip("-").partition("=")
    if word == bare or word == "--":
        return None
    if bare in _PASSED:
        values = [next(rest, "") for _ in range(0 if equals else _PASSED[bare])]
        return [f"--launcher-arg={each}" for each in (word, *values)]
    if bare in _VARIABLES and not equals:
        return ["-x", f"{next(rest, '')}={next(rest, '')}"]
    return [_OWN[bare], value if equals else next(rest, "")] if bare in _OWN else None


def of_family(words: list[str], family: str | None) -> list[str]:
    """Words for the launcher, with the number of ranks on each node as this family calls it."""
    own = _PER_NODE.get(family or "")
    named = [word.startswith("-") and word.lstrip("-") in _NAMES_PER_NODE for word in words]
    return [own if own and is_it else word for word, is_it in zip(words, named, strict=True)]


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
    raise errors.unknown(f"--mpi {text}: no MPI that is known by this name", bare, _FAMILY_OF)


def near(text: str) -> str:
    """ "did you mean openmpi?", or nothing where no name is near."""
    advice = errors.advice(_bare(text), _FAMILY_OF)
    return advice if advice.startswith("did") else ""


def check(text: str) -> None:
    """Raises a usage error for a value of --mpi that is neither `all` nor a known name."""
    if text != ALL:
        family_of(text)


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
