# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of jobs, their hosts and what Slurm has allocated, and that jobs of a command end
before it does, whatever their launcher leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sumac_mpi.base import hardware
from sumac_mpi.base.errors import SumacError
from sumac_mpi.launch import hosts, job, processes
from sumac_mpi.launch.hosts import Allocation
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


INTEL = Launcher(Path("/opt/i/bin/mpiexec"), "mpich", "Intel MPI 2021.18")


def test_counts_are_one_where_not_given():
    found = hosts.parse("n1:2,n2.site")
    assert (str(found), found.ranks, found.most_on_one) == ("n1:2,n2.site:1", 3, 2)
    assert hosts.number_of_ranks(None, found) == 3 and hosts.number_of_ranks(2, found) == 2
    assert hosts.parse(None) is None and hosts.number_of_ranks(None, None) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("node[08-10]:2", "node08:2,node09:2,node10:2"),
        ("n[1,3-4]-ib,login", "n1-ib:1,n3-ib:1,n4-ib:1,login:1"),
        ("r[1-2]n[1-2]:4", "r1n1:4,r1n2:4,r2n1:4,r2n2:4"),
        ("n[0-4/2]", "n0:1,n2:1,n4:1"),
    ],
)
def test_ranges_of_hosts(text, found):
    pytest.importorskip("ClusterShell")
    assert str(hosts.parse(text)) == found


def test_ranges_need_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ClusterShell", None)
    monkeypatch.setitem(sys.modules, "ClusterShell.NodeSet", None)
    assert str(hosts.parse("n1,n2:3")) == "n1:1,n2:3"
    with pytest.raises(SumacError) as caught:
        hosts.parse("n[1-2]")
    assert caught.value.code == 3 and "ClusterShell" in caught.value.fix


@pytest.mark.parametrize(
    "text",
    ["", "n1,", "n1:0", "n1:x", "n 1", "n1;reboot", "n[1-", "n[3-1]", "n[x]", "n[]", "@all", "n!m",
     "n[1-9999999]", "n[1-9999][1-9999]"],
)  # fmt: skip
def test_what_is_no_list_of_hosts(text):
    with pytest.raises(SumacError) as caught:
        hosts.parse(text)
    assert caught.value.slug == "bad-value"


@pytest.mark.parametrize(
    ("launcher", "text", "ranks", "options"),
    [
        (OPENMPI, "n1:2,n2:2", 4, "--host n1:2,n2:2 --bind-to core"),
        (OPENMPI, "n1:4,n2", 5, "--host n1:4,n2:1 --oversubscribe --bind-to none"),
        (OPENMPI, "n1,n2", 4, "--host n1:1,n2:1 --oversubscribe --bind-to core"),
        (MPICH, "n1:2,n2:2", 4, "-hosts n1:2,n2:2 -bind-to core"),
        (INTEL, "n1:2,n2:2", 4, "-hosts n1,n2 -ppn 2 -bind-to core"),
    ],
)
def test_how_launchers_are_told(launcher, text, ranks, options):
    wanted = Job(ranks, ["app"], bind=True, hosts=hosts.parse(text))
    assert " ".join(job.command_line(launcher, wanted)[3:-1]) == options


def test_the_binding_of_the_user_stands():
    wanted = Job(2, ["app"], bind=True, extra=["-bind-to", "none"])
    assert job.command_line(MPICH, wanted)[3:-1] == ["-bind-to", "none"]


@pytest.mark.parametrize(("launcher", "text"), [(INTEL, "n1:2,n2"), (OTHER, "n1,n2")])
def test_launchers_that_cannot_be_told(launcher, text):
    with pytest.raises(SumacError) as caught:
        job.command_line(launcher, Job(2, ["app"], hosts=hosts.parse(text)))
    assert caught.value.slug == "bad-value"


def test_bench_over_hosts_passes_options_on(one_mpi, sumac, monkeypatch):
    monkeypatch.setenv("SUMAC_CMA", "off")
    status, _, err = sumac(
        "bench", "allreduce", "--hosts", "n1,n2", "--launcher-arg=--mca", "--launcher-arg=a b"
    )
    assert (status, err) == (0, "")
    (line,) = one_mpi.launched()
    assert line.startswith(
        "mpiexec -n 2 --host n1:1,n2:1 --bind-to core -x SUMAC_ADAPT=off -x SUMAC_CMA=off --mca a b"
    )


