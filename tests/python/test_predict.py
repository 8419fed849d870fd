# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac profile` predicts: profiles and tables whose answer is known."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import records
from installed import ROOT
from installed import sumac as installed
from sumac_mpi.bench.results import Run
from sumac_mpi.library import layout
from sumac_mpi.profile import gains, job, measure, prediction
from sumac_mpi.profile.files import Call, Communicator, Kind, Rank, Sums
from sumac_mpi.profile.gains import Curve, Known, Table
from test_profile import folder  # noqa: F401

MPI = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"
CALLS = 10


def kind(function="allreduce", form="blocking", type="double", operation="sum", size=8, **others):
    return Kind(function, form, 0, operation, type, size // 8, size, None, 0, None, False,
                **({"rounded": False} | others))  # fmt: skip


def two_ranks(of: Kind, work: int, wait: int, ranks: int = 2, host: str = "here") -> job.Profile:
    """Ten calls: rank 1 calls `wait` ns after rank 0, and both are done `work` ns later."""
    found = []
    for rank in range(2):
        late = wait * rank
        times = [(1000 * n + late, 1000 * n + wait + work) for n in range(CALLS)]
        calls = [Call(1, n, begin, end - begin, 0, end) for n, (begin, end) in enumerate(times)]
        total = sum(end - begin for begin, end in times)
        found.append(Rank(rank, 2, host, MPI, 0, 100000, {1: of},
                          {1: Sums(CALLS, CALLS, of.bytes * CALLS, total, 0)},
                          {0: Communicator("MPI_COMM_WORLD", rank, ranks, "agreed 1", False)},
                          {}, calls))  # fmt: skip
    return job.combine(found)


def table(**curves: float) -> Table:
    """With one ratio for each call."""
    return Table({}, "2026-01-01", (), {
        call.replace("_persistent", "-persistent"): Curve((8, 1024), (ratio, ratio))
        for call, ratio in curves.items()
    })  # fmt: skip


def test_waiting_stays_and_work_changes(sandbox):
    # Of a call: rank 0 waits 300 ns and works 200, rank 1 works 200. Eight of ten are Sumac's.
    profile = two_ranks(kind(), work=200, wait=300)
    found = prediction.predict(profile, lambda ranks: table(allreduce=0.25))
    assert found.before == CALLS * (500 + 200) / 2
    work = 2 * 200 + 8 * 200 * 0.25
    assert found.after == pytest.approx((CALLS * 300 + work + work) / 2)
    assert found.run == 100000 and found.run_after == pytest.approx(100000 - 8 * 200 * 0.75)
    assert found.before / found.after == pytest.approx(3500 / 2300) and not found.unknown


@pytest.mark.parametrize(
    ("of", "ratio"),
    [
        (kind(form="nonblocking"), 0.5),
        (kind("reduce_scatter_block"), 0.75),
        (kind("reduce_scatter"), 0.75),
        (kind("allgatherv", operation=""), 0.125),
        (kind("bcast", type="derived", operation=""), 2.0),
        (kind(operation="user"), 1.0),  # Sumac's table has no such operation: the MPI's as before
        (kind(type="derived"), 1.0),
        (kind(type="double_int", operation="sum"), 1.0),
        (kind("scatterv", operation=""), 1.0),  # only counted
        (kind("neighbor_alltoallw", form="nonblocking", operation=""), 1.0),
        (kind("exscan"), 1.0),
    ],
)
def test_each_call_by_its_own_curve(sandbox, of, ratio):
    known = table(
        allreduce=0.25, iallreduce=0.5, reduce_scatter_block=0.75, allgather=0.125, bcast=2.0
    )
    found = prediction.predict(two_ranks(of, work=200, wait=0), lambda ranks: known)
    assert found.after == pytest.approx(2 * 200 + 8 * 200 * ratio)
    assert not found.unknown


