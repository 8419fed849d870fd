# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune` with a benchmark program that takes its times from a table."""

import json
import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import records
from conftest import script
from sumac_mpi.base import units
from sumac_mpi.bench import results
from sumac_mpi.commands import main
from sumac_mpi.launch import launcher
from sumac_mpi.tune import measure, request, state
from sumac_mpi.tune.request import SHIPPED

# Behaves as sumac-bench-<family> does: where a forced algorithm does not run, the shipped one does.
PROGRAM = """#!{python} -IS
import json, os, sys
table = json.load(open({table!r}))
started = open({log!r}).read().count("\\n") if os.path.exists({log!r}) else 0
collective = sys.argv[1]
forced = os.environ.get("SUMAC_ALGO", "").removeprefix(collective + ":")
sizes = [int(size) for size in sys.argv[sys.argv.index("--sizes") + 1].split(",")]
if collective == "barrier":
    sizes = [0]
with open({log!r}, "a") as log:
    log.write(json.dumps([collective, forced or "shipped", sizes]) + "\\n")
print(json.dumps(table["header"] | {{"collective": collective, "sizes": len(sizes)}}))
for size in sizes:
    ways = table["us"][collective][str(size)]
    way = forced if forced in ways else next(iter(ways))
    row = table["row"] | {{"collective": collective, "bytes": size, "algorithm": way}}
    for contender, name in (("native", "native"), ("sumac", way)):
        rounds = [us * (1 + 0.001 * i) for us in ways.get(name) or ways["native"] for i in range(5)]
        row[contender] = {{"p50": rounds[0], "rounds": rounds}}
    row["line"] = {{"ns": [ns for ns in table["ns"] for i in range(5)], "dropped": 0}}
    print(json.dumps(row), flush=True)
sys.exit(table["fail_at"].get(str(started), 0))
"""
HANDED_DOWN = "mpi: the rules prefer the MPI here"
# In each mode the microseconds of the ways that run; the first is that of the shipped rules.
NEAR_AND_FAR = {
    "allreduce": {
        16: {"flat_lines": [1, 2], "flat_slots": [2, 3], "single_copy": [9, 9], "native": [4, 4]},
        4096: {"flat_slots": [5, 5], "single_copy": [6, 6], "native": [9, 9]},
        65536: {"flat_slots": [9, 9], "single_copy": [6, 7], "native": [8, 9]},
        262144: {"flat_slots": [20, 20], "single_copy": [10, 15], "native": [18, 19]},
        1048576: {"flat_slots": [90, 90], "single_copy": [60, 60], "native": [50, 50]},
        4194304: {"flat_slots": [200, 200], "single_copy": [100, 300], "native": [300, 300]},
    },
    "bcast": {
        16: {"slots": [2, 2], "native": [1, 1]},
        65536: {HANDED_DOWN: [5, 5], "slots": [4, 4], "native": [5, 5]},
    },
    "barrier": {0: {"flat": [2, 2], "native": [1, 1]}},
}
SIZES = {call: ",".join(map(str, rows)) for call, rows in NEAR_AND_FAR.items()} | {"barrier": "16"}
# Distance, bytes and algorithm of the rules: boundaries are geometric middles.
EXPECTED = {
    "allreduce": [
        ("near", "16385-512K", "single_copy"), ("near", "524289-2M", "native"),
        ("near", "2097153-4M", "single_copy"),
        ("far", "16385-512K", "single_copy"), ("far", "524289-2M", "native"),
    ],
    "bcast": [(name, *rule) for name in ("near", "far")
              for rule in (("16-1K", "native"), ("1025-64K", "slots"))],
    "barrier": [("near", None, "native"), ("far", None, "native")],
}  # fmt: skip


