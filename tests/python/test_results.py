# SPDX-License-Identifier: BSD-3-Clause
"""Runs built of records, files of results, and the machine's modes: told apart by gaps between the
times of a line."""

from __future__ import annotations

import json
import statistics

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench import modes, results
from sumac_mpi.library.calls import PACK, Kind, collective, collectives, kind, names

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Open MPI v5.0.11, package: Open MPI", "Open MPI 5.0.11"),
        ("MPICH Version:\t4.0.2", "MPICH 4.0.2"),
        ("MPICH Version:      5.0.2", "MPICH 5.0.2"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel MPI 2021.18"),
        ("Another MPI 1.0", "Another MPI 1.0"),
    ],
)
def test_mpi_names_are_short(text, name):
    assert results.short_mpi_name(text) == name


def test_a_run_is_built_record_by_record():
    run = results.Run(records.header())
    (row,) = run.add(records.size(4, 0.6, 0.2))
    assert row.speedup == 3
    assert run.add({"kind": "summary", "wrong": 0}) == []
    assert run.with_sumac and run.wrong == 0 and run.mpi_name == "Open MPI 4.1.4"


def test_nonblocking_rows():
    _, row = records.run(records.nonblocking()).rows
    assert (row.call, row.collective) == ("iallreduce", "allreduce")
    assert row.start_us("sumac") == 7.5 and row.blocking_us is None
    assert row.overlap("sumac")["percent"] == 62.5
    assert row.overlap("native", tests=True)["percent"] == 20


def test_persistent_rows():
    first, second = records.run(records.persistent()).rows
    assert first.against_blocking.median == 2
    assert second.against_blocking.median == pytest.approx(0.833, abs=0.01)
    assert first.overlap("sumac") is None and first.overlap("sumac", tests=True) is None


def test_records_from_before_there_were_kinds():
    run = records.run(records.session())
    assert run.kind is Kind.blocking and run.overlap is None and run.sumac_takes_part
    assert run.rows[0].start_us("native") is None and run.rows[0].against_blocking is None


def test_a_call_names_its_collective_and_its_kind():
    marked = {"i": Kind.nonblocking, "t": Kind.persistent}
    for call in names():
        end = "t" if call.endswith("-persistent") else call[0]
        assert kind(call) is marked.get(end, Kind.blocking)
        if call != PACK:
            assert call in (name := collective(call).name, f"i{name}", f"{name}-persistent")
    assert len(names()) == 3 * len(collectives()) + 2


def test_wrong_counts_what_a_program_would_get():
    run = records.run([records.header()])
    (row,) = run.add(records.size(4, 1, 1, wrong=2, wrong_native=5))
    assert row.wrong == 2
    (row,) = run.add(records.size(8, 1, None, wrong_native=5))
    assert row.wrong == 5 and row.sumac_us is None and row.speedup is None


def test_a_document_survives_saving(tmp_path):
    file = tmp_path / "r.json"
    run = records.run(records.session())
    files.show_json(results.document([run, run], {"cpu": "x"}, "2026-01-01"), file)
    assert json.loads(file.read_text())["format"] == 1
    first, second = results.load(file)
    assert first.as_dict() == second.as_dict() == run.as_dict()