def test_calls_that_no_table_has_stay_as_they_are(sandbox):
    asked = []

    def tables(ranks):
        asked.append(ranks)
        return table(bcast=0.5) if ranks == 2 else None

    found = prediction.predict(two_ranks(kind(), 200, 0), tables)
    assert found.after == found.before == 2000
    assert found.unknown == {"allreduce is not in the table": 2000}
    profile = two_ranks(kind("bcast"), 200, 0, ranks=3)
    found = prediction.predict(profile, tables)
    assert found.unknown == {"no table of 3 ranks": 2000} and set(asked) == {2, 3}
    found = prediction.predict(two_ranks(kind("bcast"), 200, 0, ranks=1), tables)
    assert found.after == found.before and not found.unknown


def test_waiting_that_comes_of_the_call_before(sandbox):
    """Rank 0 leaves each broadcast 100 ns before rank 1, and waits for it in the next all-reduce;
    rank 1 computes 30 ns longer too, which is nobody's but the program's."""
    ranks = []
    for rank in range(2):
        calls = []
        for n in range(0, 2 * CALLS, 2):
            at = 1000 * n
            left = at + 300 + 100 * rank
            entered = left + 30 * rank
            calls.append(Call(1, n, at, left - at, 0, left))
            calls.append(Call(2, n + 1, entered, at + 480 - entered, 0, at + 480))
        kinds = {1: kind("bcast", operation=""), 2: kind(size=16)}
        sums = {
            number: Sums(CALLS, CALLS, 8 * number * CALLS, inside, 0)
            for number, inside in ((1, CALLS * (300 + 100 * rank)), (2, CALLS * (180 - 130 * rank)))
        }
        known = {0: Communicator("MPI_COMM_WORLD", rank, 2, "agreed 1", False)}
        ranks.append(Rank(rank, 2, "here", MPI, 0, 10**6, kinds, sums, known, {}, calls))
    profile = job.combine(ranks)
    waited = profile.times[0][2]
    assert waited.waiting == 130 * CALLS and waited.passed_on == {1: 100 * CALLS}
    # The other way round, from an all-reduce to the next broadcast, nobody waits.
    assert not any(profile.times[rank][1].passed_on for rank in range(2))
    prediction.predict(profile, lambda ranks: table(bcast=0.5, allreduce=0.25))
    served = 1 - 2 / (2 * CALLS)
    by_bcast, by_own = 1 - served * 0.5, 1 - served * 0.75
    assert waited.with_sumac == pytest.approx(CALLS * (30 + 100 * by_bcast + 50 * by_own))
    of_others = profile.times[1][1].with_sumac
    assert of_others == pytest.approx(CALLS * 400 * by_bcast)


def test_communicators_are_set_up_once(sandbox):
    known = Table({}, "", (), {"bcast": Curve((8,), (0.5,))}, (3.0, 1.0))
    profile = two_ranks(kind("bcast"), 200, 0)
    for rank in profile.ranks:
        rank.communicators[1] = Communicator("another", rank.rank, 2, "agreed 2", False)
        rank.communicators[2] = Communicator("used once", rank.rank, 2, "agreed 3", False)
        for number, calls in ((1, 5), (2, 1)):
            rank.kinds[number + 1] = replace(kind("bcast"), communicator=number)
            profile.times[rank.rank][number + 1] = job.Times(calls, 8 * calls, 100 * calls)
    found = prediction.predict(profile, lambda ranks: known)
    assert found.set_up == 4000
    work = 200 * 2 + 200 * 8 * 0.5 + 100 * 2 + 100 * 3 * 0.5 + 100
    assert found.after == pytest.approx(work + 4000)


@pytest.mark.parametrize(
    ("size", "ratio"), [(0, 0.5), (1, 0.5), (4, 0.5), (16, 0.25), (64, 0.125), (10**9, 0.125)]
)
def test_ratios_between_measured_sizes(size, ratio):
    assert Curve((4, 64), (0.5, 0.125)).at(size) == pytest.approx(ratio)


def a_run() -> Run:
    rows = [records.size(8, 1.0, 0.5), records.size(64, 2.0, 3.0, algorithm="mpi: as fast")]
    run = Run(records.header(mpi=MPI))
    for row in rows:
        run.add(row)
    return run


