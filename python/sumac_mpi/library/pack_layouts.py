# SPDX-License-Identifier: BSD-3-Clause
"""The datatypes that `sumac bench pack` packs: a row each of bench/pack_layouts.def."""

from __future__ import annotations

from sumac_mpi.library import tables


def names() -> list[str]:
    return [row["name"] for row in tables.rows("layouts")]