def test_the_programs_output_can_be_loaded(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text("\n".join(map(json.dumps, records.session())))
    (run,) = results.load(file)
    assert [row.bytes for row in run.rows] == [4, 65536, 4194304]
    assert run.summary["geomean"] == 1.81


@pytest.mark.parametrize("text", ["", "{}", "[]", "hello", '{"runs": []}', '{"kind": "size"}', "1"])
def test_other_files_are_refused(tmp_path, text):
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(SumacError) as caught:
        results.load(file)
    assert caught.value.code == Exit.USAGE


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(SumacError) as caught:
        results.load(tmp_path / "no.json")
    assert caught.value.code == Exit.USAGE


def test_incomplete_runs_stay_so(tmp_path):
    run = records.run(records.session()[:2])
    run.cut_by = "interrupted"
    files.show_json(results.document([run], {}, "", "interrupted"), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["incomplete"] == "interrupted"
    (loaded,) = results.load(tmp_path / "r.json")
    assert loaded.cut_by == "interrupted" and len(loaded.rows) == 1


@pytest.mark.parametrize(
    ("stamps", "names"),
    [
        ([], []),
        ([100, 104, 140], ["near"]),
        ([520, 100, 430, 96, 52, 53], ["sibling", "near", "far"]),
        ([450], ["far"]),
        ([260, 900, 2000], ["far", "far", "far"]),  # several modes of one name
        ([0, 0], ["changing"]),
        ([100, 149, 222, 330], ["near"]),  # no gap: a line's time may drift
    ],
)
@pytest.mark.usefixtures("sandbox")
def test_gaps_tell_modes_apart(stamps, names):
    found = modes.classes(stamps)
    assert [mode.name for mode in found] == names
    assert [sum(mode.holds(ns) for mode in found) for ns in stamps] == [1] * len(stamps)


def stamped(ns, mpi_us, sumac_us, dropped=0):
    record = records.size(8, 1, 1, line={"ns": ns, "dropped": dropped})
    for contender, rounds in (("native", mpi_us), ("sumac", sumac_us)):
        record[contender] |= {"rounds": rounds, "p50": statistics.median(rounds)}
    return record


@pytest.mark.usefixtures("sandbox")
def test_a_size_has_a_row_for_each_mode():
    record = stamped([100, 500, 104, 480, 500], [1, 4, 3, 5, 6], [0.5, 1, 0.5, 1, 1], dropped=2)
    near, far = modes.apart(record)
    assert (near["native"]["p50"], near["sumac"]["p50"], near["speedup"]) == (2, 0.5, 4)
    assert (far["native"]["p50"], far["sumac"]["p50"], far["speedup"]) == (5, 1, 5)
    assert [part["line"]["dropped"] for part in (near, far)] == [2, 0]
    assert "p99" not in near["native"]  # is not known from rounds


@pytest.mark.usefixtures("sandbox")
def test_a_size_in_two_modes_is_one_that_was_measured():
    run = results.Run(records.session()[0])
    run.add(stamped([100, 500], [1, 4], [1, 1]))
    assert (len(run.rows), run.measured) == (2, 1)


@pytest.mark.usefixtures("sandbox")
def test_in_one_mode_the_record_stays():
    record = stamped([100, 104], [1, 1], [1, 1])
    (same,) = modes.apart(record)
    assert same.pop("mode") == {"name": "near", "line_ns": 102, "least": 100, "most": 104}
    assert same == record
    assert modes.apart(records.size(8, 1, 1)) == [records.size(8, 1, 1)]


@pytest.fixture
def two_modes(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    row = stamped([100, 500, 500], [2, 9, 9], [1, 3, 3], dropped=4)
    sandbox.add_program("bench", "openmpi", [records.header(line_ns=100, sizes=1), row])
    return sandbox


def test_the_table_tells_the_modes_and_what_was_dropped(two_modes, sumac):
    status, out, _ = sumac("bench", "allreduce", "-n", "2")
    assert status == 0
    assert [line.split()[:3] for line in out.splitlines() if " flat_slots " in line] == [
        ["near", "100", "8"], ["far", "500", "8"]]  # fmt: skip
    assert "# 4 rounds dropped" in out
    assert "speedup by mode: near 2.00x±?, far 3.00x±0%" in out


def test_csv_has_a_line_for_each_mode_and_osu_the_fastest(two_modes, sumac):
    _, out, _ = sumac("bench", "allreduce", "-n", "2", "--format", "csv")
    assert [line.split(",")[-4:] for line in out.splitlines()[1:]] == [
        ["near", "100", "", ""], ["far", "500", "3.0", "3.0"]]  # fmt: skip
    _, out, _ = sumac("bench", "allreduce", "-n", "2", "--format", "osu")
    assert [line.split() for line in out.splitlines() if line[:1].isdigit()] == [["8", "1.00"]]


def test_files_are_compared_within_a_mode(two_modes, sumac):
    sumac("bench", "allreduce", "-n", "2", "--json=r.json")
    row = stamped([500, 510], [9, 9], [6, 6])
    two_modes.add_program("bench", "openmpi", [records.header(line_ns=500, sizes=1), row])
    _, out, _ = sumac("bench", "allreduce", "-n", "2", "--against", "r.json")
    assert "against the earlier file: 0.50x" in out
