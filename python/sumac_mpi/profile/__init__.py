# SPDX-License-Identifier: BSD-3-Clause
"""The work of `sumac profile`, and of what it predicts."""
