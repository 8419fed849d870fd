# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac profile` foretells: the time that a program's collectives would take with Sumac."""
