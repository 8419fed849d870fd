# SPDX-License-Identifier: BSD-3-Clause
"""Reports of calls in one process: reduce_local, a matrix for each size, and pack."""

import pytest
import records
import tables
from sumac_mpi.report.for_programs import LocalCsv, PackCsv
from sumac_mpi.report.local import LocalTable, PackTable

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables
OWN = "# Sumac is not loaded: these are the MPI's own figures"


def matrices(report):
    """{title: {(type, operation): cell}}, in their order, and the lines below them."""
    lines = [line for row in report.run.rows for line in report.row(row).splitlines()]
    found, ops = {}, []
    foot = report.foot()
    below = next(at for at, line in enumerate(foot) if line.startswith("# verified"))
    for line in [*lines, *foot[:below]]:
        if line.startswith("# "):
            cells = found.setdefault(line[2:], {})
        elif line.startswith("#type"):
            ops = tables.words(line)[1:]
        elif line != "#":
            (name, *_), *values = tables.words(line)
            for value, _, end in values:  # below the operation's name
                (op,) = [op for op, _, last in ops if last == end]
                cells[name, op] = value
    return found, foot[below:]


class TestLocalTable:
    def report(self):
        return LocalTable(records.run(records.local()))

    def test_what_was_measured(self):
        facts, note = self.report().head()
        assert facts == "# Sumac 0.1.0 avx2 · Open MPI 4.1.4 · 1 rank · 2 cpus"
        assert note == "# not measured, for this MPI has no such type: int128"

    def test_a_size_has_its_matrices_once_it_is_measured(self):
        """Those of the loop are for sizes at which it was measured."""
        report = self.report()
        printed = ["# 64 B" in report.row(row) for row in report.run.rows]
        assert printed == [False, False, True, False, False, False]
        assert list(matrices(self.report())[0]) == [
            "64 B: time over that of memcpy (0.010 us)", "64 B: the MPI's own time over Sumac's",
            "64 B: ns more than a plain loop takes", "64K: time over that of memcpy (2.000 us)",
            "64K: the MPI's own time over Sumac's",
        ]  # fmt: skip

    def test_cells_are_ratios_of_the_records(self):
        """With "-" where nothing was measured, and nothing where MPI has no such operation."""
        found, _ = matrices(self.report())
        assert found["64 B: time over that of memcpy (0.010 us)"] == {
            ("float", "sum"): "2.60", ("float", "max"): "2.50"
        }  # fmt: skip
        assert found["64 B: the MPI's own time over Sumac's"] == {
            ("float", "sum"): "10.00", ("float", "max"): "0.80"
        }  # fmt: skip
        assert found["64 B: ns more than a plain loop takes"] == {
            ("float", "sum"): "13.9", ("float", "max"): "12.8"
        }  # fmt: skip
        assert found["64K: time over that of memcpy (2.000 us)"] == {
            ("float16", "sum"): "1.10", ("float16", "max"): "-", ("float", "sum"): "1.05",
            ("float", "max"): "1.00", ("double_int", "maxloc"): "2.00",
        }  # fmt: skip
        assert found["64K: the MPI's own time over Sumac's"] == {
            ("float16", "sum"): "-", ("float16", "max"): "-", ("float", "sum"): "2.86",
            ("float", "max"): "6.00", ("double_int", "maxloc"): "1.00",
        }  # fmt: skip

    def test_sums_and_what_is_slow_or_handed_down(self):
        _, foot = matrices(self.report())
        assert foot == [
            "# verified 6 of 6 cells",
            "# 64 B: 0 of 2 cells within 1.15x of memcpy, the most 2.60x (sum of float); "
            "2.83x±? as fast as the MPI (geometric mean)",
            "# 64K: 3 of 4 cells within 1.15x of memcpy, the most 2.00x (maxloc of double_int); "
            "2.58x±? as fast as the MPI (geometric mean)",
            "# slower than the MPI's own, below 0.95x: 64 B max of float",
            "# handed down to the MPI (no kernel): 64K maxloc of double_int",
        ]

    def test_without_sumac_the_mpis_figures(self):
        report = LocalTable(records.of_the_mpi_alone(records.local, 4))
        assert OWN in report.head()
        found, foot = matrices(report)
        assert not [title for title in found if "Sumac" in title]
        assert found["64 B: time over that of memcpy (0.010 us)"]["float", "sum"] == "26.00"
        assert found["64 B: ns more than a plain loop takes"]["float", "sum"] == "247.9"
        assert foot[0] == "# verified 3 of 4 cells"
        assert "as fast as the MPI" not in "".join(foot)
        assert foot[-1] == "# the MPI's own results were wrong: 64K max of float"


