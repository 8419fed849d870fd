# SPDX-License-Identifier: BSD-3-Clause
"""This machine: processors, memory, and the limits of control groups."""