def test_a_table_of_measured_runs(sandbox):
    found = gains.of_runs([a_run()], {}, "2026-01-01")
    assert found.curves["allreduce"].at(8) == 0.5
    assert found.curves["allreduce"].at(64) == 1.0  # the MPI serves it either way


def test_rounds_of_several_modes_count_alike(sandbox):
    run = a_run()
    native = records.figures(4.0) | {"rounds": [4.0] * 3}
    run.add(records.size(8, 4.0, 4.0, native=native, algorithm="flat_slots"))
    assert gains.of_runs([run], {}, "").curves["allreduce"].at(8) == pytest.approx(0.5**0.25)


@pytest.fixture
def kept(sandbox, monkeypatch, tmp_path) -> Path:
    """A table of this machine in the user's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    sandbox.add_program("bench", "openmpi", [])
    path = gains.path(MPI, 2)
    path.parent.mkdir(parents=True)
    stamp = gains.stamp(layout.find(), "openmpi", MPI, 2)
    content = {"date": "2026-01-02T03:04", "stamp": stamp, "runs": [a_run().as_dict()]}
    path.write_text(json.dumps(content))
    return path


def here() -> str:
    return gains.hardware.describe().host


def test_a_table_that_holds(kept):
    known = Known(two_ranks(kind(), 200, 0, host=here()))
    found = known.table(2)
    assert found and found.date == "2026-01-02" and not known.advice()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"machine": {"host": "other"}}, "of another machine; "),
        ({"MPI": "Open MPI v4.1.3", "build of Sumac": []}, "another MPI, another build of Sumac; "),
        ({"ranks": 4}, "of another number of ranks; "),
    ],
)
def test_a_stale_table_is_told(kept, changes, told):
    content = json.loads(kept.read_text())
    content["stamp"] |= changes
    kept.write_text(json.dumps(content))
    known = Known(two_ranks(kind(), 200, 0, host=here()))
    assert known.table(2) is None
    (line,) = known.advice()
    assert "the measurement of 2026-01-02 is of another " in line and told in line
    assert "sumac profile --measure -n 2 --mpi openmpi" in line


def test_one_mpi_in_two_spellings(kept):
    """A profile has no tabs and the like in the MPI's name, which the benchmark keeps."""
    bench, profiled = "MPICH Version:\t4.0.2", "MPICH Version:4.0.2"
    of_bench, of_profile = (
        gains.stamp(layout.find(), "mpich", mpi, 2) for mpi in (bench, profiled)
    )
    assert of_bench == of_profile and gains.path(bench, 2) == gains.path(profiled, 2)


def test_a_job_elsewhere_and_no_table(kept):
    known = Known(two_ranks(kind(), 200, 0, host="elsewhere"))
    assert known.table(2) is None and "the job ran on elsewhere" in known.advice()[0]
    assert known.table(3) is None and "with Open MPI 4.1.4 on 3 ranks" in known.advice()[1]
    kept.write_text("{}")
    known = Known(two_ranks(kind(), 200, 0, host=here()))
    assert known.table(2) is None and "has not been measured" in known.advice()[0]


@pytest.mark.parametrize(
    ("set_up_us", "wanted"),
    # Two of ten calls of 200 ns are the MPI's, eight take half as long.
    [(0.0, "1.2 µs in collectives instead of 2 µs, the run 99.2 µs instead of "
           "100 µs (0.8% less)"),
     (3.0, "4.2 µs in collectives instead of 2 µs, the run 102 µs instead of "
           "100 µs (2.2% more)")],
)  # fmt: skip
def test_totals_as_text(kept, set_up_us, wanted):
    content = json.loads(kept.read_text())
    content["runs"][0]["header"]["set_up_us"] = [set_up_us, 0]
    kept.write_text(json.dumps(content))
    known = Known(two_ranks(kind(), 200, 0, host=here()))
    first, set_up, by_table, *others = prediction.lines(
        prediction.predict(known.profile, known.table), known
    )
    assert first == f"with Sumac, predicted: {wanted}"
    assert set_up.startswith(f"of that {set_up_us:.0f} ") and "2026-01-02" in by_table
    assert not others


