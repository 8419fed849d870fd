# SPDX-License-Identifier: BSD-3-Clause
"""The installed command with the real MPIs."""

import json
import os
import shlex
import shutil
import socket

import pytest
from conftest import script
from installed import COMMAND, FAMILIES, INSTALLATION, needs_command, output_of, sumac
from sumac_mpi.library import tables

pytestmark = needs_command
_ROWS = tables.rows("collectives", INSTALLATION) if COMMAND.exists() else []
COLLECTIVES = [row["name"] for row in _ROWS if row["ranks"] != "none"]
SIZED = [row["name"] for row in _ROWS if row["ranks"] != "none" and row["sized"]]


def bench(call, family, options, *more):
    """The run of `sumac bench` on one MPI, by options that say how much is measured."""
    words = ["--mpi", family, *options.split(), *more, "--format", "json"]
    (run,) = json.loads(output_of(sumac("bench", call, *words)))["runs"]
    return run


@pytest.mark.parametrize("family", FAMILIES)
def test_check_finds_nothing_wrong(family):
    output_of(sumac("check", "-n", "2", "--mpi", family, "--json"))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The file sumac.conf of a prefix of its own, which SUMAC_ROOT names."""
    plan = INSTALLATION.parts / "sumac-plan"
    for part in (INSTALLATION.command, INSTALLATION.library, plan):
        copy = tmp_path / part.relative_to(INSTALLATION.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(part, copy)
    (tmp_path / "etc").mkdir()
    return tmp_path / "etc/sumac.conf"


def options_at(site, **variables):
    """The options of `sumac info` by their names."""
    told = output_of(
        sumac("info", "options", "--json", SUMAC_ROOT=str(site.parents[1]), **variables)
    )
    return {row["name"]: row for row in json.loads(told)["options"]}


def test_options_of_a_site(site):
    site.write_text("# A site.\nspin = 7\nexport SUMAC_CMA='off'\nlocked = CMA, shm_budget\n")
    rows = options_at(site, SUMAC_SPIN="8", SUMAC_CMA="auto")
    found = {name: (row["value"], row["source"], row["locked"]) for name, row in rows.items()}
    assert found["SUMAC_SPIN"] == ("8", "environment", False)
    assert found["SUMAC_CMA"] == ("off", f"{site}:3", True)
    assert found["SUMAC_SHM_BUDGET"] == ("64M", "default", True)
    assert found["SUMAC_DEBUG"] == ("warn", "default", False)


def test_plan_follows_the_rules_of_a_site(site):
    rules = site.with_name("site.toml")
    rules.write_text('[[rule]]\ncollective = "bcast"\nover = "shm"\nalgorithm = "native"\n')
    site.write_text(f"rules = {rules}\n")
    for variables, by_site in (({}, True), ({"SUMAC_RULES": "no"}, False)):
        root = {"SUMAC_ROOT": str(site.parents[1])}
        told = output_of(sumac("plan", "bcast", "64K", "-n", "2", **root, **variables))
        assert ("site.toml:1" in told) == by_site, told


def test_file_of_options_is_one_of_a_site(site):
    """What `sumac info options --file` prints, with every option set to its default."""
    text = sumac("info", "options", "--file").stdout
    site.write_text(text.replace("#export", "export"))
    for row in options_at(site).values():
        place = "default" if row["default"] == "" else str(site)
        assert row["value"] == row["default"] and row["source"].startswith(place)


@pytest.mark.parametrize("family", FAMILIES)
def test_bench_of_local_reductions(family):
    types = "float,int8,double_complex,double_int"
    run = bench(
        "reduce_local", family, "--sizes 64,4K --seconds 0.005 --rounds 2", "--types", types
    )
    cells = {(row["type"], row["op"], row["bytes"]): row for row in run["sizes"]}
    assert len(cells) == 2 * (4 + 10 + 2 + 2)
    assert all(row["wrong"] == 0 and row["sumac"]["p50"] > 0 for row in cells.values())
    assert {row["bytes"] for row in cells.values() if "loop" in row} == {64}


@pytest.mark.parametrize("family", FAMILIES)
def test_bench_of_packing(family):
    run = bench("pack", family, "--sizes 100,40000 --seconds 0.005 --rounds 2")
    cells = {(row["op"], row["layout"], row["asked"]): row for row in run["sizes"]}
    layouts = [row["name"] for row in tables.rows("layouts", INSTALLATION)]
    assert {key for key in cells if key[2] == 40000} == {
        (op, layout, 40000) for op in ("pack", "unpack") for layout in layouts
    }
    assert all(row["wrong"] == row["wrong_native"] == 0 for row in cells.values())
    assert all(row["sumac"]["p50"] > 0 and 0 <= row["asked"] - row["bytes"] < 32768
               for row in cells.values())  # fmt: skip
    # Sumac leaves less than 128 bytes to the MPI, and one block, which is contiguous.
    served = {key for key, row in cells.items() if row["algorithm"] == "local"}
    left = {("pack", "vector_4096_8192", 40000), ("unpack", "vector_4096_8192", 40000)}
    assert served == {key for key in cells if key[2] == 40000} - left


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_bench_results_are_right(family, collective):
    run = bench(collective, family, "-n 2 -e 1M -f 64 --seconds 0.01 --rounds 2")
    assert run["header"]["sumac"]["active"]
    assert all(row["wrong"] == 0 and row["sumac"]["p50"] > 0 for row in run["sizes"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("call", [f"i{name}" for name in COLLECTIVES])
@pytest.mark.parametrize("compute", ["busy", "idle"])
def test_bench_of_nonblocking_calls(family, call, compute):
    how = f"--overlap --compute {compute} --tests 2"
    run = bench(call, family, f"-n 2 -e 64K -f 64 --seconds 0.01 --rounds 2 {how}")
    assert run["header"]["overlap"] == {"compute": compute, "tests": 2}
    for row in run["sizes"]:
        assert row["wrong"] == row["wrong_native"] == 0
        for figures in (row["native"], row["sumac"]):
            assert figures["start"] >= 0
            for overlap in (figures["overlap"], figures["overlap"]["tests"]):
                assert 0 <= overlap["percent"] <= 100 and overlap["pure"] > 0
                assert overlap["compute"] > 0 and overlap["overall"] > 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_bench_of_persistent_calls(family, collective):
    how = "-n 2 -e 64K -f 64 --seconds 0.01 --rounds 2"
    for row in bench(f"{collective}-persistent", family, how)["sizes"]:
        assert row["wrong"] == 0
        # MPICH 4.0's persistent all-gather sends a rank's own part as it was at the initialisation.
        assert row["wrong_native"] == 0 or (collective, family) == ("allgather", "mpich")
        assert row["native"]["p50"] > 0 and row["blocking"]["p50"] > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_trace_of_a_real_job(family, tmp_path):
    pytest.importorskip("matplotlib")
    program = INSTALLATION.program("bench", family)
    arguments = ("allreduce", "-b", "8", "-e", "4K", "--iterations", "3", "--rounds", "1")
    picture = tmp_path / "out.png"
    told = output_of(sumac("trace", "-n", "2", "-o", picture, "--", program, *arguments))
    assert "allreduce of 4 KiB  ·  2 ranks  ·  " in told
    assert picture.stat().st_size > 1000
    works = [event for event in json.loads(picture.with_suffix(".json").read_text())
             if event["ph"] == "X"]  # fmt: skip
    by_operation = {}
    for event in works:
        by_operation.setdefault(event["args"]["operation"], []).append(event)
    for first, second in by_operation.values():
        assert {first["pid"], second["pid"]} == {0, 1}
        assert first["args"] == second["args"]
        # No rank may return from an all-reduce before all have called it; this also checks that the
        # clocks agree.
        assert first["ts"] < second["ts"] + second["dur"]
        assert second["ts"] < first["ts"] + first["dur"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("data_type", ["int8", "int64", "double"])
def test_bench_in_place_and_other_types(family, data_type):
    how = "-n 3 -b 64 -e 64K -f 32 --op max --in-place --iterations 3 --rounds 1"
    run = bench("allreduce", family, how, "-d", data_type)
    assert all(row["wrong"] == 0 for row in run["sizes"])


# ./app is the program, and ./script.sh starts it.
WRAPPED = [
    "./app",
    "env A=1 ./app",
    "nice -n 5 ./app",
    "taskset -c 0 ./app",
    "timeout 60 ./app",
    "stdbuf -o L ./app",
    "sh -c ./app",
    "sh -c 'exec ./app'",
    "./script.sh",
    "gdb -batch -ex run --args ./app",
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("command", WRAPPED)
def test_wrapped_programs_are_one_job(family, command, tmp_path, monkeypatch):
    words = shlex.split(command)
    if not words[0].startswith("./") and not shutil.which(words[0]):
        pytest.skip(f"there is no {words[0]}")
    (tmp_path / "app").symlink_to(INSTALLATION.program("check", family))
    script(tmp_path / "script.sh", "#!/bin/sh\nset -e\n./app\n")
    monkeypatch.chdir(tmp_path)
    done = sumac("run", "-np", "2", "--", *words)
    assert ranks_of(done) == (2, 2)
    assert "sumac: " not in done.stderr


def ranks_of(done):
    """The ranks that a check program counts in its job, and those with Sumac."""
    told = output_of(done).splitlines()
    lines = [line[line.index('{"kind"') :] for line in told if '"kind"' in line]
    (record,) = map(json.loads, lines)  # one job, not several jobs of one rank
    return record["ranks"], record["active_ranks"]


# Starts the proxy of MPICH's launcher, as the real srun does on each node.
SRUN = """#!/bin/sh
export SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1
while [ "${1##*/}" != hydra_pmi_proxy ]; do shift || exit 1; done
exec "$@"
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_launchers_take_the_allocation_of_slurm(family, tmp_path, monkeypatch):
    script(tmp_path / "srun", SRUN)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name, value in {
        "JOB_ID": "7", "JOBID": "7", "NTASKS": "3", "TASKS_PER_NODE": "3", "JOB_NUM_NODES": "1",
        "NNODES": "1", "JOB_NODELIST": socket.gethostname(), "NODELIST": socket.gethostname(),
    }.items():  # fmt: skip
        monkeypatch.setenv(f"SLURM_{name}", value)
    done = sumac("run", "--", str(INSTALLATION.program("check", family)))
    assert ranks_of(done) == (3, 3)
    assert "sumac: 3 ranks, as SLURM_NTASKS=3\n" in done.stderr
