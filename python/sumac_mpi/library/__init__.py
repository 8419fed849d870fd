# SPDX-License-Identifier: BSD-3-Clause
"""The installed library: where its parts are, and the tables that its executable prints."""
