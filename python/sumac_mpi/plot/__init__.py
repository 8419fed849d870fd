# SPDX-License-Identifier: BSD-3-Clause
"""Results of `sumac bench` as pictures."""
