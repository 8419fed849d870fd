# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration says about its measurements."""

import sys

import pytest
from installing import ROOT
from sumac_mpi.base.spread import Spread, speedup, spread

sys.path.insert(0, str(ROOT / "scripts"))
from demo_cg import headline  # noqa: E402

CLEAR, LARGE = Spread(1.02, 1.09, 1.2), Spread(1.5, 1.68, 1.7)
SLOWER, UNCLEAR = Spread(0.8, 0.88, 0.95), Spread(0.8, 0.88, 1.05)


@pytest.mark.parametrize(
    ("speedups", "says"),
    [
        ([CLEAR, LARGE], "1.09 to 1.68 times as fast"),
        ([CLEAR, CLEAR], ": 1.09 times as fast"),
        ([CLEAR, LARGE, SLOWER], "0.88 to 1.68 times as fast"),
        ([LARGE, UNCLEAR, CLEAR], "fast; no clear difference in 1 of 3 measurements"),
        ([UNCLEAR, UNCLEAR], ": no clear difference"),
    ],
)
def test_the_headline_covers_all_measurements(speedups, says):
    assert headline(speedups).endswith(says)


def test_a_difference_is_clear_where_quartiles_do_not_overlap():
    slow, fast = spread([10, 11, 12, 13]), spread([5, 6, 7, 8])
    assert speedup(slow, fast).is_clear()
    assert speedup(fast, slow).is_clear()
    assert not speedup(slow, spread([9, 10, 12, 30])).is_clear()
