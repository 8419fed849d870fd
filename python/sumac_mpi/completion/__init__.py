# SPDX-License-Identifier: BSD-3-Clause
"""What a shell offers for a command line of `sumac`, and the scripts that make it do so."""
