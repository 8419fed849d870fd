# SPDX-License-Identifier: BSD-3-Clause
"""The table of a run: its columns, and that its figures are those of the records."""

import pytest
import records
import tables
from sumac_mpi.base.spread import spread
from sumac_mpi.report import table

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables
CALL = ["size", "count", "type", "op"]
MPI = ["MPI p50 us", "MPI busbw GB/s"]
SUMAC = ["Sumac p50 us", "Sumac p99 us", "Sumac busbw"]
LAST = ["Sumac speedup", "Sumac algo"]
BLOCKING = ["blocking p50 us", "blocking ratio"]


def Table(run, before=None, wide=True):
    return table.Table(run, before, wide)


def names(report):
    return [title for title, *_ in tables.titles(report)]


def foot(report):
    return "\n".join(report.foot())


def session():
    return records.run(records.session())


def without_sumac():
    return records.run(records.without_sumac())


def barrier():
    return records.run(records.barrier())


class TestFacts:
    def test_who_was_measured_and_where(self):
        assert Table(session()).head()[0] == (
            "# Sumac 0.1.0 avx2 · Open MPI 4.1.4 · 2 ranks · 2 cpus"
        )
        run = records.run([records.header(ranks=1, hosts=4), records.size(4, 1, 1)])
        assert Table(run).head()[0].endswith(" · 1 rank · 4 hosts · 2 cpus")

    def test_more_ranks_than_processors_are_told(self):
        head = records.header(ranks=4, oversubscribed=True)
        (facts, *_) = Table(records.run([head, records.size(8, 24000.0, 6.0)])).head()
        assert facts.endswith(
            "4 ranks · 2 cpus (oversubscribed ×2: latencies are not representative)"
        )

    def test_why_sumac_takes_no_part(self):
        facts, note, *_ = Table(without_sumac()).head()
        assert facts.startswith("# sumac 0.1.0 · Open MPI")
        assert note == "# Sumac is not loaded: these are the MPI's own figures"
        aside = records.ABSENT | {"loaded": True}
        run = records.run([records.header(sumac=aside), records.size(4, 1, None)])
        assert "# Sumac stands aside: these are the MPI's own figures" in Table(run).head()


class TestColumns:
    def test_of_a_blocking_call(self):
        assert names(Table(session())) == [*CALL, *MPI, *SUMAC, *LAST, "#wrong"]

    def test_that_fit_a_terminal_unless_all_are_wanted(self):
        head = records.header(line_ns=100)
        for rows in ([head, *records.session()[1:]], records.session(), records.without_sumac()):
            report = Table(records.run(rows), wide=False)
            lines = [report.head()[-1], *map(report.row, report.run.rows)]
            assert max(map(len, lines)) <= 80
        assert names(Table(session(), wide=False)) == [
            "size", "MPI p50 us", "Sumac p50 us", *LAST, "#wrong"
        ]  # fmt: skip

    def test_without_sumac_the_mpis_alone(self):
        report = Table(without_sumac())
        assert names(report) == [*CALL, "p50 us", "busbw GB/s", "#wrong"]
        assert tables.column(tables.table(report), "#wrong") == ["0", "1"]
        assert report.foot() == ["# verified 1 of 2 sizes"]  # no speedup is told

    def test_of_a_nonblocking_call(self):
        report = Table(records.run(records.nonblocking(overlap=False)))
        start = ["MPI start us"], ["Sumac start us"]
        assert names(report) == [*CALL, *MPI, *start[0], *SUMAC, *start[1], *LAST, "#wrong"]
        rows = tables.table(report)
        assert tables.numbers(rows, "MPI start us") == [0.35, 10.5]
        assert tables.numbers(rows, "Sumac start us") == [0.175, 7.5]

    def test_of_overlap_with_and_without_calls_of_test(self):
        report = Table(records.run(records.nonblocking()))
        assert "# overlap: the core is busy meanwhile; +tests: with 10 calls of MPI_Test" in (
            report.head()
        )
        rows = tables.table(report)
        for title, percent in (("MPI overlap", 0.0), ("MPI +tests", 20.0),
                               ("Sumac overlap", 62.5), ("Sumac +tests", 82.5)):  # fmt: skip
            assert tables.column(rows, title) == [f"{percent}%"] * 2
        report = Table(records.run(records.ibarrier()))
        assert "# overlap: the core is idle meanwhile" in report.head()
        (row,) = tables.table(report)
        assert row["MPI overlap"] == row["Sumac overlap"] == "50.0%"
        assert not [title for title in row if "+tests" in title]

    def test_of_a_persistent_call_beside_the_blocking_one(self):
        report = Table(records.run(records.persistent()))
        assert names(report)[-3:] == [*BLOCKING, "#wrong"]
        rows = tables.table(report)
        assert tables.numbers(rows, "blocking p50 us") == [0.4, 12.5]
        assert tables.numbers(rows, "blocking ratio") == [2.0, 0.83]  # 0.4 / 0.2, 12.5 / 15
        assert report.foot()[-1] == (
            "# the persistent call is 1.29x±? as fast as the blocking one (geometric mean), "
            "slower at 64K"
        )

    def test_of_a_persistent_call_that_sumac_lacks(self):
        lacks = {"active": True, "loaded": True, "description": "Sumac 0.1.0", "lacks": "error 16"}
        head, *rows = records.persistent(sumac=lacks)
        for row in rows:
            del row["sumac"], row["speedup"]
        report = Table(records.run([head, *rows]))
        assert "# Sumac takes no part (error 16): these are the MPI's own figures" in report.head()
        assert names(report) == [*CALL, *MPI, "MPI start us", *BLOCKING, "#wrong"]
        assert tables.numbers(tables.table(report), "blocking ratio") == [0.33, 0.31]
        assert report.foot()[-1].endswith("slower at 2 sizes (8 B … 64K)")

    def test_of_a_persistent_call_that_the_mpi_lacks(self):
        head, *rows = records.persistent(native_kind="blocking")
        for row in rows:
            del row["native"]["start"]
        report = Table(records.run([head, *rows]))
        assert (
            "# this MPI has no allreduce-persistent: measured is its blocking allreduce"
            in report.head()
        )
        assert tables.column(tables.table(report), "MPI, blocking start us") == ["-", "-"]

    def test_against_an_earlier_file(self):
        """Of the row that is not in it nothing is said."""
        run = session()
        report = Table(
            run, {run.key(run.rows[0]): spread([0.3]), run.key(run.rows[1]): spread([8.0])}
        )
        rows = tables.table(report)
        assert names(report)[-3:] == ["#wrong", "before us", "change"]
        assert tables.column(rows, "before us") == ["0.300", "8.000", "-"]
        assert tables.column(rows, "change") == ["1.50x±?", "1.00x±?", "-"]
        assert "# against the earlier file: 1.22x±? as fast (geometric mean of 2)" in report.foot()
        none = Table(run, {}).foot()
        assert "# the earlier file holds none of these measurements" in none
        elsewhere = Table(run, {(*run.key(run.rows[0])[:-1], "far"): spread([0.3])}).foot()
        assert "# the earlier file holds these measurements in other modes only" in elsewhere


