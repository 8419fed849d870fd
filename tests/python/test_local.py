# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench reduce_local` with programs that print prepared records, and its figure."""

import json

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.bench import results


@pytest.fixture
def one_mpi(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("bench", "openmpi", records.local())
    return sandbox


def test_matrices_and_file(one_mpi, sumac, tmp_path):
    status, out, err = sumac("bench", "reduce_local", "--json=r.json")
    assert (status, err) == (0, "sumac: wrote r.json\n")
    assert "# 64K: time over that of memcpy" in out and "# verified 6 of 6 cells" in out
    assert len(json.loads((tmp_path / "r.json").read_text())["runs"][0]["sizes"]) == 6


def test_what_reaches_the_program(one_mpi, sumac):
    sumac("bench", "reduce_local", "--types", "float,int", "--ops", "sum,max", "--rounds", "5")
    sumac("bench", "reduce_local", "--types", "all", "-b", "8", "-e", "256", "--seconds", "0.1")
    some, small = one_mpi.launched()
    assert (
        "-n 1 " in some and "bench-openmpi reduce_local --sizes 1024,65536,1048576,67108864" in some
    )
    assert "--types float,int32 --ops sum,max --rounds 5 --iterations 0 --seconds 0.2" in some
    assert "reduce_local -b 8 -e 256 -f 2 --types int8,uint8," in small
    assert ",maxloc --rounds 30 --iterations 0 --seconds 0.1" in small


@pytest.mark.parametrize(
    "arguments",
    [
        ("--types", "half"),
        ("--ops", "avg"),
        ("--types", "float", "--ops", "band"),
        ("--types", "double_int", "--sizes", "8"),
        ("--sizes", "0"),
        ("--sizes", "64K", "-b", "8"),
        ("-n", "2"),
        ("-d", "float"),
        ("--in-place",),
        ("--overlap",),
        ("--format", "osu"),
        ("-o", "missing/out.png"),
    ],
)
def test_bad_values_are_status_2_before_anything_starts(one_mpi, sumac, arguments):
    status, out, err = sumac("bench", "reduce_local", *arguments)
    assert (status, out) == (2, "") and "error[bad-value]" in err
    assert one_mpi.launched() == []


def test_lists_of_types_are_not_for_collectives(one_mpi, sumac):
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--types", "float")
    assert status == 2 and "--types: not for allreduce" in err


def test_wrong_and_slow_cells_are_named(one_mpi, sumac):
    head, *rows = records.local()
    status, _, err = sumac("bench", "reduce_local", "--fail-below", "1")
    assert status == 5 and "Open MPI 4.1.4 64 B max of float 0.80x" in err
    rows[2] |= {"wrong": 9}
    one_mpi.add_program("bench", "openmpi", [head, *rows], 4)
    status, _, err = sumac("bench", "reduce_local")
    assert status == 4 and "reduce_local sum of float of 64K on Open MPI 4.1.4: 9 elements" in err


def test_against_an_earlier_file(one_mpi, sumac):
    sumac("bench", "reduce_local", "--json=r.json")
    head, *rows = records.local()
    rows[3] = records.cell("float", "max", 65536, 2.0, 12.0, 4.0)
    one_mpi.add_program("bench", "openmpi", [head, *rows])
    arguments = ("bench", "reduce_local", "--against", "r.json", "--fail-below", "0.6")
    status, _, err = sumac(*arguments)
    assert status == 5 and "64K max of float 0.50x" in err and "1 size " in err


def test_heat_map(one_mpi, sumac, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pyplot.rc_context({"svg.fonttype": "none"}):
        status, _, err = sumac("bench", "reduce_local", "-o", "out.svg", "--json=r.json")
        assert (status, err) == (0, "sumac: wrote r.json\nsumac: wrote out.svg\n")
        text = (tmp_path / "out.svg").read_text()
        assert sumac("plot", "r.json", "-o", "again.svg") == (0, "", "sumac: wrote again.svg\n")
    for part in (
        "Sumac (avx2), 64 KiB",
        "Open MPI 4.1.4, 64 B",
        "double_int",
        "maxloc",
        "6.00",
        "26",
    ):
        assert f">{part}<" in text
    assert sumac("plot", "r.json", "-o", "out.nope")[0] == 2


def test_heat_map_apart_from_other_figures(sumac, tmp_path):
    pytest.importorskip("matplotlib")
    runs = [records.run(each) for each in (records.local(), records.session())]
    files.show_json(results.document(runs, {}, ""), tmp_path / "r.json")
    status, _, err = sumac("plot", str(tmp_path / "r.json"), "-o", str(tmp_path / "out.png"))
    assert status == 2 and "a figure of its own" in err
