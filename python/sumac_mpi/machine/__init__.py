# SPDX-License-Identifier: BSD-3-Clause
"""The machine this runs on: processors, memory, and what control groups leave of them."""
