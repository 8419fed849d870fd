# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS' melt example: compares the printed energies and pressures of a Lennard-Jones liquid."""

from __future__ import annotations

import re

import pytest
from jobs import Job, compare, needs

TABLE = re.compile(r"^\s*Step .*?^(?=Loop time)", re.MULTILINE | re.DOTALL)
ENERGIES = re.compile(
    r"^(Histogram|Total # of neighbors|Ave neighs/atom|Dangerous).*", re.MULTILINE
)


def energies(output: str) -> list[str]:
    rows = [line for table in TABLE.findall(output) for line in table.splitlines()]
    return [" ".join(row.split()) for row in rows] + [
        match.group() for match in ENERGIES.finditer(output)
    ]


@pytest.mark.parametrize("ranks", [2, 3])
def test_melt(ranks, tmp_path, record_property):
    program = needs("lmp", "lammps")
    melt = needs("/usr/share/lammps/examples/melt/in.melt", "lammps-examples")
    job = Job("openmpi", ranks, [program, "-in", melt, "-log", "none"], tmp_path)
    compare(job, energies, record_property, least=6)