class Machine:
    """A sandbox whose benchmark programs have the times of a table."""

    def __init__(self, sandbox, folder):
        self.table, self.log = folder / "table.json", folder / "jobs"
        sandbox.add_launcher("mpiexec.openmpi", "openmpi")
        text = PROGRAM.format(python=sys.executable, table=str(self.table), log=str(self.log))
        script(sandbox.root / "lib/sumac/sumac-bench-openmpi", text)
        (sandbox.root / "lib/sumac/libsumac-openmpi.so").write_text("a build")
        self.set()

    def set(self, us=NEAR_AND_FAR, fail_at=(), row=None, ns=(100, 500), **header):
        content = {
            "us": us, "ns": ns, "fail_at": {str(job): 1 for job in fail_at},
            "header": records.header(line_ns=100, **header),
            "row": records.size(16, 1, 1, **row or {}),
        }  # fmt: skip
        self.table.write_text(json.dumps(content))

    def jobs(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [tuple(json.loads(line)) for line in lines]


@pytest.fixture
def machine(sandbox, tmp_path):
    return Machine(sandbox, tmp_path)


def rules_of(path):
    return tomllib.loads(path.read_text()).get("rule", [])


def without_date(path):
    return path.read_text().split("\n", 1)[1]


@pytest.mark.parametrize("call", EXPECTED)
def test_what_is_kept_and_written(machine, sumac, tmp_path, call):
    arguments = ("tune", call, "-n", "2", "--sizes", SIZES[call], "--turns", "2")
    status, out, err = sumac(*arguments, "-o", "t.toml")
    assert (status, err) == (0, "")
    rules = rules_of(tmp_path / "t.toml")
    assert [
        (rule["handover"], numeric(rule.get("bytes")), rule["algorithm"]) for rule in rules
    ] == [(name, numeric(sizes), way) for name, sizes, way in EXPECTED[call]]  # fmt: skip
    for rule in rules:
        assert rule["collective"] == call and rule["over"] == "shm" and rule["ranks"] == "2"
        assert rule["mpi"] == "openmpi"
    text = (tmp_path / "t.toml").read_text()
    assert "# Open MPI 4.1.4; Sumac " in text
    assert f"# sumac tune {call} -n 2 --mpi openmpi --sizes " in text
    assert f"; {units.counted(len(rules), 'rule')} in t.toml" in out
    assert sorted(path.name for path in tmp_path.glob("t.toml*")) == ["t.toml"]


@pytest.mark.parametrize(
    ("ns", "expected"),
    [
        ((60, 100), [("sibling", 65536), ("sibling", 1 << 22), ("near", 65536)]),
        # Two modes of one distance: a rule must be right in both.
        ((300, 900), [("far", 65536)]),
        ((), [("", 65536)]),
    ],
)
def test_rules_are_for_the_distance_at_which_they_were_measured(
    machine, sumac, tmp_path, ns, expected
):
    """At 4 MiB single_copy is the better way in the first mode alone."""
    us = {size: {way: times[: len(ns) or 1] for way, times in ways.items() if way != "native"}
          for size, ways in NEAR_AND_FAR["allreduce"].items()}  # fmt: skip
    for ways in us.values():
        ways["native"] = [1000.0] * (len(ns) or 1)
    us[4194304]["single_copy"] = [100.0, 300.0][: len(ns)] or [300.0]
    machine.set(us={"allreduce": us}, ns=ns)
    sizes = ("65536", "4194304")
    assert sumac("tune", "allreduce", "-n", "2", "--sizes", ",".join(sizes), "--turns", "2")[0] == 0
    found = rules_of(tmp_path / "tuned.toml")
    held = [(rule.get("handover", ""), size) for rule in found for size in map(int, sizes)
            if numeric(rule["bytes"])[0] <= size <= numeric(rule["bytes"])[-1]]  # fmt: skip
    assert held == expected


def numeric(sizes):
    """A range with plain numbers."""
    if sizes is None:
        return None
    units = {"K": 10, "M": 20}
    return [int(end.rstrip("KM")) << units.get(end[-1], 0) for end in sizes.split("-")]


@pytest.mark.parametrize(
    ("cpus", "quota", "fits"),
    [(4, None, 4), (4, 8.0, 4), (4, 2.0, 2), (4, 2.5, 3), (4, 0.5, 1), (1, None, 1)],
)
def test_room_is_by_the_processors_that_the_library_counts(monkeypatch, cpus, quota, fits):
    here = SimpleNamespace(cpus=cpus)
    monkeypatch.setattr(measure.hardware, "describe", lambda: here)
    monkeypatch.setattr(measure.hardware, "allowed_processors", lambda: quota)
    for ranks in range(2, 10):
        job = request.Job(1, "openmpi", ranks, "allreduce", SHIPPED)
        assert measure.place_of(job, measure.processors()).shared == (ranks > fits)


def test_the_table_has_a_line_for_each_size_and_mode(machine, sumac):
    sizes = SIZES["allreduce"]
    _, out, _ = sumac("tune", "allreduce", "-n", "2", "--sizes", sizes, "--turns", "2")
    rows = [
        line.rstrip().split(maxsplit=9) for line in out.splitlines() if line.strip()[:1].isdigit()
    ]
    assert len(rows) == 2 * len(NEAR_AND_FAR["allreduce"])
    found = {(int(row[0]), row[1]): row for row in rows}
    assert found[65536, "near"][3:] == [
        *("flat_slots", "9.018", "8.016", "single_copy", "6.012"),
        *("single_copy", "1.50x±0%"),
    ]
    # The MPI's own is better than the way that is better than the shipped one.
    assert found[1048576, "far"][8:] == ["native", "1.80x±0%"]
    assert found[4194304, "near"][8:] == ["single_copy", "2.00x±0%"]
    assert found[4194304, "far"][8:] == ["flat_slots", "the fastest"]
    titles = [line for line in out.splitlines() if line.startswith("# allreduce")]
    assert titles == [f"# allreduce · 2 ranks, {name} · Open MPI" for name in ("near", "far")]
    assert found[16, "far"][8:] == ["flat_lines", "the fastest"]


def test_ways_take_turns_where_they_run(machine, sumac):
    sumac("tune", "allreduce", "barrier", "-n", "2", "--sizes", SIZES["allreduce"], "--turns", "3")
    sizes = list(NEAR_AND_FAR["allreduce"])
    first, then = [
        [("allreduce", SHIPPED, sizes), ("allreduce", "flat_lines", lines),
         ("allreduce", "flat_slots", sizes[:1]), ("allreduce", "single_copy", sizes)]
        for lines in (sizes[1:], [])
    ]  # fmt: skip
    then = [job for job in then if job[2]]
    barrier = [("barrier", SHIPPED, [0])]
    assert [(call, way, sizes) for call, way, sizes in machine.jobs()] == [
        *first, *barrier, *then[::-1], *barrier, *then, *barrier]  # fmt: skip


def test_several_numbers_of_ranks_and_mpis_are_jobs_of_their_own(sandbox):
    asked = request.Request(("bcast",), (16,), (2, 4), ("openmpi", "mpich"), 2, 0.1)
    jobs = asked.jobs()
    assert len(jobs) == len(set(jobs)) == 2 * 2 * 2 * 2
    assert [(job.turn, job.family, job.ranks) for job in jobs[::2]] == [
        (turn, family, ranks)
        for turn in (1, 2) for family in ("openmpi", "mpich") for ranks in (2, 4)]  # fmt: skip


TUNE = ("tune", "allreduce", "bcast", "-n", "2", "--sizes", "16,65536", "--turns", "2")


@pytest.mark.parametrize("interrupted", [(0,), (3,), (1, 2, 5)])
def test_interrupted_and_continued_is_as_uninterrupted(machine, sumac, tmp_path, interrupted):
    assert sumac(*TUNE, "-o", "whole.toml")[0] == 0
    whole = machine.jobs()
    machine.log.unlink()
    machine.set(fail_at=interrupted)
    for job in interrupted:
        status, out, err = sumac(*TUNE, "-o", "parts.toml")
        assert status == 1 and out == "" and not (tmp_path / "parts.toml").exists()
        assert "error[job-failed]" in err
        kept = len(machine.jobs()) - interrupted.index(job) - 1
        assert ("repeat the command" in err) == (kept > 0)
        assert (tmp_path / "parts.toml.measured").exists() == (kept > 0)
    assert sumac(*TUNE, "-o", "parts.toml")[0] == 0
    done = [job for number, job in enumerate(machine.jobs()) if number not in interrupted]
    assert done == whole
    assert without_date(tmp_path / "parts.toml") == without_date(tmp_path / "whole.toml")
    assert not (tmp_path / "parts.toml.measured").exists()


def change_build(machine, tmp_path):
    (tmp_path / "root/lib/sumac/libsumac-openmpi.so").write_text("another build")


def change_mpi(machine, tmp_path):
    path = tmp_path / "bin/mpiexec.openmpi"
    path.write_text(path.read_text().replace("4.1.4", "4.1.5"))
    launcher._identify.cache_clear()


@pytest.mark.parametrize(
    ("more", "change", "named"),
    [
        (("--turns", "3"), None, "arguments"),
        (("--seconds", "0.2"), None, "arguments"),
        (("-n", "2,3"), None, "arguments"),
        (("--launcher-arg", "-v"), None, "arguments"),
        ((), change_build, "build of Sumac"),
        ((), change_mpi, "MPI"),
        ((), "SUMAC_CMA", "SUMAC_ options"),
        ((), "machine", "machine"),
    ],
)  # fmt: skip
def test_other_measurements_are_not_gone_on_with(
    machine, sumac, tmp_path, monkeypatch, more, change, named
):
    machine.set(fail_at=[2])
    assert sumac(*TUNE)[0] == 1
    kept = (tmp_path / "tuned.toml.measured").read_text()
    if callable(change):
        change(machine, tmp_path)
    elif change == "machine":
        monkeypatch.setattr(state.hardware.socket, "gethostname", lambda: "elsewhere")
    elif change:
        monkeypatch.setenv(change, "off")
    status, _, err = sumac(*TUNE, *more)
    assert status == 2 and "error[other-measurement]: tuned.toml.measured" in err
    assert f"found: other {named}\n" in err and "--restart" in err
    assert (tmp_path / "tuned.toml.measured").read_text() == kept and len(machine.jobs()) == 3
    machine.set()
    if more != ("-n", "2,3"):
        assert sumac(*TUNE, *more, "--restart")[0] == 0
        assert machine.jobs()[3][1] == SHIPPED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 9}', "\xff", "null"])
