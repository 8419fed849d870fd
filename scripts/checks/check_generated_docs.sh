#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of docs/ that are made from tables of the source are up to date.
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-python3}" scripts/gen_docs.py --check
