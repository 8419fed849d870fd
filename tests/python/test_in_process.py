# SPDX-License-Identifier: BSD-3-Clause
"""What Python programs use of Sumac from within, in jobs of the package that is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installing import ROOT

VENV = ROOT / ".venv"
PACKAGE = VENV / "lib/sumac/python"
FAMILIES = [family for family in ("openmpi", "mpich") if shutil.which(f"mpiexec.{family}")]

pytestmark = pytest.mark.skipif(not PACKAGE.exists(), reason="make build has built nothing")


def run(family, how, *front):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_rmaps_base_oversubscribe": "1", "PYTHONPATH": str(PACKAGE),
                    "SUMAC_ADAPT": "off", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    program = [sys.executable, Path(__file__).parent / "in_process.py", how]
    done = subprocess.run(
        list(map(str, [f"mpiexec.{family}", "-n", "2", *front, *program])),
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0 and "right 2" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("how", ["enable", "late", "without"])
def test_from_within(family, how):
    run(family, how)


@pytest.mark.parametrize("family", FAMILIES)
def test_behind_sumac_exec(family):
    run(family, "exec", VENV / "bin/sumac", "exec", "--")
