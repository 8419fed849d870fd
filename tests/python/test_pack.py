# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench pack` with programs that print prepared records, and its figure."""

import json

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.bench import local_figures, results


@pytest.fixture
def one_mpi(sandbox):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("bench", "openmpi", records.packing())
    return sandbox


def test_table_and_file(one_mpi, sumac, tmp_path):
    status, out, err = sumac("bench", "pack", "--json=r.json")
    assert (status, err) == (0, "sumac: wrote r.json\n")
    assert "# verified 6 of 6 cells" in out and "yz_face of 64M" in out
    assert len(json.loads((tmp_path / "r.json").read_text())["runs"][0]["sizes"]) == 6


def test_what_reaches_the_program(one_mpi, sumac):
    sumac("bench", "pack", "--layouts", "yz_face,columns", "--rounds", "5")
    sumac("bench", "pack", "-b", "1K", "-e", "4K", "--seconds", "0.1", "--iterations", "7")
    some, all_ = one_mpi.launched()
    assert "-n 1 " in some and "pack --sizes 262144,1048576,67108864 " in some
    assert "--layouts yz_face,columns --rounds 5 --iterations 0 --seconds 0.2" in some
    assert "pack -b 1024 -e 4096 -f 2 --layouts vector_1_2,columns,yz_face " in all_
    assert "--rounds 30 --iterations 7 --seconds 0.1" in all_


@pytest.mark.parametrize(
    "arguments",
    [
        ("--layouts", "diagonal"),
        ("--types", "float"),
        ("--ops", "sum"),
        ("-d", "float"),
        ("-n", "2"),
        ("--overlap",),
        ("--sizes", "0"),
        ("--format", "osu"),
        ("--against", "mpich"),
    ],
)
def test_bad_values_are_status_2_before_anything_starts(one_mpi, sumac, arguments):
    status, out, err = sumac("bench", "pack", *arguments)
    assert (status, out) == (2, "") and "error[bad-value]" in err
    assert one_mpi.launched() == []


@pytest.mark.parametrize("call", ["allreduce", "reduce_local"])
def test_layouts_are_for_pack_alone(one_mpi, sumac, call):
    status, _, err = sumac("bench", call, "--layouts", "yz_face")
    assert status == 2 and f"--layouts: not for {call}" in err


def test_wrong_and_slow_cells_are_named(one_mpi, sumac):
    head, *rows = records.packing()
    status, _, err = sumac("bench", "pack", "--fail-below", "0.95")
    assert status == 5 and "64M unpack of vector_1_2 0.80x" in err and "1 size " in err
    rows[2] |= {"wrong": 9}
    one_mpi.add_program("bench", "openmpi", [head, *rows], 4)
    status, _, err = sumac("bench", "pack")
    assert status == 4 and "pack of yz_face of 64K on Open MPI 4.1.4: 9 bytes" in err
    assert "SUMAC_DISABLE=1" in err


def test_against_an_earlier_file(one_mpi, sumac):
    sumac("bench", "pack", "--json=r.json")
    head, *rows = records.packing()
    rows[2] = records.packed("pack", "yz_face", 65536, 4.0, 200.0, 100.0)
    one_mpi.add_program("bench", "openmpi", [head, *rows])
    status, _, err = sumac("bench", "pack", "--against", "r.json", "--fail-below", "0.6")
    assert status == 5 and "64K pack of yz_face 0.50x" in err and "1 size " in err


def test_gb_per_second():
    row = results.Row(records.packed("pack", "yz_face", 4000, 4.0, 2.0, 1.0), 1)
    rates = [local_figures.gb_per_second(row, each) for each in ("memcpy", "native", "sumac")]
    assert rates == [1.0, 2.0, 4.0] and local_figures.gb_per_second(row, "loop") is None


def test_figure(one_mpi, sumac, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pyplot.rc_context({"svg.fonttype": "none"}):
        status, _, err = sumac("bench", "pack", "-o", "out.svg", "--json=r.json")
        assert (status, err) == (0, "sumac: wrote r.json\nsumac: wrote out.svg\n")
        text = (tmp_path / "out.svg").read_text()
        assert sumac("plot", "r.json", "-o", "again.svg") == (0, "", "sumac: wrote again.svg\n")
    assert (tmp_path / "again.svg").read_text().count("<path") == text.count("<path")
    for part in ("pack, 64 KiB, Open MPI 4.1.4", "unpack, 64 MiB, Open MPI 4.1.4", "yz_face",
                 "memcpy", "Sumac", "GB/s"):  # fmt: skip
        assert f">{part}<" in text


@pytest.mark.parametrize("other", [records.session, records.local])
def test_figure_apart_from_others(sumac, sandbox, tmp_path, other):
    pytest.importorskip("matplotlib")
    runs = [records.run(each) for each in (records.packing(), other())]
    files.show_json(results.document(runs, {}, ""), tmp_path / "r.json")
    status, _, err = sumac("plot", str(tmp_path / "r.json"), "-o", str(tmp_path / "out.png"))
    assert status == 2 and "figure" in err
