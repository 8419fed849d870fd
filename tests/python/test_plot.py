# SPDX-License-Identifier: BSD-3-Clause
import json
import sys

import pytest
import records
from sumac_mpi.bench import results

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "r.json"
    mpich = records.header(family="mpich", mpi="MPICH Version:\t4.0.2")
    bcast = [records.header(collective="bcast"), records.size(8, 2, 1, collective="bcast")]
    runs = [records.session(), [mpich, *records.session()[1:]], bcast]
    document = results.document([records.run(each) for each in runs], {}, "")
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_figures_in_each_format(file, sumac, tmp_path, ending, magic):
    pytest.importorskip("matplotlib")
    output = tmp_path / f"out.{ending}"
    assert sumac("plot", str(file), "-o", str(output)) == (0, "", f"sumac: wrote {output}\n")
    assert output.read_bytes().startswith(magic)


def test_labels_tell_the_runs_apart(file, sumac, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pyplot.rc_context({"svg.fonttype": "none"}):
        output = tmp_path / "out.svg"
        assert sumac("plot", str(file), str(file), "-o", str(output))[0] == 0
    text = output.read_text()
    for part in (
        "Open MPI 4.1.4 with Sumac",
        "MPICH 4.0.2 with Sumac",
        "latency",
        "speedup",
        "4 MiB",
    ):
        assert part in text


def test_overlap_and_persistent_calls(sumac, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    runs = [records.run(each) for each in (records.nonblocking(), records.persistent())]
    (tmp_path / "r.json").write_text(json.dumps(results.document(runs, {}, "")))
    output = tmp_path / "out.svg"
    with pyplot.rc_context({"svg.fonttype": "none"}):
        assert sumac("plot", str(tmp_path / "r.json"), "-o", str(output)) == (
            0,
            "",
            f"sumac: wrote {output}\n",
        )
    text = output.read_text()
    for part in ("iallreduce", "allreduce-persistent", "starting the call", "the same call, blocking",
                 "overlap (%)", "with MPI_Test"):  # fmt: skip
        assert part in text


def test_without_matplotlib(file, sumac, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in ("pictures", "curves"):
        monkeypatch.delitem(sys.modules, f"sumac_mpi.plot.{module}", raising=False)
    status, _, err = sumac("plot", str(file), "-o", "out.png")
    assert status == 3 and "error[no-matplotlib]" in err


def test_what_cannot_be_drawn_or_written(file, sumac, tmp_path):
    pytest.importorskip("matplotlib")
    assert sumac("plot", str(file), "-o", str(tmp_path / "out.nope"))[0] == 2
    assert sumac("plot", str(file), "-o", str(tmp_path / "no/out.png"))[0] == 2
    assert sumac("plot", str(tmp_path / "no.json"), "-o", str(tmp_path / "out.png"))[0] == 2
