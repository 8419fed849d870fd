# SPDX-License-Identifier: BSD-3-Clause
"""`sumac simulate`: descriptions of clusters, platforms, and small simulations."""

import json
import re
import shutil
import sys

import pytest
from conftest import script
from installed import BUILD, COMMAND, needs_command, sumac
from sumac_mpi.base.errors import SumacError
from sumac_mpi.simulate import cluster, measure, platform, request, smpi

SMALL = """
title = "small"
nodes = 4
[node]
sockets = 2
cores = 2
fold_gb = 10
memory = { latency_us = 0.25, bandwidth_gb = 8, all_gb = 60 }
between_sockets = { latency_us = 0.4, bandwidth_gb = 30 }
[network]
topology = "switch"
latency_us = 0.5
bandwidth_gb = 12.5
"""


@pytest.mark.parametrize("name", cluster.names())
def test_shipped_clusters_are_understood(name):
    found = cluster.load(name)
    text = platform.xml(found)
    hosts = set(re.findall(r'<host id="(\w+)"', text))
    assert {each for each, _, _ in platform.hosts(found)} == hosts
    # Every link of a route is there, and every pair of nodes has one.
    links = set(re.findall(r'<link id="(\w+)"', text))
    assert set(re.findall(r'<link_ctn id="(\w+)"', text)) == links
    assert text.count("<zoneRoute") == found.nodes * (found.nodes - 1)
    assert len(platform.places(found, found.ranks)) == found.ranks


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nodes = 4", "node_s = 4", "unknown key 'node_s'"),
        ("nodes = 4", "", "'nodes' is missing"),
        ("nodes = 4", "nodes = 0", "at least 1"),
        ("cores = 2", "cores = 2.5", "whole number"),
        ("fold_gb = 10", "fold_gb = -1", "not less than 0"),
        ('"switch"', '"hypercube"', "hypercube"),
        ('"switch"', '"fat-tree"', "uplinks"),
        ("bandwidth_gb = 12.5", "bandwidth_gb = 0", "bandwidth"),
        ("between_sockets", "# ", "between_sockets"),
        ("[node]", "[node", "small.toml"),
        ("memory = {", "memory = 3 # {", "memory is a table"),
    ],
)
def test_descriptions_with_errors(tmp_path, old, new, says):
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(SumacError, match=re.escape(says)) as raised:
        cluster.load(str(path))
    assert raised.value.code == 2


def test_no_such_cluster():
    with pytest.raises(SumacError, match="CLUSTER fattree: no file, and not known") as raised:
        cluster.load("fattree")
    assert "fat-tree" in raised.value.fix


@pytest.mark.parametrize(("nodes", "sides"), [(64, [4, 4, 4]), (32, [4, 4, 2]), (7, [7, 1, 1])])
def test_sides_of_a_torus(nodes, sides):
    found = platform.torus_sides(nodes, 3)
    assert sorted(found) == sorted(sides)


