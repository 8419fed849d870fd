# SPDX-License-Identifier: BSD-3-Clause
"""Results of `sumac bench` as text, a format in each file."""
