# SPDX-License-Identifier: BSD-3-Clause
"""The machine's modes: told apart by gaps between the times of a line."""

import statistics

import pytest
import records
from sumac_mpi.bench import modes, results


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
