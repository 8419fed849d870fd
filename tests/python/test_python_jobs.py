# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of programs in Python, with the command that is installed and the real MPIs; and `sumac
bench` over hosts of a lab, which do not pass on the environment, as in a cluster."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from installed import (
    BUILD,
    COMMAND,
    FAMILIES,
    INSTALLATION,
    ROOT,
    needs_command,
    output_of,
    run,
    sumac,
)

pytestmark = needs_command
DRIVER = BUILD / "tests/devices/cuda/libcuda.so.1"
PACKAGE = INSTALLATION.root / "lib/sumac/python"
LAB = ROOT / "scripts/lab"


@pytest.fixture
def numpy():
    """The test is skipped where programs have no mpi4py or no numpy."""
    pytest.importorskip("mpi4py")
    pytest.importorskip("numpy")


def train(family, promote):
    program = [sys.executable, ROOT / "examples/training/training.py", "--steps=12", "--width=512"]
    settings = {"SUMAC_PROMOTE": promote, "OPENBLAS_NUM_THREADS": "1"}
    told = output_of(sumac("run", "--mpi", family, "-n", "2", *program, **settings))
    assert "same on all ranks" in told, told
    return re.search(r"loss (\S+), then (\S+)", told).groups()


@pytest.mark.parametrize("family", FAMILIES)
def test_training_learns_the_same_in_place(numpy, family):
    first, last = train(family, "eager")
    assert float(last) < float(first)
    if family == FAMILIES[0]:
        assert train(family, "off") == (first, last)


def test_training_compares_mpis_and_designs(numpy, tmp_path):
    times = tmp_path / "times.json"
    small = ["--sizes", "64", "40000", "--steps", "2", "--calls", "2", "--width", "64"]
    script = [sys.executable, ROOT / "experiments/training/run.py", "--build", INSTALLATION.root]
    told = output_of(run(*script, "--designs", "sumac", "slots", "--json", times, "--", *small))
    assert "| allreduce 40000 |" in told and "| alltoall 64 |" in told
    jobs = json.loads(times.read_text())["jobs"]
    assert {"sumac", "slots"} < jobs.keys()
    assert all(job["same"] and len(job["times"]) == 12 for job in jobs.values())


@pytest.mark.skipif(not DRIVER.exists(), reason=f"there is no {DRIVER}")
@pytest.mark.parametrize("family", FAMILIES)
def test_buffers_anywhere_have_the_results_of_numpy(numpy, family):
    sweep = [sys.executable, ROOT / "tests/devices/sweep.py", "--cases", "60"]
    settings = {"SUMAC_TEST_CUDA": str(DRIVER), "SUMAC_LATE_DRIVER": "1"}
    told = output_of(sumac("run", "--mpi", family, "-n", "3", *sweep, **settings))
    assert "180 results, 0 wrong" in told, told


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("how", ["enable", "late", "without", "exec"])
def test_sumac_from_within(numpy, family, how):
    """What Python programs use of Sumac, put in front by themselves, or by `sumac exec`."""
    front = [COMMAND, "exec", "--"] if how == "exec" else []
    program = [sys.executable, Path(__file__).parent / "in_process.py", how]
    settings = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PYTHONPATH": str(PACKAGE),
                "SUMAC_ADAPT": "off", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    told = output_of(run(f"mpiexec.{family}", "-n", "2", *front, *program, **settings))
    assert "right 2" in told, told


def lab(*arguments, **variables):
    own = {"LAB_NAME": f"test-{os.getpid()}", "SUMAC": str(COMMAND)}
    return run(LAB, *arguments, seconds=100, **(own | variables))


@pytest.fixture
def two_hosts():
    if "openmpi" not in FAMILIES or not LAB.exists():
        pytest.skip("no Sumac for Open MPI, or no lab")
    made = lab("up", "2")
    if made.returncode == 3:
        pytest.skip(made.stderr)
    output_of(made)
    yield
    output_of(lab("down"))


def test_bench_over_two_hosts(two_hosts):
    done = lab("bench", "--mpi", "openmpi", "--hosts", "h0:2,h1:1", "allreduce", "-b", "1K",
               "-e", "256K", "-f", "16", "--seconds", "0.05", "--rounds", "2", "--format", "json",
               LAB_CLEAN="1", SUMAC_CMA="off")  # fmt: skip
    told = output_of(done)
    assert "different SUMAC_ options" not in told + done.stderr
    (measured,) = json.loads(told)["runs"]
    assert (measured["header"]["ranks"], measured["header"]["hosts"]) == (3, 2)
    # A size has a row for each mode of the machine in which it was measured.
    assert len({row["bytes"] for row in measured["sizes"]}) == 3
    assert all(row["wrong"] == 0 for row in measured["sizes"])
