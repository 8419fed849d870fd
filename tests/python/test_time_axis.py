# SPDX-License-Identifier: BSD-3-Clause
"""The time axis of the figure when ranks are late, and the labels of axes."""

import pytest
import traces
from sumac_mpi.base import units
from sumac_mpi.trace import operations, time_axis
from sumac_mpi.trace.time_axis import late_ranks


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
        pieces = [traces.Piece(0, lane, n, 9205 + 5 * n, 9209 + 5 * n) for n in range(3)]
        call = traces.Call(0, begin, 9230 + rank)
        traces.write(folder, rank, traces.head(rank, 3), call, *pieces)
    assert operations.load(folder).operations[0].duration == 9_032_000
    with pyplot.rc_context({"svg.fonttype": "none"}):
        output = str(tmp_path / "t.svg")
        status, out, _ = sumac("trace", "--from", str(folder), "-o", output)
    assert status == 0 and "rank 1 called up to 9 ms after the first one" in out
    text = (tmp_path / "t.svg").read_text()
    assert "9 ms, waiting for rank 1" in text
    assert ">9010<" in text and ">9030<" in text  # the work has ticks of its own


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e6, "1000000"), (0.05, "0.05"), (20, "20"), (1e-3, "0.001"), (0.3, "0.3"), (0, "0")],
)
def test_plain_numbers(value, text):
    assert units.plain(value) == text


@pytest.mark.parametrize(
    ("ns", "text"), [(999, "999 ns"), (1500, "1.5 µs"), (9_934_000, "9.93 ms"), (120e9, "120 s")]
)
def test_times_with_units(ns, text):
    assert units.format_time(ns) == text


@pytest.mark.parametrize(("size", "text"), [(4, "4 B"), (65536, "64 KiB"), (3 << 20, "3 MiB")])
def test_sizes_with_units(size, text):
    assert units.format_bytes(size) == text


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
