# SPDX-License-Identifier: BSD-3-Clause
"""The HPC Challenge benchmark on small matrices: what it says of its results, not of its times."""

from __future__ import annotations

import re

import pytest
from jobs import Job, compare, needs

EXAMPLE = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# Line of the input -> its beginning.
SMALL = {5: "64 ", 7: "16 "}  # problem and block size
VERDICT = re.compile(
    "^.*(?:PASSED|FAILED|Success=|ailure|Node.s. with error|errors in|tests completed).*$",
    re.MULTILINE,
)
# PTRANS': parameters, a time, the verdict, a speed, the residual. By processor time it has no line
# where that is too short to be seen.
TIMED = re.compile(r"^WALL (.*) [\d.]+ +(PASSED|FAILED) +[\d.]+ +([\d.]+)$")


def verdicts(output: str) -> list[str]:
    # HPL's residuals depend on which message comes first; it says itself whether they are right.
    lines = (line for line in VERDICT.findall(output) if not line.startswith("CPU "))
    found = (re.sub(r"=\s+[\d.e+-]+ \.+", "=", line) for line in lines)
    return [TIMED.sub(r"\1 \2 \3", line) for line in found]


@pytest.mark.parametrize("ranks", [2, 4])
def test_hpcc(ranks, tmp_path, record_property):
    program = needs("hpcc", "hpcc")
    lines = needs(EXAMPLE, "hpcc").read_text(encoding="utf-8").splitlines()
    for number, value in SMALL.items():
        lines[number] = value + lines[number]
    lines[10], lines[11] = f"{ranks // 2} Ps", "2 Qs"
    (tmp_path / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = tmp_path / "hpccoutf.txt"

    def facts(_: str) -> list[str]:
        found = verdicts(result.read_text(encoding="utf-8"))
        result.unlink()  # the program would add to it
        return found

    compare(Job("openmpi", ranks, [program], tmp_path), facts, record_property, least=5)
