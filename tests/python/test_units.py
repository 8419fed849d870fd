# SPDX-License-Identifier: BSD-3-Clause
import pytest
from sumac_mpi.base import units
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.library import calls


@pytest.mark.parametrize(
    ("text", "size"),
    [("4", 4), ("64K", 65536), ("1m", 1 << 20), ("2G", 2 << 30), ("8 KiB", 8192), ("1MB", 1 << 20)],
)
def test_sizes_are_powers_of_1024(text, size):
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "4x", "-1", "1.5M", "64KK"])
def test_what_is_no_size_is_a_usage_error(text):
    with pytest.raises(SumacError) as caught:
        units.parse_size(text)
    assert caught.value.code == Exit.USAGE


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (100, "100 B"), (1024, "1K"), (1536, "1536 B"), (65536, "64K"), (4 << 20, "4M")],
)
def test_sizes_are_shown_exactly(size, text):
    assert units.format_size(size) == text


@pytest.mark.parametrize(
    ("us", "text"), [(0.1514, "0.151"), (16.004, "16.00"), (123.45, "123.5"), (24551, "24551")]
)
def test_times_keep_their_digits(us, text):
    assert units.format_us(us) == text


def test_amounts_are_rounded():
    assert units.format_amount(25267879936) == "23.5 GiB"
    assert units.format_amount(64 << 20) == "64 MiB"
    assert units.format_amount(12) == "12 B"


def test_bus_bandwidth_is_that_of_nccl_tests():
    assert units.bus_bandwidth(2, 1_000_000, 1000, 4) == pytest.approx(1.5)
    assert units.bus_bandwidth(1, 1_000_000, 1000, 4) == pytest.approx(0.75)
    assert units.bus_bandwidth(0, 1_000_000, 1000, 4) == pytest.approx(1.0)
    assert units.bus_bandwidth(0, 0, 1, 4) == 0


def test_passes_of_a_message_are_those_of_nccl_tests(sandbox):
    known = ("allreduce", "reduce_scatter", "allgather", "alltoall", "reduce", "bcast", "barrier")
    assert [calls.passes(name) for name in known] == [2, 1, 1, 1, 0, 0, 0]


def test_geometric_mean():
    assert units.geometric_mean([2, 8]) == pytest.approx(4)
    assert units.geometric_mean([]) == 0


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
