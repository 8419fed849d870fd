# SPDX-License-Identifier: BSD-3-Clause
"""Measuring with `sumac bench`: what is asked for, the results, where they are kept."""
