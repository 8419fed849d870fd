# SPDX-License-Identifier: BSD-3-Clause
"""What ends `sumac bench` with a status of its own: wrong results, and sizes that are too slow."""

from __future__ import annotations

from collections.abc import Iterable

from sumac_mpi.base import units
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench.results import Run
from sumac_mpi.library import calls


def require_right(runs: Iterable[Run]) -> None:
    """Raises with status 4 for wrong results."""
    wrong = [(run, row) for run in runs for row in run.rows if row.wrong]
    if not wrong:
        return
    run, row = wrong[0]
    pack = row.call == calls.PACK
    way_out = "SUMAC_DISABLE=1" if pack else f"SUMAC_COLLS=^{row.collective}"
    unit = "bytes" if pack else "elements"
    raise SumacError(
        "wrong-results",
        f"{row.what} of {units.format_size(row.bytes)} on {run.mpi_name}: "
        f"{row.wrong} {unit} were wrong ({units.counted(len(wrong), 'size')} in all)",
        found=f"path {row.algorithm}" if row.algorithm else "",
        fix=f"{way_out} leaves it to the MPI; please report this",
        code=Exit.WRONG,
    )


def require_active(run: Run, so: str) -> None:
    """Raises with status 3 where Sumac takes no part; `so` says what does not make sense then."""
    if not run.header["sumac"]["active"]:
        raise SumacError(
            "not-active",
            f"Sumac takes no part under {run.mpi_name}, so {so}",
            fix="'sumac check' says what is missing",
            code=Exit.UNAVAILABLE,
        )


def require_fast(ratios: Iterable[tuple[str, float]], fail_below: float | None) -> None:
    """Raises with status 5 for a place whose ratio is less."""
    if fail_below is None:
        return
    slow = [f"{place} {ratio:.2f}x" for place, ratio in ratios if ratio < fail_below]
    if slow:
        raise SumacError(
            "too-slow",
            f"{units.counted(len(slow), 'size')} below {fail_below:g}x",
            found=", ".join(slow),
            code=Exit.SLOWER,
        )
