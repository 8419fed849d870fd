# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from sumac_mpi.base import hardware
from sumac_mpi.base.errors import SumacError
from sumac_mpi.launch import job
from sumac_mpi.launch.job import Job
from sumac_mpi.launch.launcher import Launcher

OPENMPI = Launcher(Path("/opt/o/bin/mpiexec"), "openmpi", "Open MPI 4.1.4")
MPICH = Launcher(Path("/opt/m/bin/mpiexec"), "mpich", "MPICH 4.0.2")
OTHER = Launcher(Path("/opt/s/bin/srun"), None, "unknown")


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(hardware, "usable_cores", lambda: 2)


@pytest.mark.parametrize(
    ("launcher", "wanted", "options"),
    [
        (OPENMPI, Job(2, ["app"]), ""),
        (OPENMPI, Job(3, ["app"]), "--oversubscribe"),
        (OPENMPI, Job(1, ["app"], oversubscribe=True), "--oversubscribe"),
        (OPENMPI, Job(2, ["app"], bind=True), "--bind-to core"),
        (OPENMPI, Job(4, ["app"], bind=True), "--oversubscribe --bind-to none"),
        (OPENMPI, Job(2, ["app"], {"A": "b c"}), "-x A=b c"),
        (OPENMPI, Job(2, ["app"], limit=60), "--timeout 60"),
        (OPENMPI, Job(2, ["app"], extra=["-ppn", "1"]), "-N 1"),
        (MPICH, Job(4, ["app"]), ""),
        (MPICH, Job(2, ["app"], extra=["--npernode", "1", "N"]), "-ppn 1 N"),
        (MPICH, Job(2, ["app"], bind=True), "-bind-to core"),
        (MPICH, Job(4, ["app"], bind=True), "-bind-to none"),
        (MPICH, Job(2, ["app"], {"A": "b"}), "-genv A b"),
        (OTHER, Job(9, ["app"], {"A": "b"}, bind=True, extra=["-q"]), "-q"),
    ],
)
def test_command_line(launcher, wanted, options):
    line = job.command_line(launcher, wanted)
    assert line[:3] == [str(launcher.path), "-n", str(wanted.ranks)]
    assert line[-1] == "app"
    assert " ".join(line[3:-1]) == options


@pytest.mark.parametrize(
    ("per_node", "wanted", "options"),
    [
        ("2(x4)", Job(8, ["app"], bind=True), "--bind-to core"),
        ("2(x4)", Job(3, ["app"]), ""),
        ("2(x4)", Job(9, ["app"]), "--oversubscribe"),
        ("4,1", Job(5, ["app"], bind=True), "--oversubscribe --bind-to none"),
    ],
)
def test_an_allocation_is_more_room_than_this_machine(monkeypatch, per_node, wanted, options):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", per_node)
    assert " ".join(job.command_line(OPENMPI, wanted)[3:-1]) == options


def test_the_time_of_a_job():
    assert "MPIEXEC_TIMEOUT" not in job.environment(OPENMPI, Job(2, ["app"], limit=60))
    assert job.environment(MPICH, Job(2, ["app"], limit=60))["MPIEXEC_TIMEOUT"] == "60"
    with pytest.raises(SumacError, match="--timeout 60: no such option of srun is known"):
        job.command_line(OTHER, Job(2, ["app"], limit=60))


def test_root_may_run_open_mpi(monkeypatch):
    monkeypatch.delenv("OMPI_ALLOW_RUN_AS_ROOT", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    wanted = Job(2, ["app"])
    assert job.environment(OPENMPI, wanted)["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    assert "OMPI_ALLOW_RUN_AS_ROOT" not in job.environment(MPICH, wanted)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "OMPI_ALLOW_RUN_AS_ROOT" not in job.environment(OPENMPI, wanted)


def test_unknown_launchers_get_variables_by_the_environment():
    assert job.environment(OTHER, Job(2, ["app"], {"A": "b"}))["A"] == "b"


def test_the_package_is_not_left_in_the_path_of_programs(monkeypatch):
    own = str(Path(job.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", f"{own}:/mine")
    assert job.environment(MPICH, Job(2, ["app"]))["PYTHONPATH"] == "/mine"
    monkeypatch.setenv("PYTHONPATH", own)
    assert "PYTHONPATH" not in job.environment(MPICH, Job(2, ["app"]))
    monkeypatch.setenv("PYTHONPATH", "/mine")
    assert job.environment(MPICH, Job(2, ["app"]))["PYTHONPATH"] == "/mine"