def test_a_damaged_file_of_measurements_is_refused(machine, sumac, tmp_path, text):
    (tmp_path / "tuned.toml.measured").write_bytes(text.encode("latin-1"))
    status, _, err = sumac(*TUNE)
    assert status == 2 and "error[other-measurement]" in err and machine.jobs() == []


def test_measurements_of_another_user_are_refused(machine, sumac, tmp_path, monkeypatch):
    (tmp_path / "tuned.toml.measured").write_text("{}")
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(tmp_path).st_uid + 1)
    status, _, err = sumac(*TUNE)
    assert status == 2 and "belongs to another user" in err and machine.jobs() == []


def test_an_existing_file_is_replaced_only_when_asked(machine, sumac, tmp_path):
    (tmp_path / "tuned.toml").write_text("mine")
    status, _, err = sumac(*TUNE)
    assert status == 2 and "tuned.toml: the file exists" in err and "--overwrite" in err
    assert machine.jobs() == [] and (tmp_path / "tuned.toml").read_text() == "mine"
    machine.set(fail_at=[1])
    assert sumac(*TUNE, "--overwrite")[0] == 1
    assert (tmp_path / "tuned.toml").read_text() == "mine"
    assert sumac(*TUNE, "--overwrite")[0] == 0
    assert rules_of(tmp_path / "tuned.toml")


