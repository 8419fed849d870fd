# SPDX-License-Identifier: BSD-3-Clause
"""The commands, a file each: what is asked for, and what is printed. `main` has them all."""
