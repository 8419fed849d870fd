# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that `sumac plan` refuses, and the largest that it takes."""

import plans
import pytest
from installed import INSTALLATION, needs_command
from sumac_mpi.library import tables

pytestmark = needs_command
ODD = [*("-1", "-8", "-9223372036854775808", "18446744073709551608", "99999999999999999999"),
       *("", " ", "8 ", "8x", "x8", "0x8", "8.5", "1e3", "nan", "inf", "+8", "\u0663")]  # fmt: skip


@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize("place", ["BYTES", "-n", "--nodes"])
def test_odd_numbers_are_refused(place, number):
    words = {"BYTES": "8", "-n": "2"} | {place: number}
    options = [word for name in words if name != "BYTES" for word in (name, words[name])]
    told = plans.refusal("bad-value", "allreduce", words["BYTES"], *options)
    assert f"{place} {number}: " in told


def test_only_collectives_without_a_common_size_have_no_bytes():
    told = plans.refusal("bad-value", "reduce", "0", "-n", "7", "--nodes", "3")
    assert "BYTES 0: a call without data needs no algorithm" in told
    assert plans.plan("alltoallv", "0", "-n", "4")["bytes"] == 0


SHAPES = ("2", "7 --nodes 3", "8 --nodes 2 --hierarchy flat")


# Each chunk of a hierarchy has its price, so that of 64G would take long.
@pytest.mark.parametrize(
    ("size", "shape"),
    [*((size, shape) for size in ("1", "63", "65", "1G") for shape in SHAPES), ("64G", "2")],
)
def test_every_collective_takes_every_size(size, shape):
    for row in tables.rows("collectives", INSTALLATION):
        if row["ranks"] == "none" or row["result"] == "none":
            continue
        found = plans.plan(row["name"], size, "-n", *shape.split())
        costs = [level["bytes"] or 0 for level in found["levels"]]
        sent = [way["bytes_between_nodes"] or 0 for way in (found, *found["others"])]
        assert all(0 <= bytes_ < 2**60 for bytes_ in costs + sent)
