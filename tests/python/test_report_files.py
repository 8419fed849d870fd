# SPDX-License-Identifier: BSD-3-Clause
"""Results for other programs: comma-separated values, and the format of the OSU benchmarks."""

import pytest
import records
import tables
from sumac_mpi.report.for_programs import Csv, Osu

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables


def session():
    return records.run(records.session())


def without_sumac():
    return records.run(records.without_sumac())


class TestCsv:
    def test_titles_stand_once_in_a_file(self):
        assert Csv(session()).head() == [",".join(Csv.COLUMNS)]
        assert Csv(session(), first=False).head() == []

    def test_what_was_measured(self):
        rows = tables.file(Csv(session()))
        assert {(row["collective"], row["mpi"], row["ranks"], row["type"], row["op"], row["root"],
                 row["in_place"], row["mpi_kind"]) for row in rows} == {
            ("allreduce", "Open MPI 4.1.4", "2", "float", "sum", "0", "0", "blocking")
        }  # fmt: skip
        assert tables.numbers(rows, "bytes") == [4, 65536, 4194304]
        assert tables.numbers(rows, "count") == [1, 16384, 1048576]

    def test_figures_are_in_the_units_of_their_titles(self):
        rows = tables.file(Csv(session()))
        assert tables.numbers(rows, "mpi_p50_us") == [0.6, 16, 1000]
        assert tables.numbers(rows, "mpi_p99_us") == [1.2, 32, 2000]
        assert tables.numbers(rows, "sumac_p50_us") == [0.2, 8, 1010]
        assert tables.numbers(rows, "sumac_p99_us") == [0.4, 16, 2020]
        assert tables.numbers(rows, "mpi_busbw_gbs") == [0.007, 4.096, 4.194]
        assert tables.numbers(rows, "sumac_busbw_gbs") == [0.02, 8.192, 4.153]
        assert tables.numbers(rows, "speedup") == [3.0, 2.0, 0.99]
        assert tables.column(rows, "speedup_low") == ["", "", ""]  # of one round

    def test_calls_handed_down_say_why(self):
        rows = tables.file(Csv(session()))
        assert tables.column(rows, "algorithm") == [
            "flat_slots", "split_slots", "mpi: no faster way known"
        ]  # fmt: skip

    def test_what_is_missing_is_empty(self):
        rows = tables.file(Csv(without_sumac()))
        for title in ("sumac_p50_us", "sumac_p99_us", "sumac_busbw_gbs", "algorithm", "speedup"):
            assert tables.column(rows, title) == ["", ""]
        assert tables.column(rows, "wrong") == ["0", "1"]
        assert tables.numbers(rows, "mpi_p50_us") == [0.6, 0.7]
        (row, *_) = tables.file(Csv(session()))
        empty = [title for title, value in row.items() if not value]
        assert empty == [
            "mpi_start_us", "sumac_start_us", "mpi_overlap_pct", "sumac_overlap_pct",
            "mpi_overlap_tests_pct", "sumac_overlap_tests_pct", "blocking_p50_us", "mode",
            "line_ns", "speedup_low", "speedup_high",
        ]  # fmt: skip

    def test_overlap(self):
        rows = tables.file(Csv(records.run(records.nonblocking())))
        assert {row["mpi_kind"] for row in rows} == {"nonblocking"}
        assert tables.numbers(rows, "mpi_start_us") == [0.35, 10.5]
        assert tables.numbers(rows, "sumac_start_us") == [0.175, 7.5]
        for title, percent in (("mpi_overlap_pct", 0), ("sumac_overlap_pct", 62.5),
                               ("mpi_overlap_tests_pct", 20),
                               ("sumac_overlap_tests_pct", 82.5)):  # fmt: skip
            assert tables.numbers(rows, title) == [percent, percent]

    def test_a_persistent_call_beside_the_mpis_blocking_one(self):
        head, *rows = records.persistent(native_kind="blocking")
        for row in rows:
            del row["native"]["start"]
        rows = tables.file(Csv(records.run([head, *rows])))
        assert {(row["mpi_kind"], row["mpi_start_us"]) for row in rows} == {("blocking", "")}
        assert tables.numbers(rows, "sumac_start_us") == [0.1, 7.5]
        assert tables.numbers(rows, "blocking_p50_us") == [0.4, 12.5]


def osu(report):
    """Its preamble, and its rows as numbers. They have two decimals."""
    rows = [report.row(row).split() for row in report.run.rows]
    assert all(len(cell.split(".")[1]) == 2 for row in rows for cell in row if "." in cell)
    return report.head(), [[float(cell) for cell in row] for row in rows]


class TestOsu:
    def test_of_a_blocking_call_the_means(self):
        head, rows = osu(Osu(session()))
        assert head == [
            "", "# OSU MPI Allreduce Latency Test v7.4", "# Datatype: MPI_FLOAT.",
            "# Size         Avg Latency(us)",
        ]  # fmt: skip
        assert rows == [[4, 0.22], [65536, 8.8], [4194304, 1111]]

    def test_of_the_mpi(self):
        assert osu(Osu(session(), "mpi"))[1] == [[4, 0.66], [65536, 17.6], [4194304, 1100]]
        assert osu(Osu(without_sumac()))[1] == osu(Osu(without_sumac(), "mpi"))[1]

    def test_figures_end_below_the_end_of_their_title(self):
        for run in (session(), records.run(records.nonblocking())):
            report = Osu(run)
            assert {len(report.row(row)) for row in run.rows} == {len(report.head()[-1])}

    def test_a_barrier_has_no_sizes(self):
        assert osu(Osu(records.run(records.barrier()))) == (
            ["", "# OSU MPI Barrier Latency Test v7.4", "# Avg Latency(us)"], [[0.28]]
        )  # fmt: skip

    def test_of_a_nonblocking_call_the_overlap(self):
        head, rows = osu(Osu(records.run(records.nonblocking())))
        assert head == [
            "", "# OSU MPI Non-blocking Allreduce Latency Test v7.4",
            "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait", "",
            "# Datatype: MPI_FLOAT.", head[-1],
        ]  # fmt: skip
        assert head[-1].split() == [
            "#", "Size", "Overall(us)", "Compute(us)", "Pure", "Comm.(us)", "Overlap(%)"
        ]  # fmt: skip
        assert rows == [[8, 0.96, 0.7, 0.7, 62.5], [65536, 41.25, 30, 30, 62.5]]

    def test_of_a_nonblocking_barrier(self):
        head, rows = osu(Osu(records.run(records.ibarrier())))
        assert head[1] == "# OSU MPI Non-blocking Barrier Latency Test v7.4"
        assert not [line for line in head if "Datatype" in line or "Size" in line]
        assert rows == [[0.75, 0.5, 0.5, 50]]

    def test_of_a_persistent_call(self):
        head, rows = osu(Osu(records.run(records.persistent())))
        assert head[1] == "# OSU MPI Allreduce Persistent Latency Test v7.4"
        assert rows == [[8, 0.22], [65536, 16.5]]
