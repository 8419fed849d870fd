# SPDX-License-Identifier: BSD-3-Clause
"""Traces of operations: read, summed up and drawn."""
