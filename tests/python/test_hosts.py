# SPDX-License-Identifier: BSD-3-Clause
import sys
from pathlib import Path

import pytest
import records
from sumac_mpi.base import hardware
from sumac_mpi.base.errors import SumacError
from sumac_mpi.launch import hosts, job
from sumac_mpi.launch.job import Job
from sumac_mpi.launch.launcher import Launcher

OPENMPI = Launcher(Path("/opt/o/bin/mpiexec"), "openmpi", "Open MPI 4.1.4")
MPICH = Launcher(Path("/opt/m/bin/mpiexec"), "mpich", "MPICH 4.0.2")
INTEL = Launcher(Path("/opt/i/bin/mpiexec"), "mpich", "Intel MPI 2021.18")
OTHER = Launcher(Path("/opt/s/bin/srun"), None, "unknown")


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(hardware, "usable_cores", lambda: 2)


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


def test_bench_over_hosts_passes_options_on(sandbox, sumac, monkeypatch):
    monkeypatch.setenv("SUMAC_CMA", "off")
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("bench", "openmpi", records.session())
    status, _, err = sumac(
        "bench", "allreduce", "--hosts", "n1,n2", "--launcher-arg=--mca", "--launcher-arg=a b"
    )
    assert (status, err) == (0, "")
    (line,) = sandbox.launched()
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
