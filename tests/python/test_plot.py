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
    for part in ("iallreduce", "allreduce-persistent", "starting the call", "overlap (%)",
                 "the same call, blocking", "with MPI_Test"):  # fmt: skip
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


def test_pictures_name_their_origin_and_show_what_is_unsteady(sumac, tmp_path):
    """The machine, the day and the version are in the picture; of sizes whose rounds differ much
    the points are hollow."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    rounds = {"steady": [1.0, 1.01, 1.0, 1.02, 1.0], "unsteady": [1.0, 3.0, 1.1, 3.2, 2.0]}
    texts = {}
    for name, times in rounds.items():
        row = records.size(8, 2, 1)
        row["sumac"]["rounds"] = times
        run = records.run([records.header(), row, records.size(64, 2, 1)])
        machine = {"host": "node17", "cpu": "EPYC 7763"}
        document = results.document([run], machine, "2026-11-27T10:00:00+00:00")
        (tmp_path / "r.json").write_text(json.dumps(document))
        output = tmp_path / f"{name}.svg"
        with pyplot.rc_context({"svg.fonttype": "none"}):
            assert sumac("plot", str(tmp_path / "r.json"), "-o", str(output))[0] == 0
        texts[name] = output.read_text()
        for part in ("node17", "EPYC 7763", "2 ranks", "27 November 2026", "Sumac 0.1.0"):
            assert part in texts[name]
        assert "Hollow points are unsteady" in texts[name]
    hollow = "fill: #ffffff; stroke: #c1440e"
    assert hollow in texts["unsteady"] and hollow not in texts["steady"]
