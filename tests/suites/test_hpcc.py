# SPDX-License-Identifier: BSD-3-Clause
"""The HPC Challenge benchmark on small matrices: compares its verdicts, not its times."""

from __future__ import annotations

import re

import pytest
from jobs import Job, compare, needs

EXAMPLE = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# Line numbers of the input, and the values put at the beginning of these lines.
SMALL = {5: "64 ", 7: "16 "}  # problem and block size
VERDICT = re.compile(
    "^.*(?:PASSED|FAILED|Success=|ailure|Node.s. with error|errors in|tests completed).*$",
    re.MULTILINE,
)
# PTRANS prints parameters, a time, the verdict, a speed and the residual. It prints no line for
# processor time if that is too short to be measured.
TIMED = re.compile(r"^WALL (.*) [\d.]+ +(PASSED|FAILED) +[\d.]+ +([\d.]+)$")


def verdicts(output: str) -> list[str]:
    # HPL's residuals depend on the order of messages, and HPL prints itself whether they are small
    # enough.
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
