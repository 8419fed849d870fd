# SPDX-License-Identifier: BSD-3-Clause
"""Starting an MPI job: the program, the MPI it uses, its launcher, hosts and processes; and the
ranks of running jobs."""