class TestLocalCsv:
    def test_columns_and_figures(self):
        rows = tables.file(LocalCsv(records.run(records.local())))
        assert list(rows[0]) == list(LocalCsv.COLUMNS)
        assert {(row["collective"], row["mpi"], row["count"]) for row in rows} == {
            ("reduce_local", "Open MPI 4.1.4", "16")
        }  # fmt: skip
        assert tables.column(rows, "op") == ["sum", "max", "sum", "max", "maxloc", "sum"]
        assert tables.numbers(rows, "memcpy_us") == [0.01, 0.01, 2, 2, 2, 2]
        assert tables.numbers(rows, "mpi_us") == [0.26, 0.02, 6, 12, 4, None]
        assert tables.numbers(rows, "sumac_us") == [0.026, 0.025, 2.1, 2, 4, 2.2]
        assert tables.numbers(rows, "loop_us") == [0.0121, 0.0122, None, None, None, None]
        assert tables.numbers(rows, "mpi_over_memcpy") == [26, 2, 3, 6, 2, None]
        assert tables.numbers(rows, "sumac_over_memcpy") == [2.6, 2.5, 1.05, 1, 2, 1.1]
        assert tables.numbers(rows, "speedup") == [10, 0.8, 2.857, 6, 1, None]
        assert tables.column(rows, "algorithm") == [*["local"] * 4, "mpi: no kernel", "local"]


def pack():
    return records.run(records.packing())


class TestPackTable:
    def test_what_was_measured(self):
        facts, note, *_ = PackTable(pack()).head()
        assert facts == "# Sumac 0.1.0 avx2 · Open MPI 4.1.4 · 1 rank · 2 cpus"
        assert note == "# not measured, for its places are too far apart: yz_face of 64M"

    def test_rows_are_gigabytes_a_second(self):
        """64 KiB in 4 us are 16.38 GB/s."""
        rows = [PackTable(pack()).row(row).split() for row in pack().rows]
        assert PackTable(pack()).head()[-1].split() == [
            "#size", "layout", "call", "memcpy", "MPI", "Sumac", "GB/s", "speedup", "by", "#wrong"
        ]  # fmt: skip
        assert rows[0] == [
            "64K", "vector_1_2", "pack", "16.38", "1.64", "6.55", "4.00x±?", "Sumac", "0"
        ]  # fmt: skip
        assert [row[:3] for row in rows] == [
            ["64K", "vector_1_2", "pack"], ["64K", "vector_1_2", "unpack"],
            ["64K", "yz_face", "pack"], ["64K", "yz_face", "unpack"],
            ["64M", "vector_1_2", "pack"], ["64M", "vector_1_2", "unpack"],
        ]  # fmt: skip
        assert [row[6:8] for row in rows] == [
            ["4.00x±?", "Sumac"], ["2.00x±?", "Sumac"], ["2.00x±?", "Sumac"], ["1.00x±?", "MPI"],
            ["1.60x±?", "Sumac"], ["0.80x±?", "Sumac"],
        ]  # fmt: skip

    def test_columns_do_not_shift(self):
        for run in (pack(), records.of_the_mpi_alone(records.packing, 3)):
            report = PackTable(run)
            assert {len(report.row(row)) for row in run.rows} == {len(report.head()[-1])}

    def test_means_of_each_size_with_the_least(self):
        assert PackTable(pack()).foot() == [
            "# verified 6 of 6 cells",
            "# 64K: 2.00x±? as fast as the MPI (geometric mean), the least 1.00x±? "
            "(unpack of yz_face)",
            "# 64M: 1.13x±? as fast as the MPI (geometric mean), the least 0.80x±? "
            "(unpack of vector_1_2)",
        ]

    def test_without_sumac_the_mpis_figures(self):
        report = PackTable(records.of_the_mpi_alone(records.packing, 3))
        assert OWN in report.head()
        for row in report.run.rows:
            assert report.row(row).split()[5:8] == ["-", "-", "MPI"]
        assert report.foot() == [
            "# verified 2 of 3 cells", "# the MPI's own results were wrong: 64K pack of yz_face"
        ]  # fmt: skip


class TestPackCsv:
    def test_columns_and_figures(self):
        rows = tables.file(PackCsv(pack()))
        assert list(rows[0]) == list(PackCsv.COLUMNS)
        small = rows[0]
        assert (small["op"], small["layout"], small["asked"], small["bytes"]) == (
            "pack", "vector_1_2", "65536", "65536"
        )  # fmt: skip
        assert tables.numbers(rows, "memcpy_us") == [4, 4, 4, 4, 8000, 8000]
        assert tables.numbers(rows, "mpi_us") == [40, 40, 100, 100, 16000, 16000]
        assert tables.numbers(rows, "sumac_us") == [10, 20, 50, 100, 10000, 20000]
        assert tables.numbers(rows, "memcpy_gbs") == [16.384] * 4 + [8.389] * 2
        assert tables.numbers(rows, "mpi_gbs") == [1.638, 1.638, 0.655, 0.655, 4.194, 4.194]
        assert tables.numbers(rows, "sumac_gbs") == [6.554, 3.277, 1.311, 0.655, 6.711, 3.355]
        assert tables.numbers(rows, "speedup") == [4, 2, 2, 1, 1.6, 0.8]
        assert tables.column(rows, "algorithm") == [*["local"] * 3, "mpi", *["local"] * 2]

    def test_without_sumac_its_columns_are_empty(self):
        rows = tables.file(PackCsv(records.of_the_mpi_alone(records.packing, 3)))
        for title in ("sumac_us", "sumac_gbs", "speedup", "algorithm"):
            assert tables.column(rows, title) == ["", "", ""]
        assert tables.column(rows, "wrong") == ["0", "0", "7"]