def test_run_over_hosts(sandbox, sumac):
    sandbox.add_launcher("mpiexec", "mpich")
    status, out, _ = sumac("run", "--hosts", "n1:2,n2:2", "--dry-run", "--", "echo", "x")
    assert status == 0 and out.startswith("mpiexec -n 4 -hosts n1:2,n2:2 ")


def test_a_file_of_hosts(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# two nodes\na slots=2 max_slots=4\n\nb:3  # the other\nc\n")
    assert str(hosts.read(file)) == "a:2,b:3,c:1"
    for text in ("", "# nothing\n", "a b:c\n/dev/null:x\n"):
        file.write_text(text)
        with pytest.raises(SumacError):
            hosts.read(file)
    file.write_text("a and b\n")
    with pytest.raises(SumacError, match="--hostfile .*: 'and' is not slots=N"):
        hosts.read(file)
    with pytest.raises(SumacError, match="--hostfile .*nowhere"):
        hosts.read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"NTASKS": "4"}, None),
        ({"JOB_ID": "7"}, None),
        ({"JOB_ID": "7", "NTASKS": "4"}, (4, 4, "SLURM_NTASKS=4")),
        ({"JOB_ID": "7", "NTASKS": "5", "JOB_NUM_NODES": "2"}, (5, 3, "SLURM_NTASKS=5")),
        (
            {"JOB_ID": "7", "NTASKS": "11", "JOB_NUM_NODES": "3", "TASKS_PER_NODE": "4(x2),3"},
            (11, 4, "SLURM_NTASKS=11"),
        ),
        (
            {"JOB_ID": "7", "JOB_NUM_NODES": "3", "TASKS_PER_NODE": "3,16(x2)"},
            (35, 16, "SLURM_TASKS_PER_NODE=3,16(x2)"),
        ),
        ({"JOB_ID": "7", "NTASKS": "many", "TASKS_PER_NODE": "x"}, None),
        # A job script that srun has started once; and each of four tasks, which must not start four
        # ranks each.
        ({"JOB_ID": "7", "NTASKS": "4", "STEP_NUM_TASKS": "1"}, (4, 4, "SLURM_NTASKS=4")),
        ({"JOB_ID": "7", "NTASKS": "4", "STEP_NUM_TASKS": "4"}, None),
    ],
)
def test_what_is_allocated(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert hosts.allocation() == (Allocation(*expected) if expected else None)


def test_the_number_of_ranks_is_said(monkeypatch, capsys):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_NTASKS", "6")
    assert hosts.number_of_ranks(None, None) == 6
    assert capsys.readouterr().err == "sumac: 6 ranks, as SLURM_NTASKS=6\n"
    assert hosts.number_of_ranks(2, None) == 2
    assert hosts.number_of_ranks(None, hosts.parse("a:2,b")) == 3
    assert capsys.readouterr().err == ""


# A launcher that leaves a proxy in a session of its own, and a rank below it, when it is ended.
LAUNCHER = 'setsid sh -c "sleep 1000 & echo \\$!; wait" & wait'
LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_ends_with_what_its_launcher_left(monkeypatch, fails):
    if not LISTS_CHILDREN:
        pytest.skip("this kernel does not list a process's children")
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    other = subprocess.Popen(["sleep", "1000"])
    rank = 0
    try:
        with processes.job(["sh", "-c", LAUNCHER], dict(os.environ)) as launcher:
            rank = int(launcher.stdout.readline())
            assert runs(rank)
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert fails
    assert launcher.poll() is not None
    assert not runs(rank)
    assert runs(other.pid), "it is none of the job's"
    other.kill()
    other.wait()


@pytest.mark.parametrize("ends_when_asked", [False, True])
def test_ctrl_c_while_a_launcher_is_being_started(monkeypatch, ends_when_asked):
    if not LISTS_CHILDREN:
        pytest.skip("this kernel does not list a process's children")
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    started = []
    popen = subprocess.Popen

    def interrupted(*arguments, **named):
        started.append(popen(*arguments, **named))
        started[0].stdout.readline()
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    ignore = "" if ends_when_asked else "trap : TERM; "
    command = ["sh", "-c", f"{ignore}echo; while :; do sleep 1; done"]
    with pytest.raises(KeyboardInterrupt), processes.job(command, dict(os.environ)):
        pass
    assert not runs(started[0].pid)
    started[0].stdout.close()
    started[0].poll()
