# SPDX-License-Identifier: BSD-3-Clause
"""Published test suites under Sumac: `python -m pytest tests/suites`, part of `make check-all`."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["openmpi", "mpich"])
def family(request: pytest.FixtureRequest) -> str:
    return request.param


def pytest_terminal_summary(terminalreporter):
    """Prints the share of calls that Sumac served in each job."""
    for outcome in ("passed", "failed"):
        for each in terminalreporter.getreports(outcome):
            for name, value in each.user_properties:
                terminalreporter.write_line(f"{each.nodeid.split('::')[-1]}: {name}: {value}")
