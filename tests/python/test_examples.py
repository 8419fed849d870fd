# SPDX-License-Identifier: BSD-3-Clause
"""The examples in Python, with the command that is installed and the real MPIs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_installed import COMMAND, FAMILIES

pytest.importorskip("mpi4py")
pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")
EXAMPLES = Path(__file__).parents[2] / "examples"


def train(family, promote):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    environment |= {"SUMAC_PROMOTE": promote, "OPENBLAS_NUM_THREADS": "1"}
    program = [sys.executable, EXAMPLES / "training/training.py", "--steps=12", "--width=512"]
    done = subprocess.run(
        [COMMAND, "run", "--mpi", family, "-n", "2", *program],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "same on all ranks" in done.stdout, done.stdout
    return re.search(r"loss (\S+), then (\S+)", done.stdout).groups()


@pytest.mark.parametrize("family", FAMILIES)
def test_training_learns_the_same_in_place(family):
    first, last = train(family, "eager")
    assert float(last) < float(first)
    if family == FAMILIES[0]:
        assert train(family, "off") == (first, last)