BAD = [
    (("alltoallw",), "alltoallw: not known\n  fix:   one of allreduce, bcast, barrier"),
    (("iallreduce",), "iallreduce: not known"),
    (("reduce_local",), "reduce_local: not known"),
    (("-n", "1"), "-n 1: '1' is not a number of ranks"),
    (("-n", "2,,4"), "'' is not a number of ranks"),
    (("-n", "two"), "'two' is not a number of ranks"),
    (("-n", "2,-4"), "'-4' is not a number of ranks"),
    (("--sizes", "64K,many"), "'many' is not a size"),
    (("--sizes", "64K,"), "'' is not a size"),
    (("--sizes", "0"), "a size has at least one byte"),
    (("--sizes", "2,16"), "a float alone has 4 bytes"),
    (("-o", "no-folder/t.toml"), "there is no such directory"),
    (("-o", "."), "is a directory"),
    (("--turns", "1"), "--turns"),
    (("--mpi", "nompi"), "nompi"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(machine, sumac, arguments, message):
    status, out, err = sumac("tune", *arguments)
    assert (status, out) == (2, "") and message in err and machine.jobs() == []


@pytest.mark.parametrize("name", ["SUMAC_RULES", "SUMAC_ALGO"])
def test_the_users_own_rules_would_be_in_the_way(machine, sumac, monkeypatch, name):
    monkeypatch.setenv(name, "allreduce:flat_slots")
    status, _, err = sumac(*TUNE)
    assert status == 2 and f"{name} is set" in err and f"unset {name}" in err


@pytest.mark.parametrize(
    ("header", "us", "status", "message"),
    [
        ({"hosts": 2}, {}, 2, "error[one-group]: the ranks are on 2 hosts"),
        ({}, {"allreduce": {"16": {"levels": [1, 1], "native": [2, 2]}}}, 2,
         "error[one-group]: allreduce on 2 ranks of this host takes a hierarchy"),
        ({"sumac": {"loaded": True, "active": False}}, {}, 3, "error[not-active]"),
    ],
)  # fmt: skip
def test_where_nothing_can_be_tuned(machine, sumac, tmp_path, header, us, status, message):
    machine.set(us=NEAR_AND_FAR | us, **header)
    found, _, err = sumac("tune", "allreduce", "-n", "2", "--sizes", "16")
    assert found == status and message in err
    assert len(machine.jobs()) == 1 and list(tmp_path.glob("tuned*")) == []


def test_wrong_results_end_it(machine, sumac, tmp_path):
    machine.set(row={"wrong": 3})
    status, _, err = sumac("tune", "allreduce", "-n", "2", "--sizes", "16")
    assert status == 4 and "error[wrong-results]" in err and list(tmp_path.glob("tuned*")) == []


def test_a_dry_run_starts_nothing(machine, sumac, tmp_path):
    status, out, err = sumac("tune", "allreduce", "-n", "2", "--dry-run", "--turns", "3")
    assert (status, err) == (0, "") and machine.jobs() == []
    assert "shipped, flat_lines, flat_slots, single_copy\n" in out and "# 12 jobs in 3 turns" in out
    assert list(tmp_path.glob("tuned*")) == []


def test_ctrl_c_keeps_what_was_measured(machine, sumac, tmp_path, monkeypatch, capfd):
    """As in a terminal, in the middle of a job."""
    real, taken = results.of_job, []

    def run(job):
        if len(taken) == 2:
            raise KeyboardInterrupt
        taken.append(job)
        return real(job)

    monkeypatch.setattr(results, "of_job", run)
    assert main.main([*TUNE]) == -2
    assert (
        "# incomplete: interrupted after 2 jobs, kept in tuned.toml.measured"
        in capfd.readouterr().err
    )
    assert len(json.loads(Path("tuned.toml.measured").read_text())["jobs"]) == 2
