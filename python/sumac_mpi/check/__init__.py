# SPDX-License-Identifier: BSD-3-Clause
"""The examination that `sumac check` makes."""
