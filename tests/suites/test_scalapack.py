# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK's own testers: factorisations and solvers on grids of processes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jobs import Job, compare, needs

PACKAGE = "scalapack-mpi-test"
DATA = Path("/usr/share/scalapack")
# Test programs, and the names of their input files.
TESTERS = {"xdlu": "LU", "xdqr": "QR", "xdllt": "LLT", "xzlu": "LU"}
# The lines that give the number of values in the next lines: fewer values are enough.
COUNT = re.compile(r"^\d+(\s+number of .*)$", re.MULTILINE | re.IGNORECASE)
# Iterative refinement ends when a rank's own bound of the error says so. Ranks whose BLAS rounds
# differently, as OpenBLAS does by the places of its data, then wait for one another for ever,
# without Sumac as well.
REFINEMENT = re.compile(r"^T(\s+\(T or F\).*Iter\. Ref\..*)$", re.MULTILINE)
ROW = re.compile(r"^\s*(?:WALL|CPU)\s.*\b(?:PASSED|FAILED)\b.*$", re.MULTILINE)
FLOAT = re.compile(r"-?\d*\.\d*(?:E[-+]\d+)?$")


def verdicts(output: str) -> list[str]:
    """The rows of results without measured values: times, which come before the verdict, and
    residuals, which come after it."""
    facts = []
    for row in ROW.findall(output):
        parameters, verdict, residual = re.split(r"\b(PASSED|FAILED)\b", row, maxsplit=1)
        words = [word for word in parameters.split() if not FLOAT.match(word)]
        facts.append(" ".join([*words, verdict, *residual.split()]))
    return facts


@pytest.mark.parametrize("tester", TESTERS)
def test_tester(tester, family, tmp_path, record_property):
    folder = needs(f"/usr/lib/x86_64-linux-gnu/scalapack/{family}-tests", PACKAGE)
    name = f"{TESTERS[tester]}.dat"
    text = needs(str(DATA / name), PACKAGE).read_text(encoding="utf-8")
    text = REFINEMENT.sub(r"F\1", COUNT.sub(r"2\1", text))
    (tmp_path / name).write_text(text, encoding="utf-8")
    job = Job(family, 4, [folder / tester], tmp_path)
    compare(job, verdicts, record_property, least=4)
