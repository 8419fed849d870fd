# SPDX-License-Identifier: BSD-3-Clause
"""The commands, a file each: their options and their output. `main` has them all."""
