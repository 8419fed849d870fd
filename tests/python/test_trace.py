# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import sys
from pathlib import Path

import pytest
import traces
from conftest import script
from sumac_mpi.base.errors import SumacError
from sumac_mpi.trace import operations, summary
from sumac_mpi.trace.operations import Operation, Piece

GOLDEN = Path(__file__).parent / "golden/trace.txt"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "traces"
    traces.pipeline(path)
    return path


class TestLoad:
    def test_operations_of_all_ranks_are_put_together(self, folder):
        trace = operations.load(folder)
        assert trace.ranks == 4 and set(trace.hosts) == {0, 1, 2, 3}
        assert [(each.number, each.bytes) for each in trace.operations] == [
            (0, 8), (1, 4096), (2, 4096)
        ]  # fmt: skip
        operation = trace.operations[1]
        assert operation.calls[3] == (traces.DAY_NS + 203_000, traces.DAY_NS + 270_000)
        assert operation.duration == 70_000 and len(operation.pieces) == 2 * (12 + 8)

    def test_communicators_count_for_themselves(self, tmp_path):
        """The second operation of rank 0 is the first of rank 1: they count by communicator."""
        first = traces.call(0, 0, 1, 2, group="01", call=0)
        shared = {"group": "02", "call": 0}
        traces.write(tmp_path, 0, [traces.head(0, 2), first, traces.call(0, 1, 3, 4, **shared)])
        late = traces.piece(1, 0, ("node", "up"), 0, 4, 5)
        traces.write(tmp_path, 1, [late, traces.head(1, 2), traces.call(1, 0, 4, 5, **shared)])
        found = operations.load(tmp_path).operations
        assert [sorted(each.calls) for each in found] == [[0], [0, 1]]
        assert [each.rank for each in found[1].pieces] == [1]

    def test_days_of_hosts_may_differ(self, tmp_path):
        day = 86_400_000_000_000
        traces.write(tmp_path, 0, [traces.head(0, 2), traces.call(0, 0, 86_400_000_001.5, 9e10)])
        later = traces.head(1, 2, day_ns=traces.DAY_NS + day, host="b")
        traces.write(tmp_path, 1, [later, traces.call(1, 0, 1.502, 3)])
        (operation,) = operations.load(tmp_path).operations
        assert operation.calls[1][0] - operation.calls[0][0] == 2

    def test_pieces_without_their_operation_are_left_out(self, tmp_path):
        lost = traces.piece(0, 7, ("node", "up"), 0, 1, 2)
        traces.write(tmp_path, 0, [traces.head(0, 1), lost, traces.call(0, 0, 1, 2)])
        (operation,) = operations.load(tmp_path).operations
        assert operation.pieces == []

    def test_nothing_to_draw(self, tmp_path, sumac):
        assert sumac("trace", "--from", str(tmp_path))[0] == 1
        traces.write(tmp_path, 0, [traces.head(0, 1)])
        status, _, err = sumac("trace", "--from", str(tmp_path))
        assert status == 1 and "error[no-trace]" in err

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[",
            "{}",
            "[1]",
            "[]",
            json.dumps([traces.head(0, 2, format=9)]),
            json.dumps([traces.head(0, 2), {"ph": "X", "name": "allreduce"}]),
            json.dumps([traces.head(0, 2), traces.call(0, 0, 1, 2) | {"ts": "x"}]),
            json.dumps([traces.head(1, 2)]),
            json.dumps([traces.head(0, 3)]),
        ],
    )
    def test_malformed_files(self, tmp_path, sumac, text):
        (tmp_path / "rank-0.json").write_text(text)
        traces.write(tmp_path, 1, [traces.head(1, 2), traces.call(1, 0, 1, 2)])
        status, _, err = sumac("trace", "--from", str(tmp_path))
        assert status == 2 and "error[bad-trace]" in err


