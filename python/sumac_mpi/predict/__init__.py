# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac profile` predicts: the time that a program's collectives would take with Sumac."""
