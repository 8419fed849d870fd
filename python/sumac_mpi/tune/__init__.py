# SPDX-License-Identifier: BSD-3-Clause
"""The work of `sumac tune`: jobs that measure each way of doing a collective, what is kept, and the
rules that say so."""
