# SPDX-License-Identifier: BSD-3-Clause
"""Compares each format with a file of golden/. SUMAC_TEST_WRITE_GOLDEN=1 writes them anew."""

import os
from pathlib import Path

import pytest
import records
from sumac_mpi.report.csv import Csv
from sumac_mpi.report.local import LocalCsv, LocalTable
from sumac_mpi.report.osu import Osu
from sumac_mpi.report.pack import PackCsv, PackTable
from sumac_mpi.report.table import Table

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables
GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("SUMAC_TEST_WRITE_GOLDEN")  # now: the sandbox takes SUMAC_ variables away


def barrier():
    row = records.size(0, 0.5, 0.25, collective="barrier", count=0, algorithm="flat")
    return records.run([records.header(collective="barrier"), row])


def without_sumac():
    absent = {"loaded": False, "active": False, "version": "", "description": ""}
    rows = [records.size(4, 0.6, None), records.size(8, 0.7, None, wrong_native=1)]
    return records.run([records.header(sumac=absent), *rows])


def crowded():
    changed = records.header(ranks=4, oversubscribed=True)
    row = records.size(8, 24000.0, 6.0, wrong=3, wrong_native=1)
    return records.run([changed, row])


def against():
    run = records.run(records.session())
    return Table(run, {run.key(run.rows[0]): 0.3, run.key(run.rows[1]): 8.0})


def persistent_without_sumac():
    lacks = {"active": True, "loaded": True, "description": "Sumac 0.1.0 avx2", "lacks": "error 16"}
    head, *rows = records.persistent(sumac=lacks)
    for row in rows:
        del row["sumac"], row["speedup"]
    return records.run([head, *rows])


def persistent_beside_blocking():
    head, *rows = records.persistent(native_kind="blocking")
    for row in rows:
        del row["native"]["start"]
    return records.run([head, *rows])


def ibarrier():
    overlap = records.overlapped(0.5, 50)
    row = records.size(0, 0.5, 0.5, collective="ibarrier", count=0, algorithm="flat")
    for contender in ("native", "sumac"):
        row[contender] |= {"start": 0.1, "overlap": overlap}
    how = {"compute": "idle", "tests": 0}
    return records.run([records.header(collective="ibarrier", overlap=how), row])


def local_without_sumac():
    absent = {"loaded": False, "active": False, "version": "", "description": ""}
    head, *rows = records.local(sumac=absent)
    for row in rows:
        for name in ("sumac", "speedup", "wrong", "algorithm"):
            row.pop(name, None)
    wrong = [row | {"wrong_native": 7} for row in rows[3:4]]
    return records.run([head, *rows[:3], *wrong])


def packing_without_sumac():
    absent = {"loaded": False, "active": False, "version": "", "description": ""}
    head, *rows = records.packing(sumac=absent)
    for row in rows:
        for name in ("sumac", "speedup", "wrong", "algorithm"):
            row.pop(name, None)
    wrong = [row | {"wrong_native": 7} for row in rows[2:3]]
    return records.run([head, *rows[:2], *wrong])


# Reports of reduce_local do not have one line per row.
LOCAL = {
    "local-table": lambda: LocalTable(records.run(records.local())),
    "local-table-without-sumac": lambda: LocalTable(local_without_sumac()),
    "local-csv": lambda: LocalCsv(records.run(records.local())),
}
CASES = {
    "table": lambda: Table(records.run(records.session())),
    "table-pack": lambda: PackTable(records.run(records.packing())),
    "table-pack-without-sumac": lambda: PackTable(packing_without_sumac()),
    "csv-pack": lambda: PackCsv(records.run(records.packing())),
    "csv-pack-without-sumac": lambda: PackCsv(packing_without_sumac()),
    "table-against": against,
    "table-barrier": lambda: Table(barrier()),
    "table-without-sumac": lambda: Table(without_sumac()),
    "table-crowded": lambda: Table(crowded()),
    "osu": lambda: Osu(records.run(records.session())),
    "osu-mpi": lambda: Osu(records.run(records.session()), "mpi"),
    "osu-barrier": lambda: Osu(barrier()),
    "table-nonblocking": lambda: Table(records.run(records.nonblocking(overlap=False))),
    "table-overlap": lambda: Table(records.run(records.nonblocking())),
    "table-ibarrier": lambda: Table(ibarrier()),
    "table-persistent": lambda: Table(records.run(records.persistent())),
    "table-persistent-sumac-lacks": lambda: Table(persistent_without_sumac()),
    "table-persistent-mpi-lacks": lambda: Table(persistent_beside_blocking()),
    "osu-overlap": lambda: Osu(records.run(records.nonblocking())),
    "osu-ibarrier": lambda: Osu(ibarrier()),
    "osu-persistent": lambda: Osu(records.run(records.persistent())),
    "csv-overlap": lambda: Csv(records.run(records.nonblocking())),
    "csv-persistent": lambda: Csv(persistent_beside_blocking()),
    "csv": lambda: Csv(records.run(records.session())),
    "csv-without-sumac": lambda: Csv(without_sumac()),
}


@pytest.mark.parametrize("name", [*CASES, *LOCAL])
def test_format(name):
    report = (CASES | LOCAL)[name]()
    rows = [line for row in report.run.rows for line in report.row(row).splitlines()]
    text = "".join(line + "\n" for line in [*report.head(), *rows, *report.foot()])
    file = GOLDEN / f"{name}.txt"
    if WRITE:
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("table")])
def test_columns_do_not_shift(name):
    report = CASES[name]()
    titles = report.head()[-1]
    for row in report.run.rows:
        assert len(report.row(row)) == len(titles)


def test_second_run_of_a_csv_file_has_no_titles():
    assert Csv(records.run(records.session()), first=False).head() == []


def test_unsteady_rounds_are_told():
    calm = records.figures(1) | {"rounds": [1.0, 1.1, 1.0, 1.2, 9.0, 1.0, 1.0, 1.0]}
    busy = records.figures(1) | {"rounds": [1.0, 1.1, 1.0, 1.2, 9.0, 8.0, 7.0, 1.0]}
    rows = [records.size(4, 1, 1, native=calm), records.size(8, 1, 1, sumac=busy)]
    foot = Table(records.run([records.header(), *rows])).foot()
    assert foot[-1].startswith("# unsteady at 8 B: ")
