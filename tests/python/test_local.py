# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench reduce_local` and `sumac bench pack`, which one process makes, with programs that
print prepared records; and their figures."""

import json

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.bench import results

RECORDS = {"reduce_local": records.local, "pack": records.packing}


@pytest.fixture
def bench(sandbox, sumac):
    """Runs the command on one MPI, whose program prints the call's records, or those `given`."""
    sandbox.add_launcher("mpiexec", "openmpi")

    def run(call, *arguments, given=None, status=0):
        sandbox.add_program("bench", "openmpi", given or RECORDS[call](), status)
        return sumac("bench", call, *arguments)

    return run


@pytest.mark.parametrize("call, printed", [
    ("reduce_local", "# 64K: time over that of memcpy"), ("pack", "yz_face of 64M"),
])  # fmt: skip
def test_table_and_file(bench, tmp_path, call, printed):
    status, out, err = bench(call, "--json=r.json")
    assert (status, err) == (0, "sumac: wrote r.json\n")
    assert printed in out and "# verified 6 of 6 cells" in out
    assert len(json.loads((tmp_path / "r.json").read_text())["runs"][0]["sizes"]) == 6


@pytest.mark.parametrize("call, arguments, parts", [
    ("reduce_local", "--types float,int --ops sum,max --rounds 5",
     ["-n 1 ", "bench-openmpi reduce_local --sizes 1024,65536,1048576,67108864",
      "--types float,int32 --ops sum,max --rounds 5 --iterations 0 --seconds 0.2"]),
    ("reduce_local", "--types all -b 8 -e 256 --seconds 0.1",
     ["reduce_local -b 8 -e 256 -f 2 --types int8,uint8,",
      ",maxloc --rounds 30 --iterations 0 --seconds 0.1"]),
    ("pack", "--layouts yz_face,columns --rounds 5",
     ["-n 1 ", "pack --sizes 262144,1048576,67108864 ",
      "--layouts yz_face,columns --rounds 5 --iterations 0 --seconds 0.2"]),
    ("pack", "-b 1K -e 4K --seconds 0.1 --iterations 7",
     ["pack -b 1024 -e 4096 -f 2 --layouts vector_1_2,", ",yz_face,",
      "--rounds 30 --iterations 7 --seconds 0.1"]),
])  # fmt: skip
def test_what_reaches_the_program(bench, sandbox, call, arguments, parts):
    bench(call, *arguments.split())
    (launched,) = sandbox.launched()
    assert not [part for part in parts if part not in launched]


BAD = {
    "reduce_local": ["--types half", "--ops avg", "--types float --ops band",
                     "--types double_int --sizes 8", "--sizes 64K -b 8", "--in-place",
                     "-o missing/out.png", "--layouts yz_face"],
    "pack": ["--layouts diagonal", "--types float", "--ops sum", "--against mpich"],
    "allreduce": ["-n 2 --types float", "-n 2 --layouts yz_face"],
}  # fmt: skip
BOTH = ["--sizes 0", "-n 2", "-d float", "--overlap", "--format osu"]


@pytest.mark.parametrize(
    "call, arguments",
    [(call, each) for call, own in BAD.items() for each in own]
    + [(call, each) for call in RECORDS for each in BOTH],
)
def test_bad_values_are_status_2_before_anything_starts(bench, sandbox, call, arguments):
    status, out, err = bench(call, *arguments.split(), given=records.local())
    assert (status, out) == (2, "") and "error[bad-value]" in err
    assert sandbox.launched() == []
    if call == "allreduce" or arguments == "--layouts yz_face":
        assert f"{arguments.split()[-2]}: not for {call}" in err


@pytest.mark.parametrize("call, below, slow, wrong", [
    ("reduce_local", "1", "Open MPI 4.1.4 64 B max of float 0.80x",
     ["reduce_local sum of float of 64K on Open MPI 4.1.4: 9 elements"]),
    ("pack", "0.95", "64M unpack of vector_1_2 0.80x",
     ["pack of yz_face of 64K on Open MPI 4.1.4: 9 bytes", "SUMAC_DISABLE=1"]),
])  # fmt: skip
def test_wrong_and_slow_cells_are_named(bench, call, below, slow, wrong):
    status, _, err = bench(call, "--fail-below", below)
    assert status == 5 and slow in err and "1 size " in err
    head, *rows = RECORDS[call]()
    rows[2] |= {"wrong": 9}
    status, _, err = bench(call, given=[head, *rows], status=4)
    assert status == 4 and not [part for part in wrong if part not in err]


@pytest.mark.parametrize("call, at, slower, named", [
    ("reduce_local", 3, records.cell("float", "max", 65536, 2.0, 12.0, 4.0),
     "64K max of float 0.50x"),
    ("pack", 2, records.packed("pack", "yz_face", 65536, 4.0, 200.0, 100.0),
     "64K pack of yz_face 0.50x"),
])  # fmt: skip
def test_against_an_earlier_file(bench, call, at, slower, named):
    bench(call, "--json=r.json")
    rows = RECORDS[call]()
    rows[1 + at] = slower
    status, _, err = bench(call, "--against", "r.json", "--fail-below", "0.6", given=rows)
    assert status == 5 and named in err and "1 size " in err


def test_gb_per_second():
    row = results.Row(records.packed("pack", "yz_face", 4000, 4.0, 2.0, 1.0), 1)
    rates = [row.gb_per_second(each) for each in ("memcpy", "native", "sumac")]
    assert rates == [1.0, 2.0, 4.0] and row.gb_per_second("loop") is None


@pytest.mark.parametrize("call, parts", [
    ("reduce_local", ["Sumac (avx2), 64 KiB", "Open MPI 4.1.4, 64 B", "double_int", "maxloc",
                      "6.00", "26"]),
    ("pack", ["pack, 64 KiB, Open MPI 4.1.4", "unpack, 64 MiB, Open MPI 4.1.4", "yz_face",
              "memcpy", "Sumac", "GB/s"]),
])  # fmt: skip
def test_figure(bench, sumac, tmp_path, call, parts):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pyplot.rc_context({"svg.fonttype": "none"}):
        status, _, err = bench(call, "-o", "out.svg", "--json=r.json")
        assert (status, err) == (0, "sumac: wrote r.json\nsumac: wrote out.svg\n")
        text = (tmp_path / "out.svg").read_text()
        assert sumac("plot", "r.json", "-o", "again.svg") == (0, "", "sumac: wrote again.svg\n")
    assert (tmp_path / "again.svg").read_text().count("<path") == text.count("<path")
    assert not [part for part in parts if f">{part}<" not in text]
    assert sumac("plot", "r.json", "-o", "out.nope")[0] == 2


@pytest.mark.parametrize("one, other", [
    (records.local, records.session), (records.packing, records.session),
    (records.packing, records.local),
])  # fmt: skip
def test_figure_apart_from_others(sumac, tmp_path, one, other):
    pytest.importorskip("matplotlib")
    runs = [records.run(each) for each in (one(), other())]
    files.show_json(results.document(runs, {}, ""), tmp_path / "r.json")
    status, _, err = sumac("plot", str(tmp_path / "r.json"), "-o", str(tmp_path / "out.png"))
    assert status == 2 and "figure" in err
