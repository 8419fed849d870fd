# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench` over hosts of a lab, which do not pass on the environment, as in a cluster."""

import json
import os
import subprocess

import pytest
from test_installed import COMMAND, FAMILIES

LAB = COMMAND.parents[2] / "scripts/lab"

pytestmark = pytest.mark.skipif(
    "openmpi" not in FAMILIES or not LAB.exists(), reason="no Sumac for Open MPI, or no lab"
)


def lab(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    environment |= {"LAB_NAME": f"test-{os.getpid()}", "SUMAC": str(COMMAND), **variables}
    return subprocess.run(
        [str(LAB), *arguments], env=environment, capture_output=True, text=True, timeout=100
    )


@pytest.fixture
def two_hosts():
    made = lab("up", "2")
    if made.returncode == 3:
        pytest.skip(made.stderr)
    assert made.returncode == 0, made.stderr
    yield
    assert lab("down").returncode == 0


def test_bench_over_two_hosts(two_hosts):
    done = lab("bench", "--mpi", "openmpi", "--hosts", "h0:2,h1:1", "allreduce", "-b", "1K",
               "-e", "256K", "-f", "16", "--seconds", "0.05", "--rounds", "2", "--format", "json",
               LAB_CLEAN="1", SUMAC_CMA="off")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "different SUMAC_ options" not in done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["header"]["ranks"], run["header"]["hosts"]) == (3, 2)
    # A size has a row for each mode of the machine in which it was measured.
    assert len({row["bytes"] for row in run["sizes"]}) == 3
    assert all(row["wrong"] == 0 for row in run["sizes"])
