# SPDX-License-Identifier: BSD-3-Clause
"""Faster collectives for unmodified MPI programs: the `sumac` command, and what a Python program
may use of it: `enable()`, `stats()` and `disabled()`."""

from sumac_mpi.in_process import disabled, enable, stats

__all__ = ["disabled", "enable", "stats"]
__version__ = "0.1.0"