class TestSummary:
    def test_median_of_the_largest_with_levels(self, folder):
        trace = operations.load(folder)
        assert trace.choose(None).number == 1
        assert trace.choose(0).number == 0
        with pytest.raises(SumacError, match="0 to 2"):
            trace.choose(3)

    def test_spans(self):
        assert summary.union([(5, 6), (0, 2), (1, 3), (3, 4)]) == [(0, 4), (5, 6)]
        assert summary.common([(0, 4), (5, 9)], [(1, 2), (3, 6), (8, 9)]) == [
            (1, 2), (3, 4), (5, 6), (8, 9)
        ]  # fmt: skip

    def test_overlap_is_with_other_levels_of_any_rank(self):
        pieces = [
            Piece(0, "numa", "up", 0, 0, 10),
            Piece(0, "numa", "up", 1, 10, 20),
            Piece(1, "numa", "down", 0, 0, 20),
            Piece(2, "node", "across", 0, 5, 15),
        ]
        operation = Operation("allreduce", 8, 0, {0: (0, 20), 1: (0, 20), 2: (0, 40)}, pieces)
        up, across, down = summary.rows(operation)
        assert (up.level, up.pieces, up.busy, up.share, up.overlap) == ("numa", 2, 20, 0.5, 0.5)
        assert (across.level, across.share, across.overlap) == ("node", 0.25, 1.0)
        assert (down.stage, down.overlap) == ("down", 0.5)
        assert summary.together(operation) == 0.5

    @pytest.mark.parametrize("stages", [("up", "across", "down"), ("up",), ("across", "down")])
    def test_order_of_levels_follows_the_data(self, stages):
        """The levels have unknown names, in an order that is not alphabetical."""
        pieces = []
        for step, (level, stage) in enumerate(
            [("z", "up"), ("b", "up"), ("k", "across"), ("b", "down"), ("z", "down")]
        ):
            if stage in stages:
                pieces.append(Piece(0, level, stage, 0, 0, 10 + step))
        operation = Operation("allreduce", 8, 0, {0: (0, 20)}, pieces)
        expected = ["z", "b", "k"] if "across" in stages else ["z", "b"]
        assert summary.level_order(operation) == expected

    def test_order_of_levels_no_rank_shares(self):
        pieces = [Piece(0, "node", "up", 0, 0, 1), Piece(1, "numa", "up", 0, 5, 6)]
        operation = Operation("reduce", 8, 0, {0: (0, 9)}, pieces)
        assert summary.level_order(operation) == ["numa", "node"]

    def test_printed(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        (folder / "rank-3.json").unlink()
        events = json.loads((folder / "rank-1.json").read_text())
        events[0]["args"] |= {"dropped": 5, "host": "b"}
        traces.write(folder, 1, events)
        status, out, err = sumac("trace", "--from", str(folder), "-o", str(tmp_path / "x.png"))
        assert (status, err) == (0, "")
        text = "".join(line.rstrip() + "\n" for line in out.splitlines())
        if os.environ.get("SUMAC_TEST_WRITE_GOLDEN"):
            GOLDEN.write_text(text)
        assert text == GOLDEN.read_text()


class TestFiles:
    @pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
    def test_picture(self, folder, sumac, tmp_path, ending):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        output = tmp_path / f"out.{ending}"
        with pyplot.rc_context({"svg.fonttype": "none"}):
            assert sumac("trace", "--from", str(folder), "-o", str(output))[0] == 0
        assert output.stat().st_size > 1000
        if ending == "svg":
            text = output.read_text()
            for part in ("rank 3  allreduce", "ranks:2 up", "cluster across", "µs from", "4 KiB"):
                assert part in text

    def test_picture_of_whole_operations(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        output = tmp_path / "out.png"
        arguments = ("--from", str(folder), "-o", str(output), "--operation", "0")
        status, out, _ = sumac("trace", *arguments)
        assert status == 0 and output.exists() and "operation 0 of 3" in out

    def test_merged_file_is_for_viewers(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        merged = tmp_path / "all.json"
        picture = tmp_path / "x.png"
        sumac("trace", "--from", str(folder), "-o", str(picture), "--json", str(merged))
        assert picture.exists() and not picture.with_suffix(".json").exists()
        events = json.loads(merged.read_text())
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M"}
        works = [event for event in events if event["ph"] == "X"]
        assert len(works) == 4 * 3 + 40
        assert min(event["ts"] for event in works) == 0
        for event in works:
            assert event["args"].keys() >= {"operation", "bytes"}
            lane = names[event["pid"], event["tid"]]
            assert lane == (event["name"] if "chunk" in event["args"] else "operation")

    def test_what_cannot_be_written_or_asked(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        given = ("trace", "--from", str(folder))
        assert sumac(*given, "-o", str(tmp_path / "no/out.png"))[0] == 2
        assert sumac(*given, "-o", str(tmp_path / "out.nope"))[0] == 2
        assert sumac(*given, "--json", str(tmp_path / "no/x.json"))[0] == 2
        assert sumac(*given, "--largest", "--operation", "1")[0] == 2
        assert sumac(*given, "--operation", "9")[0] == 2
        assert sumac(*given, "./app")[0] == 2
        assert sumac("trace")[0] == 2

    def test_without_matplotlib(self, folder, sumac, monkeypatch):
        monkeypatch.chdir(folder)  # trace.json is written all the same
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        for module in ("plot.curves", "trace.figure"):
            monkeypatch.delitem(sys.modules, f"sumac_mpi.{module}", raising=False)
        status, _, err = sumac("trace", "--from", str(folder))
        assert status == 3 and "error[no-matplotlib]" in err


class TestRun:
    """The program writes the trace file that a rank would have written."""

    @pytest.fixture
    def app(self, sandbox, tmp_path):
        pytest.importorskip("matplotlib")
        sandbox.add_launcher("mpiexec", "mpich")
        text = json.dumps([traces.head(0, 1), traces.call(0, 0, 1, 2)])
        (tmp_path / "trace").write_text(text)
        body = f'[ -z "$SUMAC_TRACE" ] || cat {tmp_path}/trace >$SUMAC_TRACE/rank-0.json\n'
        return script(tmp_path / "app", f"#!/bin/sh\n{body}exit $1\n")

    def test_in_a_folder_of_the_users(self, app, sandbox, sumac, tmp_path, monkeypatch):
        monkeypatch.setenv("SUMAC_TRACE", str(tmp_path / "mine"))
        status, out, err = sumac("trace", "-n", "1", "--mpi", "mpich", "./app", "0")
        assert (status, err) == (0, "") and "allreduce of 4 KiB" in out
        assert sorted(each.name for each in tmp_path.glob("trace.*")) == ["trace.json", "trace.png"]
        assert (tmp_path / "mine/rank-0.json").exists()
        status, _, err = sumac("trace", "-n", "1", "./app", "0")
        assert status == 2 and "holds files of another job already" in err
        assert len(sandbox.launched()) == 1

    def test_the_programs_status_is_passed_on(self, app, sumac, tmp_path, monkeypatch):
        monkeypatch.setenv("SUMAC_TRACE", str(tmp_path / "mine"))
        assert sumac("trace", "-n", "1", "./app", "7")[0] == 7
        assert (tmp_path / "trace.png").exists()

    def test_in_a_folder_of_its_own(self, app, sandbox, sumac):
        """This launcher's script does not pass the folder on, so no trace is found there."""
        asked = ("-x", "A=b", "--set", "CMA=off", "--set", "SUMAC_SPIN=7")
        status, _, err = sumac("trace", "-n", "2", *asked, "./app", "0")
        assert status == 1 and "error[no-trace]" in err
        for words in ("-genv A b", "-genv SUMAC_CMA off", "-genv SUMAC_SPIN 7"):
            assert f" {words} " in sandbox.launched()[0]
        status, _, err = sumac("trace", "--set", "CMA", "./app")
        assert status == 2 and "--set CMA: not NAME=VALUE" in err
        assert sumac("trace", "-n", "2", "./app", "9")[0] == 9
        words = sandbox.launched()[0].split()
        assert words[words.index("SUMAC_TRACE") - 1] == "-genv"
        own = Path(words[words.index("SUMAC_TRACE") + 1])
        assert own.name.startswith("sumac-trace-") and not own.exists()
