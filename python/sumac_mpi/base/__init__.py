# SPDX-License-Identifier: BSD-3-Clause
"""What all other folders use: errors and exit status, files, units, the machine, the packages
needed."""
