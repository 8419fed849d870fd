# SPDX-License-Identifier: BSD-3-Clause
"""What was predicted, as text and for JSON."""

from __future__ import annotations

from typing import Any

from sumac_mpi.base import units
from sumac_mpi.predict.known import Known
from sumac_mpi.predict.prediction import Predicted

_LITTLE = 0.005  # a share of the time in collectives that is not worth a line


def lines(predicted: Predicted, known: Known) -> list[str]:
    """Totals, and what they do not contain."""
    result = []
    usable = {ranks: table for ranks, table in known.tables.items() if table}
    if usable:
        run = predicted.run_after
        result.append(
            f"with Sumac, predicted: {units.format_time(predicted.after)} in collectives instead "
            f"of {units.format_time(predicted.before)}, the run "
            f"{units.format_time(run)} instead of {units.format_time(predicted.run)} "
            f"({_change(run, predicted.run)})"
        )
        result.append(
            f"of that {units.format_time(predicted.set_up)} are the set-up of communicators, once"
        )
        result += [
            f"by the table of {ranks} ranks of {table.date}"
            + (f", measured in mode {' and '.join(table.modes)}" if table.modes else "")
            for ranks, table in sorted(usable.items())
        ]
        result += [
            f"taken to stay: {time / predicted.before:.1%} of the time in collectives ({why})"
            for why, time in sorted(predicted.unknown.items())
            if time > _LITTLE * predicted.before
        ]
    return result + known.advice()


def _change(after: float, before: float) -> str:
    """In percent, as "3.4% less"."""
    change = after / before - 1 if before else 0.0
    return f"{abs(change):.1%} {'more' if change > 0 else 'less'}"


def as_dict(predicted: Predicted, known: Known) -> dict[str, Any]:
    return {
        "seconds": predicted.before / 1e9,
        "with_sumac_seconds": predicted.after / 1e9,
        "set_up_seconds": predicted.set_up / 1e9,
        "run_seconds": predicted.run / 1e9,
        "run_with_sumac_seconds": predicted.run_after / 1e9,
        "unknown_seconds": {why: time / 1e9 for why, time in predicted.unknown.items()},
        "tables": {str(ranks): {"date": table.date, "modes": table.modes}
                   for ranks, table in known.tables.items() if table},
        "problems": {str(ranks): problem for ranks, problem in known.problems.items()},
    }  # fmt: skip
