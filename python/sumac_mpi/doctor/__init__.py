# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of running jobs, as they can be seen from outside."""
