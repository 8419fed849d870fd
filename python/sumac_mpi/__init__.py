# SPDX-License-Identifier: BSD-3-Clause
"""The `sumac` command: start, inspect, check and measure MPI programs with Sumac in front."""

__version__ = "0.1.0"