def test_ways_through_a_torus():
    """As many links as the shorter ways round are long, and the reverse way as many."""
    torus = cluster.load("torus")
    for source in range(0, 64, 5):
        for target in range(0, 64, 3):
            if source == target:
                continue
            hops = 0
            for stride in (1, 4, 16):
                apart = abs(source // stride % 4 - target // stride % 4)
                hops += min(apart, 4 - apart)
            assert len(platform._torus(torus, source, target)) == hops + 2


def test_ranks_and_nodes():
    found = cluster.load("coprocessors")
    fewer, ranks = request.fitted(found, 64)
    assert (fewer.nodes, ranks) == (2, 64)
    places = platform.places(fewer, ranks)
    assert places[0] == (0, -1, -1) and places[16] == (2, -1, 0) and places[63] == (3, -1, 1)
    with pytest.raises(SumacError, match="1024 ranks"):
        request.fitted(found, 1025)


@needs_command
def test_without_smpirun(tmp_path):
    """Status 3, before anything else is looked at."""
    script(tmp_path / "python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    done = sumac("simulate", "switch", PATH=str(tmp_path))
    assert done.returncode == 3 and "error[no-simgrid]" in done.stderr


simulates = pytest.mark.skipif(
    not (COMMAND.exists() and shutil.which("smpirun")), reason="no SimGrid"
)


def simulate(*arguments, status=0):
    done = sumac("simulate", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout if status == 0 else done.stderr


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@simulates
def test_two_runs_give_the_same_digits(small):
    line = (small, "allreduce", "--sizes", "8,8K,256K", "--against", "ompi", "--json")
    first, second = simulate(*line), simulate(*line)
    assert first == second
    found = json.loads(first)
    assert set(found["us"]) == {"sumac", "ompi"} and not found["wrong"]
    assert all(us > 0 for way in found["us"].values() for us in way.values())
    assert "node x" in found["plans"]["8192"]


@simulates
@pytest.mark.parametrize("collective", ["allreduce", "bcast", "reduce"])
def test_the_first_call_of_a_job_is_not_what_is_measured(small, collective):
    """SMPI prepares in it; a size alone takes as long as after another."""
    rest = ("--against", "ompi,mvapich2", "--json")
    alone = json.loads(simulate(small, collective, "--sizes", "128K", *rest))
    after = json.loads(simulate(small, collective, "--sizes", "8,128K", *rest))
    for way, of in alone["us"].items():
        assert of["131072"] == pytest.approx(after["us"][way]["131072"], rel=0.02)


@pytest.mark.parametrize(("way", "over"), [("sumac", None), ("ompi", False)])
def test_a_simulation_that_ends_early(monkeypatch, small, way, over):
    """SimGrid ends a deadlock with status 0."""
    asked = request.Request(cluster.load(str(small)), 16, "reduce", (8, 64), ("ompi",))
    told = {"bytes": 8, "us": 1.0, "wrong": 0, "plan": ""}
    monkeypatch.setattr(smpi, "run", lambda *given: given[-1](told))
    if over is None:
        with pytest.raises(SumacError, match="before its last call"):
            measure.records(asked, way, 1, lambda _: None)
    else:
        assert measure.records(asked, way, 1, lambda _: None) == ([told], over)


@simulates
@pytest.mark.parametrize("ranks", [96, pytest.param(512, marks=pytest.mark.slow)])
def test_messages_that_wait_for_others_make_no_deadlock(ranks):
    """Ranks post receives of chunks in another order than their peers send them."""
    sizes = ("--sizes", "8,1K,4K,16K,64K,1M")
    found = json.loads(simulate("torus", "reduce", "-n", ranks, *sizes, "--against", "", "--json"))
    assert not found["wrong"] and len(found["us"]["sumac"]) == 6


@simulates
def test_chunks_to_a_peer_follow_one_another(tmp_path):
    """Along a chain of slow links every rank passes a chunk on while the next one comes, so that
    all take little longer than one link does. Chunks that share a link would all arrive late."""
    path = tmp_path / "slow.toml"
    slow = SMALL.replace("sockets = 2", "sockets = 1").replace("cores = 2", "cores = 1")
    path.write_text(slow.replace("bandwidth_gb = 12.5", "bandwidth_gb = 0.125"))
    line = (path, "bcast", "--sizes", "4M", "--against", "", "--mpi", "openmpi", "--json")
    found = json.loads(simulate(*line))
    assert "chain" in found["plans"][str(4 << 20)]
    link = (4 << 20) / 0.125e3  # us
    assert link < found["us"]["sumac"][str(4 << 20)] < 1.2 * link


@simulates
@pytest.mark.parametrize("cluster", ["coprocessors", "fat-tree", "torus"])
def test_no_selection_is_faster(cluster):
    """By the shipped rules, from latency to bandwidth. Simulated times are the same each time."""
    sizes = ("--sizes", "8,512,4K,32K,64K,256K")
    line = (cluster, "-n", 64, *sizes, "--against", "ompi,mpich,mvapich2", "--json")
    found = json.loads(simulate(*line))
    assert not found["wrong"] and not found["unfinished"]
    times = found["us"]
    for size, own in times["sumac"].items():
        best = min(of[size] for way, of in times.items() if way != "sumac")
        assert own <= best * 1.001, (size, own, best, found["plans"][size])


@simulates
@pytest.mark.parametrize("overlap", [(), ("--work", 50, "--tests", 3)])
@pytest.mark.parametrize(
    ("collective", "ranks"),
    [("allreduce", 3), ("allreduce", 16), ("reduce", 5), ("bcast", 7), ("barrier", 9)],
)
def test_results_are_right(small, collective, ranks, overlap):
    """Blocking and nonblocking, of any number of ranks; wrong results have status 4."""
    sizes = () if collective == "barrier" else ("--sizes", "8,24,60K,64K,72K")
    line = (small, collective, "-n", ranks, *sizes, "--against", "", "--json", *overlap)
    found = json.loads(simulate(*line))
    assert not found["wrong"] and not found["unfinished"]
    assert len(found["us"]["sumac"]) == (5 if sizes else 1)
    if overlap:
        assert all(us >= 50 for us in found["us"]["sumac"].values())


@simulates
def test_table_and_picture(small, tmp_path):
    picture = tmp_path / "bcast.png"
    out = simulate(small, "bcast", "--sizes", "8,1K", "--against", "ompi,mpich", "-o", picture)
    assert "speedup" in out and "mpich us" in out and "knomial" in out
    assert picture.stat().st_size > 1000


@simulates
def test_a_selection_that_does_not_exist(small):
    assert "error[simulation]" in simulate(small, "--against", "lam", "--sizes", 8, status=1)


SOLVER = COMMAND.parents[1] / "examples/cg-smpi"
SOLVER = SOLVER if SOLVER.exists() else BUILD / "examples/cg-smpi"


@simulates
@pytest.mark.skipif(not SOLVER.exists(), reason=f"there is no {SOLVER}")
@pytest.mark.parametrize("method", ["plain", "pipelined"])
def test_a_program_with_sumac_and_without(small, method, monkeypatch):
    """The same solution in another time; with Sumac twice the same digits."""
    monkeypatch.setenv("SUMAC_ROOT", str(COMMAND.parents[1]))
    found, ranks = request.fitted(cluster.load(str(small)), 12)
    job = request.Request(found, ranks, "barrier", (), ()).job(request.SUMAC) | {"cases": []}
    line = [str(SOLVER), "-m", method, "-n", "4", "-r", "1", "-t", "1e-2", "-p", "2"]

    def told(given):
        text = smpi.run_program(found, ranks, line, given, {}, 120)
        return dict(row.split(None, 1) for row in text.splitlines())

    with_sumac, again, without = told(job), told(job), told(None)
    assert with_sumac == again
    times = ("seconds", "collectives")
    assert any(with_sumac[each] != without[each] for each in times)  # of few digits
    for each in with_sumac.keys() - set(times) - {"true_residual"}:
        assert with_sumac[each] == without[each]
    assert float(with_sumac["true_residual"]) == pytest.approx(
        float(without["true_residual"]), rel=1e-3
    )
