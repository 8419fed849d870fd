# SPDX-License-Identifier: BSD-3-Clause
"""The format of the files that the ranks of a job write: profiles and traces."""
