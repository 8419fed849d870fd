# SPDX-License-Identifier: BSD-3-Clause
"""What 'make check' runs of the tests that are there."""

from types import SimpleNamespace

import turns


def item(name, slow=False, **parameters):
    made = SimpleNamespace(nodeid=f"a.py::{name}[x]", get_closest_marker=lambda _: slow)
    if parameters:
        made.callspec = SimpleNamespace(params=parameters)
    return made


def test_each_case_and_each_family_is_run():
    cases = [(size, family) for size in range(4) for family in ("openmpi", "mpich")]
    items = [item("test_sizes", size=size, family=family) for size, family in cases]
    kept = [(each.callspec.params["size"], each.callspec.params["family"])
            for each in turns.chosen(items)]  # fmt: skip
    assert [size for size, _ in kept] == [0, 1, 2, 3]
    assert {family for _, family in kept} == {"openmpi", "mpich"}


def test_tests_without_families_stay():
    items = [item("test_plain"), item("test_sizes", size=1), item("test_sizes", size=2)]
    assert turns.chosen(items) == items


def test_one_case_is_one_familys():
    items = [item("test_it", family=family) for family in ("openmpi", "mpich")]
    assert len(turns.chosen(items)) == 1


def test_slow_tests_are_left_out():
    assert turns.chosen([item("test_long", slow=True)]) == []
