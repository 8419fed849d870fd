# SPDX-License-Identifier: BSD-3-Clause
"""The time in collectives that SUMAC_RECORD has kept (docs/replay.md has the format)."""

import collections
import pathlib

FORMS = {"blocking": "{}", "nonblocking": "i{}", "persistent": "{}-persistent"}


def times(folder):
    """Of a job: {function, as `sumac bench` names calls: seconds in it, the mean of the ranks}."""
    paths = list(pathlib.Path(folder).glob("rank-*.calls"))
    inside = collections.Counter()
    for path in paths:
        inside.update(_of_rank(path))
    return {name: ns / 1e9 / len(paths) for name, ns in inside.items()}


def _of_rank(path):
    names, of_request = {}, {}
    inside = collections.Counter()
    for line in path.open(encoding="ascii", errors="replace"):
        kind, *words = line.split()
        if kind == "s":
            names[words[0]] = FORMS[words[2]].format(words[1])
        elif kind in ("b", "i"):
            inside[names[words[0]]] += int(words[-1])
        if kind in ("i", "p"):
            of_request[words[1]] = names[words[0]]
        elif kind in ("g", "w"):  # several requests may be of several calls
            for request in words[:-2]:
                inside[of_request.get(request, "others")] += int(words[-1]) / len(words[:-2])
    return inside
