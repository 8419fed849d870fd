# SPDX-License-Identifier: BSD-3-Clause
"""The usual options of launchers, which commands that start programs understand or pass on."""

from __future__ import annotations

from collections.abc import Iterator

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
}
_VARIABLES = ("env", "genv")
# The number of ranks on each node: one launcher's name for it is an error to the other.
_PER_NODE = {"openmpi": "-N", "mpich": "-ppn"}
_NAMES_PER_NODE = ("N", "npernode", "ppn", "perhost")


def as_own(word: str, rest: Iterator[str]) -> list[str] | None:
    """The word, which may be a launcher's option, and its values, which are taken from the rest, as
    options of Sumac's commands; None for any other word."""
    bare, equals, _ = word.lstrip("-").partition("=")
    if word == bare or word == "--":
        return None
    if bare in _PASSED:
        values = [next(rest, "") for _ in range(0 if equals else _PASSED[bare])]
        return [f"--launcher-arg={each}" for each in (word, *values)]
    if bare in _VARIABLES and not equals:
        return ["-x", f"{next(rest, '')}={next(rest, '')}"]
    return [_OWN[bare], next(rest, "")] if bare in _OWN and not equals else None


def of_family(words: list[str], family: str | None) -> list[str]:
    """Words for the launcher, with the number of ranks on each node as this family calls it."""
    own = _PER_NODE.get(family or "")
    named = [word.startswith("-") and word.lstrip("-") in _NAMES_PER_NODE for word in words]
    return [own if own and is_it else word for word, is_it in zip(words, named, strict=True)]
