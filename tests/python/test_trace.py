# SPDX-License-Identifier: BSD-3-Clause
"""Traces: files, summaries, the figure with its time axis, and jobs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import recordings
from conftest import script
from sumac_mpi.base.errors import SumacError
from sumac_mpi.trace import operations, summary, time_axis
from sumac_mpi.trace.operations import Operation, Piece
from sumac_mpi.trace.time_axis import late_ranks

HEAD = recordings.text(recordings.trace_head(0, 2))
WHOLE = recordings.trace_content(recordings.trace_head(0, 2), recordings.Call(0, 1, 2))
# Content of a file, and what the error says of it.
MALFORMED = [
    (b"", "nothing in it"),
    (b"[", "in the middle of a section"),
    (b"[{}, {}]\n", "a section b'[{},'"),
    (recordings.text(), "nothing in it"),
    (recordings.text({}), "a line '{}'"),
    (recordings.section("text", b"[1]\n"), "a line '[1]'"),
    (recordings.section("text", b"{\n"), "JSONDecodeError"),
    (recordings.text({"rank": 0}), "no head of a recording"),
    (recordings.text(recordings.trace_head(0, 2, sumac_recording=9)), "format 9"),
    (recordings.text(recordings.trace_head(0, 2, of="profile")), "of another mode: profile"),
    (recordings.text(recordings.head("trace", 0, 2)), "KeyError: 'dropped'"),
    (recordings.text(recordings.trace_head("x", 2)), "ValueError"),
    (recordings.text(recordings.trace_head(1, 2)), "rank 1 of 2"),
    (recordings.text(recordings.trace_head(0, 3)), "rank 1 of 2"),
    (HEAD + recordings.section("call", b""), "a section b'call'"),
    (HEAD + recordings.section("oper", b"abc"), "3 bytes of records of 56 bytes"),
    (HEAD + recordings.text({"lane": 0, "level": "node"}), "KeyError: 'stage'"),
    (HEAD + recordings.records("oper", recordings.OPERATION, [(4, *range(7))]), "name 4 is"),
    (HEAD + recordings.records("piec", recordings.PIECE, [(2, *range(5))]), "lane 2 is"),
    (WHOLE[:-1], "in the middle of a section"),
    (WHOLE[:-60], "in the middle of a section"),
    (WHOLE[: len(HEAD) - 9], "in the middle of a section"),
]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "traces"
    recordings.pipeline(path)
    return path


class TestLoad:
    def test_operations_of_all_ranks_are_put_together(self, folder):
        trace = operations.load(folder)
        assert trace.ranks == 4 and set(trace.hosts) == {0, 1, 2, 3}
        assert [(each.number, each.bytes) for each in trace.operations] == [
            (0, 8), (1, 4096), (2, 4096)
        ]  # fmt: skip
        operation = trace.operations[1]
        assert operation.calls[3] == (recordings.DAY_NS + 203_000, recordings.DAY_NS + 270_000)
        assert operation.duration == 70_000 and len(operation.pieces) == 2 * (12 + 8)

    def test_communicators_count_for_themselves(self, tmp_path):
        """The second operation of rank 0 is the first of rank 1: they count by communicator."""
        first, shared = {"group": 1 << 63, "call": 0}, {"group": 2, "call": 0}
        calls = recordings.Call(0, 1, 2, **first), recordings.Call(1, 3, 4, **shared)
        recordings.write_trace(tmp_path, 0, recordings.trace_head(0, 2), *calls)
        late = recordings.Piece(0, ("node", "up"), 0, 4, 5)
        recordings.write_trace(
            tmp_path, 1, recordings.trace_head(1, 2), late, recordings.Call(0, 4, 5, **shared)
        )
        found = operations.load(tmp_path).operations
        assert [sorted(each.calls) for each in found] == [[0], [0, 1]]
        assert [each.rank for each in found[1].pieces] == [1]
        assert [(each.group, each.call) for each in found] == [(1 << 63, 0), (2, 0)]

    def test_times_of_hosts_are_exact(self, tmp_path):
        day = 86_400_000_000
        recordings.write_trace(
            tmp_path, 0, recordings.trace_head(0, 2), recordings.Call(0, day + 1.5, day + 9000)
        )
        recordings.write_trace(
            tmp_path,
            1,
            recordings.trace_head(1, 2, host="b"),
            recordings.Call(0, day + 1.502, day + 3),
        )
        trace = operations.load(tmp_path)
        (operation,) = trace.operations
        assert operation.calls[1][0] - operation.calls[0][0] == 2
        assert trace.hosts == {0: "a", 1: "b"}

    def test_pieces_without_their_operation_are_left_out(self, tmp_path):
        lost = recordings.Piece(7, ("node", "up"), 0, 1, 2)
        recordings.write_trace(
            tmp_path, 0, recordings.trace_head(0, 1), lost, recordings.Call(0, 1, 2)
        )
        (operation,) = operations.load(tmp_path).operations
        assert operation.pieces == []

    def test_sections_in_any_order(self, tmp_path):
        """Pieces may come before their operation, and numbers be defined in several sections."""
        when = (recordings.DAY_NS, recordings.DAY_NS + 5)
        lane = {"lane": 3, "level": "node", "stage": "up", "algorithm": "flat"}
        content = recordings.text(recordings.trace_head(0, 1)) + recordings.text(lane)
        content += recordings.records("piec", recordings.PIECE, [(3, 0, 0, 2, *when)])
        content += recordings.text({"name": 5, "text": "bcast"})
        content += recordings.records("oper", recordings.OPERATION, [(5, 0, 0, 8, 1, 0, *when)])
        recordings.write(tmp_path, 0, "trace", content)
        (operation,) = operations.load(tmp_path).operations
        assert operation.name == "bcast" and operation.calls == {0: when}
        assert operation.pieces == [Piece(0, "node", "up", "flat", 2, *when)]

    def test_nothing_to_draw(self, tmp_path, sumac):
        assert sumac("trace", "--from", str(tmp_path))[0] == 1
        recordings.write_trace(tmp_path, 0, recordings.trace_head(0, 1))
        status, _, err = sumac("trace", "--from", str(tmp_path))
        assert status == 1 and "error[no-trace]" in err

    @pytest.mark.parametrize(("content", "found"), MALFORMED, ids=[found for _, found in MALFORMED])
    def test_malformed_files(self, tmp_path, sumac, content, found):
        recordings.write(tmp_path, 0, "trace", content)
        recordings.write_trace(tmp_path, 1, recordings.trace_head(1, 2), recordings.Call(0, 1, 2))
        status, _, err = sumac("trace", "--from", str(tmp_path))
        assert status == 2 and "error[bad-trace]" in err
        assert found in err

    def test_two_files_of_a_rank(self, tmp_path):
        recordings.write_trace(tmp_path, 0, recordings.trace_head(0, 2), recordings.Call(0, 1, 2))
        recordings.write_trace(tmp_path, 1, recordings.trace_head(0, 2), recordings.Call(0, 1, 2))
        with pytest.raises(SumacError) as raised:
            operations.load(tmp_path)
        assert raised.value.slug == "bad-trace" and "rank 0 of 2" in raised.value.found


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
            Piece(0, "numa", "up", "flat", 0, 0, 10),
            Piece(0, "numa", "up", "flat", 1, 10, 20),
            Piece(1, "numa", "down", "flat", 0, 0, 20),
            Piece(2, "node", "across", "flat", 0, 5, 15),
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
                pieces.append(Piece(0, level, stage, "flat", 0, 0, 10 + step))
        operation = Operation("allreduce", 8, 0, {0: (0, 20)}, pieces)
        expected = ["z", "b", "k"] if "across" in stages else ["z", "b"]
        assert summary.level_order(operation) == expected

    def test_order_of_levels_no_rank_shares(self):
        pieces = [Piece(0, "node", "up", "flat", 0, 0, 1), Piece(1, "numa", "up", "flat", 0, 5, 6)]
        operation = Operation("reduce", 8, 0, {0: (0, 9)}, pieces)
        assert summary.level_order(operation) == ["numa", "node"]

    def test_printed(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        (folder / "rank-3.trace").unlink()
        changed = recordings.trace_head(1, 4, dropped=5, host="b")
        recordings.write_trace(folder, 1, changed, *recordings.pipeline_of(1))
        status, out, err = sumac("trace", "--from", str(folder), "-o", str(tmp_path / "x.png"))
        assert status == 0 and err.splitlines() == [
            f"sumac: wrote {tmp_path / name}" for name in ("x.json", "x.png")
        ]
        first, titles, *rows = [re.split("  +", line.strip()) for line in out.splitlines()]
        assert first == ["allreduce of 4 KiB", "·", "3 ranks", "·", "2 hosts", "·", "70.00 µs",
                         "·", "operation 1 of 3"]  # fmt: skip
        assert titles == ["level", "stage", "ranks", "pieces", "busy µs", "share", "overlap"]
        # Pieces take 8 µs each, of the 70 that each rank has. Two of the three ranks are leaders.
        assert [row[:6] for row in rows[:3]] == [
            ["ranks:2", "up", "3", "12", "96.00", f"{96 / 3 / 70:.1%}"],
            ["cluster", "across", "2", "8", "64.00", f"{64 / 2 / 70:.1%}"],
            ["ranks:2", "down", "3", "12", "96.00", f"{96 / 3 / 70:.1%}"],
        ]
        # A stage's chunks overlap with those of other levels for 7 or 8 of their 8 µs: not up the
        # first and down the last.
        overlaps = (0 + 7 + 7 + 7) / 32, (7 + 8 + 8 + 7) / 32, (7 + 7 + 7 + 0) / 32
        assert [row[6] for row in rows[:3]] == [f"{each:.1%}" for each in overlaps]
        # Rank r comes r µs after rank 0, and all end together.
        whole = 70 + 69 + 68
        assert rows[3] == ["whole call", "3", f"{whole:.1f}", f"{whole / 3 / 70:.1%}"]
        assert [" ".join(row) for row in rows[4:]] == [
            f"several levels at work at once: {30 / 54:.1%} of the time",
            "there are files of 3 of the 4 ranks only",
            "5 events came when a rank's buffer was full: not in the trace",
        ]


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
        sumac("trace", "--from", str(folder), "-o", str(picture), f"--json={merged}")
        assert picture.exists() and not picture.with_suffix(".json").exists()
        events = json.loads(merged.read_text())
        (about,) = (event["args"] for event in events if event["name"] == "sumac_trace")
        assert about == {"ranks": 4, "dropped": 0, "begin_ns": recordings.DAY_NS + 100_000}
        named = [event for event in events if event["name"] == "thread_name"]
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in named}
        works = [event for event in events if event["ph"] == "X"]
        assert len(works) == 4 * 3 + 40
        assert min(event["ts"] for event in works) == 0
        for event in works:
            assert event["args"].keys() >= {"operation", "bytes"}
            lane = names[event["pid"], event["tid"]]
            assert lane == (event["name"] if "chunk" in event["args"] else "operation")
        (last,) = [event for event in works if event["pid"] == 2 and event["ts"] == 153]
        assert last["args"] == {
            "operation": 1, "bytes": 4096, "chunk": 3, "level": "ranks:2", "stage": "down",
            "algorithm": "flat",
        }  # fmt: skip
        first = works[0]["args"]
        assert first == {"operation": 0, "bytes": 8, "group": "00000000000000ab", "call": 0}

    def test_what_cannot_be_written_or_asked(self, folder, sumac, tmp_path):
        pytest.importorskip("matplotlib")
        given = ("trace", "--from", str(folder))
        assert sumac(*given, "-o", str(tmp_path / "no/out.png"))[0] == 2
        assert sumac(*given, "-o", str(tmp_path / "out.nope"))[0] == 2
        assert sumac(*given, "--json", str(tmp_path / "no/x.json"))[0] == 2
        assert sumac(*given, "--operation", "9")[0] == 2
        assert sumac(*given, "./app")[0] == 2
        assert sumac("trace")[0] == 2

    def test_without_matplotlib(self, folder, sumac, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        for module in ("plot.curves", "plot.pictures", "trace.figure"):
            monkeypatch.delitem(sys.modules, f"sumac_mpi.{module}", raising=False)
        status, _, err = sumac("trace", "--from", str(folder))
        assert status == 3 and "error[no-matplotlib]" in err
        events = folder / "events.json"
        assert sumac("trace", "--from", str(folder), f"--json={events}")[0] == 0
        assert json.loads(events.read_text())


class TestRun:
    """The program writes the trace file that a rank would have written."""

    @pytest.fixture
    def app(self, sandbox, tmp_path):
        pytest.importorskip("matplotlib")
        sandbox.add_launcher("mpiexec", "mpich")
        made = recordings.write_trace(
            tmp_path / "made", 0, recordings.trace_head(0, 1), recordings.Call(0, 1, 2)
        )
        body = f'[ -z "$SUMAC_TRACE" ] || cat {made} >$SUMAC_TRACE/rank-0.trace\n'
        return script(tmp_path / "app", f"#!/bin/sh\n{body}exit $1\n")

    def test_in_a_folder_of_the_users(self, app, sandbox, sumac, tmp_path, monkeypatch):
        monkeypatch.setenv("SUMAC_TRACE", str(tmp_path / "mine"))
        status, out, err = sumac("trace", "-n", "1", "--mpi", "mpich", "./app", "0")
        assert (status, err) == (0, "sumac: wrote trace.json\nsumac: wrote trace.png\n")
        assert "allreduce of 4 KiB" in out
        assert sorted(each.name for each in tmp_path.glob("trace.*")) == ["trace.json", "trace.png"]
        assert (tmp_path / "mine/rank-0.trace").exists()
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
        assert status == 2 and "--set CMA" in err
        status, _, err = sumac("trace", "-n", "2", "./app", "9")
        assert status == 9
        assert "warning[no-trace]: the job ended with status 9 before its ranks had written" in err
        words = sandbox.launched()[0].split()
        assert words[words.index("SUMAC_TRACE") - 1] == "-genv"
        own = Path(words[words.index("SUMAC_TRACE") + 1])
        assert own.name.startswith("sumac-trace-") and not own.exists()


def axis_of(*times):
    return time_axis.of(min(times), max(times), times)


@pytest.mark.parametrize(
    ("times", "cuts"),
    [
        (range(0, 100, 10), ()),
        ([0, 1, 3, 7, 15, 31], ()),
        ([0, 10, 20, 9000, 9010, 9020, 9030], [(20, 9000)]),
        ([0, 10, 20, 9000, 9010, 18000, 18010, 18020], [(20, 9000), (9010, 18000)]),
        ([0, 9000, 9010, 9020], [(0, 9000)]),
        ([5, 5, 5], ()),
        ([0, 9000], ()),  # one rank's call alone is no wait
    ],
)
def test_waits_are_cut(times, cuts):
    assert axis_of(*times).cuts == tuple(cuts)


@pytest.mark.parametrize("times", [range(0, 100, 10), [0, 10, 20, 9000, 9010, 9020, 9030]])
def test_places_keep_the_order_and_the_lengths_of_work(times):
    axis = axis_of(*times)
    places = [axis.place(time) for time in times]
    assert places == sorted(places) and places[0] == 0 and places[-1] == axis.length
    for begin, end in zip(times, list(times)[1:]):
        width = axis.place(end) - axis.place(begin)
        if (begin, end) in axis.cuts:
            assert 0 < width < axis.length / 10
        else:
            assert width == pytest.approx(end - begin)


def test_ticks_are_round_and_outside_of_the_cuts():
    axis = axis_of(1_000_007, 1_000_050, 1_000_100, 5_000_000, 5_000_050, 5_000_100)
    ticks = axis.ticks()
    assert 4 <= len(ticks) <= 14
    assert all(tick % 10 == 0 for tick in ticks)
    ((begin, end),) = axis.cuts
    assert not any(begin < 1_000_007 + tick < end for tick in ticks)
    assert any(1_000_007 + tick > end for tick in ticks)


def test_who_is_late():
    calls = {0: (0, 90), 1: (3, 90), 2: (50, 90), 3: (50, 90), 4: (60, 90)}
    assert late_ranks((3, 50), calls) == [2, 3]
    assert late_ranks((60, 80), calls) == []


def test_a_late_rank_is_named(tmp_path, sumac):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    folder = tmp_path / "traces"
    for rank, late in ((0, 0), (1, 9000), (2, 2)):
        begin = 200 + late
        lane = ("node", "up")
        pieces = [recordings.Piece(0, lane, n, 9205 + 5 * n, 9209 + 5 * n) for n in range(3)]
        call = recordings.Call(0, begin, 9230 + rank)
        recordings.write_trace(folder, rank, recordings.trace_head(rank, 3), call, *pieces)
    assert operations.load(folder).operations[0].duration == 9_032_000
    with pyplot.rc_context({"svg.fonttype": "none"}):
        output = str(tmp_path / "t.svg")
        status, out, _ = sumac("trace", "--from", str(folder), "-o", output)
    assert status == 0 and "rank 1 called up to 9 ms after the first one" in out
    text = (tmp_path / "t.svg").read_text()
    assert "9 ms, waiting for rank 1" in text
    assert ">9010<" in text and ">9030<" in text  # the work has ticks of its own


@pytest.mark.parametrize("limits", [(0.2, 0.31), (3, 40), (0.04, 2e6), (1e-3, 9e6), (7, 7.2)])
def test_labels_of_logarithmic_axes_are_plain(limits):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from sumac_mpi.plot import pictures

    figure, axes = pyplot.subplots()
    axes.set_yscale("log")
    axes.set_ylim(*limits)
    pictures.plain_log_labels(axes.yaxis)
    figure.canvas.draw()
    labels = [label.get_text() for label in axes.get_yticklabels(which="both")]
    shown = [label for label in labels if label]
    pyplot.close(figure)
    assert shown and not any("e" in label or "^" in label or "$" in label for label in shown)
    assert len(shown) == len(set(shown))
    assert all(limits[0] <= float(label) <= limits[1] for label in shown)