def test_measuring_writes_a_table(one_mpi, sumac, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    status, out, err = sumac("profile", "--measure", "-n", "2")
    calls = len(measure.calls_to_measure())
    assert status == 0 and re.fullmatch(
        rf"sumac: measures {calls} calls of Open MPI 4.1.4 on 2 ranks, .*: about \d+ minutes?\n",
        err,
    )
    (path,) = (tmp_path / "data/sumac/gains").iterdir()
    assert str(path) in out and path.name == "open-mpi-2.json"
    found = gains.load(path)
    assert found and found.curves["allreduce"].at(4) == pytest.approx(1 / 3)
    assert found.stamp["ranks"] == 2


@pytest.mark.parametrize("others", [("-n", "2", "--", "app"), ("--from", "."), ("-n", "1")])
def test_measuring_needs_ranks_and_no_program(sandbox, sumac, others):
    status, _, err = sumac("profile", "--measure", *others)
    assert status == 2 and "error[bad-value]: --measure: " in err


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures(folder, tmp_path, ending):  # noqa: F811
    pytest.importorskip("matplotlib")
    output = tmp_path / f"profile.{ending}"
    done = installed("profile", "--from", folder, "-o", output)
    assert (done.returncode, done.stderr) == (0, f"sumac: wrote {output}\n")
    assert done.stdout.startswith("2 ranks on ")
    content = output.read_bytes()
    assert content.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    shutil.rmtree(tmp_path)
    done = installed("profile", "--from", folder, "-o", output)
    assert done.returncode == 2 and "error[bad-value]: -o" in done.stderr


def the_experiment(monkeypatch):
    """experiments/predict/run.py as a module, whose own path is not for other tests."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    home = ROOT / "experiments/predict/run.py"
    spec = importlib.util.spec_from_file_location("predict_run", home)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_times_of_the_statistics(tmp_path, monkeypatch):
    """The experiment adds up what SUMAC_STATS=all,FILE has written, under the profile's names."""
    experiment = the_experiment(monkeypatch)
    paths = [{"collective": "bcast", "path": path, "seconds": 0.25} for path in ("lines", "slots")]
    paths.append({"collective": "allgather", "path": "lines", "seconds": 1.0})
    ranks = [{"rank": 0, "paths": paths}, {"rank": 1, "paths": paths[:1]}]
    (tmp_path / "stats.json").write_text(json.dumps({"rank": 0, "all": ranks}))
    found = experiment.times_of(tmp_path / "stats.json")
    assert found == pytest.approx({"bcast": 0.375, "allgather": 0.5})
    times = {"seconds": 1.0, "waiting_seconds": 0.5, "with_sumac_seconds": 0.75}
    rows = [{"call": call} | times for call in ("allgather", "allgatherv", "ibcast")]
    assert experiment.by_collective(rows, {"allgatherv": "allgather"}) == {
        "allgather": [2.0, 1.0, 1.5], "ibcast": [1.0, 0.5, 0.75],
    }  # fmt: skip


@pytest.mark.parametrize("call", ["bcast", "iallreduce", "allgather-persistent"])
def test_calls_without_another_function(one_mpi, sumac, call):
    status, _, err = sumac("bench", call, "-n", "2", "--with-counts")
    assert status == 2 and f"no other function is measured for {call}" in err


def test_functions_with_counts_have_curves_of_their_own(sandbox):
    header = {"collective": "allgather"}
    runs = [a_run(), a_run()]
    runs[0].header |= header
    runs[1].header |= header | {"with_counts": True}
    assert set(gains.of_runs(runs, {}, "").curves) == {"allgather", "allgatherv"}
    runs[1].header |= {"collective": "ireduce_scatter"}
    runs[0].header |= {"collective": "reduce_scatter"}
    found = gains.of_runs(runs, {}, "").curves
    assert set(found) == {"reduce_scatter_block", "ireduce_scatter"}
