# SPDX-License-Identifier: BSD-3-Clause
"""The command that `make build` installs, on the real MPIs; SUMAC_TEST_COMMAND names another."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from sumac_mpi import layout

COMMAND = Path(os.environ.get("SUMAC_TEST_COMMAND", Path(__file__).parents[2] / ".venv/bin/sumac"))
INSTALLATION = layout.Installation(COMMAND.parents[1])
FAMILIES = [f for f in INSTALLATION.families("check") if INSTALLATION.back_end(f)]

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")


def sumac(*arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SUMAC_")}
    return subprocess.run(
        [str(COMMAND), *arguments], env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_check_finds_nothing_wrong(family):
    done = sumac("check", "-n", "2", "--mpi", family, "--json")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("collective", ["allreduce", "reduce", "bcast", "barrier"])
def test_bench_results_are_right(family, collective):
    done = sumac("bench", collective, "-n", "2", "--mpi", family, "-e", "1M", "-f", "64",
                 "--seconds", "0.01", "--rounds", "2", "--format", "json")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["header"]["sumac"]["active"]
    assert all(row["wrong"] == 0 and row["sumac"]["p50"] > 0 for row in run["sizes"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("data_type", ["int8", "int64", "double"])
def test_bench_in_place_and_other_types(family, data_type):
    done = sumac("bench", "allreduce", "-n", "3", "--mpi", family, "-b", "64", "-e", "64K",
                 "-f", "32", "-d", data_type, "-o", "max", "--in-place", "--iterations", "3",
                 "--rounds", "1", "--format", "json")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
