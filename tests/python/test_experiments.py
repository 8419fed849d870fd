# SPDX-License-Identifier: BSD-3-Clause
"""The programs in Python that want a machine with a GPU or many cores, in small on this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_installed import COMMAND, FAMILIES

pytest.importorskip("mpi4py")
pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")
ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "build/release/tests/devices/cuda/libcuda.so.1"


def run(command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    return subprocess.run(
        command, env=environment | settings, capture_output=True, text=True, timeout=200
    )


def test_training_compares_mpis_and_designs(tmp_path):
    times = tmp_path / "times.json"
    small = ["--sizes", "64", "40000", "--steps", "2", "--calls", "2", "--width", "64"]
    script = [sys.executable, ROOT / "experiments/training/run.py", "--build", COMMAND.parents[1]]
    done = run([*script, "--designs", "sumac", "slots", "--json", times, "--", *small])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| allreduce 40000 |" in done.stdout and "| alltoall 64 |" in done.stdout
    jobs = json.loads(times.read_text())["jobs"]
    assert {"sumac", "slots"} < jobs.keys()
    assert all(job["same"] and len(job["times"]) == 12 for job in jobs.values())


@pytest.mark.skipif(not DRIVER.exists(), reason=f"there is no {DRIVER}")
@pytest.mark.parametrize("family", FAMILIES)
def test_buffers_anywhere_have_the_results_of_numpy(family):
    sweep = [sys.executable, ROOT / "tests/devices/sweep.py", "--cases", "60"]
    settings = {"SUMAC_TEST_CUDA": str(DRIVER), "SUMAC_LATE_DRIVER": "1"}
    done = run([COMMAND, "run", "--mpi", family, "-n", "3", *sweep], **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "180 results, 0 wrong" in done.stdout, done.stdout
