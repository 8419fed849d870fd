# SPDX-License-Identifier: BSD-3-Clause
"""Traces of operations: reading, summarizing and drawing them."""
