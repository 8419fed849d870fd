# SPDX-License-Identifier: BSD-3-Clause
"""Measuring with `sumac bench`: requests, results, and the files that hold them."""