class TestFigures:
    def test_are_medians_in_microseconds(self):
        rows = tables.table(Table(session()))
        assert tables.numbers(rows, "MPI p50 us") == [0.6, 16, 1000]
        assert tables.numbers(rows, "Sumac p50 us") == [0.2, 8, 1010]
        assert tables.numbers(rows, "Sumac p99 us") == [0.4, 16, 2020]

    def test_speedup_is_the_mpis_time_over_sumacs(self):
        rows = tables.table(Table(session()))
        assert tables.column(rows, "Sumac speedup") == ["3.00x±?", "2.00x±?", "0.99x±?"]

    def test_quotients_have_the_quartiles_of_their_rounds(self):
        """The quotients of the quartiles that are the farthest apart."""
        slow = records.figures(8) | {"rounds": [7.0, 8.0, 8.0, 8.0, 10.0]}
        fast = records.figures(4) | {"rounds": [3.0, 3.2, 4.0, 5.0, 6.0]}
        row = records.size(8, 8, 4, native=slow, sumac=fast)
        (cells,) = tables.table(Table(records.run([records.header(), row])))
        assert cells["Sumac speedup"] == "2.00x±25%"  # 8 / 5 to 8 / 3.2

    def test_bandwidth_is_of_the_bytes_that_each_rank_carries(self):
        """Of two ranks an all-reduce carries the message once."""
        rows = tables.table(Table(session()))
        assert tables.column(rows, "MPI busbw GB/s") == ["0.01", "4.10", "4.19"]
        assert tables.column(rows, "Sumac busbw") == ["0.02", "8.19", "4.15"]

    def test_rows_are_in_order_of_sizes_and_say_what_was_reduced(self):
        rows = tables.table(Table(session()))
        assert tables.numbers(rows, "size") == [4, 65536, 4194304]
        assert tables.numbers(rows, "count") == [1, 16384, 1048576]
        assert {(row["type"], row["op"]) for row in rows} == {("float", "sum")}

    def test_calls_handed_down_are_marked_and_explained(self):
        report = Table(session())
        assert tables.column(tables.table(report), "Sumac algo") == [
            "flat_slots", "split_slots", "mpi"
        ]  # fmt: skip
        assert "# handed down to the MPI at 4M: no faster way known" in report.foot()

    def test_a_barrier_has_no_data(self):
        (row,) = tables.table(Table(barrier()))
        without = {title for title, cell in row.items() if cell == "-"}
        assert without == {"type", "op", "MPI busbw GB/s", "Sumac busbw"}
        assert (row["size"], row["count"], row["Sumac speedup"]) == ("0", "0", "2.00x±?")


class TestFoot:
    def test_means_are_geometric_with_the_least_and_the_most(self):
        meaning = "# ± is where the quartiles of the rounds lie"
        assert Table(session()).foot()[:3] == [
            "# verified 3 of 3 sizes",
            "# geometric-mean speedup 1.81x±? (min 0.99x±? at 4M, max 3.00x±? at 4 B)", meaning,
        ]  # fmt: skip
        assert Table(barrier()).foot() == [
            "# verified 1 of 1 size", "# geometric-mean speedup 2.00x±?", meaning
        ]  # fmt: skip

    def test_wrong_results_of_either(self):
        row = records.size(8, 24000.0, 6.0, wrong=3, wrong_native=1)
        report = Table(records.run([records.header(), row]))
        assert tables.column(tables.table(report), "#wrong") == ["3"]
        assert "verified 0 of 1 size\n" in foot(report)
        assert "# the MPI's own results were wrong at 8 B" in report.foot()

    def test_unsteady_rounds_are_told(self):
        calm = records.figures(1) | {"rounds": [1.0, 1.1, 1.0, 1.2, 9.0, 1.0, 1.0, 1.0]}
        busy = records.figures(1) | {"rounds": [1.0, 1.1, 1.0, 1.2, 9.0, 8.0, 7.0, 1.0]}
        rows = [records.size(4, 1, 1, native=calm), records.size(8, 1, 1, sumac=busy)]
        assert foot(Table(records.run([records.header(), *rows]))).count("unsteady") == 1
        assert "# unsteady at 8 B: " in foot(Table(records.run([records.header(), *rows])))
