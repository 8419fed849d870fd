# SPDX-License-Identifier: BSD-3-Clause
"""What 'make check' leaves to 'make check-all': tests marked slow, and each case of a test with
every family of MPIs. The families take turns at the cases, as in ctest (sumac_take_turns)."""

from __future__ import annotations

import zlib


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--in-turns",
        action="store_true",
        help="each case with one family of MPIs, and nothing that is marked slow",
    )


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "slow: 'make check' leaves it to 'make check-all'")


def case_of(item) -> tuple[str, str, str]:
    """The name of a test, its family or "", and its other parameters."""
    parameters = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    family = parameters.pop("family", "")
    return item.nodeid.split("[")[0], family, repr(parameters)


def chosen(items: list) -> list:
    """The items that 'make check' runs, in their order."""
    families: dict[str, list] = {}
    cases: dict[str, list] = {}
    for item in items:
        name, family, case = case_of(item)
        for seen, what in ((families, family), (cases, case)):
            of_test = seen.setdefault(name, [])
            if what not in of_test:
                of_test.append(what)

    def has_its_turn(item) -> bool:
        name, family, case = case_of(item)
        number = zlib.crc32(name.encode()) + cases[name].index(case)
        return families[name][number % len(families[name])] == family

    return [item for item in items if not item.get_closest_marker("slow") and has_its_turn(item)]


def pytest_collection_modifyitems(config, items) -> None:
    if config.getoption("--in-turns"):
        kept = chosen(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
