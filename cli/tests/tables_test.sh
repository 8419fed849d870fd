#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables that the command prints for other programs.
. "$(dirname "$0")/prefix.sh"

run "$sumac" __options
expect_status 0
expect_silence
cp "$out" "$scratch/options.json"
run python3 - "$scratch/options.json" <<'PYTHON'
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) >= 12
for row in rows:
    assert set(row) == {"name", "kind", "default", "choices", "agreed", "doc"}, row
    assert row["kind"] in {"flag", "choice", "count", "limit", "bytes", "text", "path", "report",
                           "colls"}, row
    assert isinstance(row["agreed"], bool) and len(row["doc"]) > 10, row
by_name = {row["name"]: row for row in rows}
assert by_name["CMA"]["choices"] == "auto|off" and by_name["CMA"]["agreed"]
assert by_name["SHM_BUDGET"]["default"] == "64M"
PYTHON
expect_status 0
run "$sumac" __calls
expect_status 0
[ "$(wc -l <"$out")" -ge 134 ] || fail "not 134 names or more"
[ "$(grep -vc '^MPI_[A-Z][a-z_]*$' "$out")" = 0 ] || fail "not all are names of MPI"
expect_out MPI_Allreduce_c
run "$sumac" __collectives
expect_status 0
expect_silence
cp "$out" "$scratch/collectives.json"
run python3 - "$scratch/collectives.json" <<'PYTHON'
import json, sys
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))}
assert rows["reduce"]["root"] and not rows["allreduce"]["root"], rows
assert rows["barrier"]["result"] == "none" and rows["allgather"]["reduces"] is False, rows
assert [name for name, row in rows.items() if not row["sized"]] == ["alltoallv"], rows
assert {row["ranks"] for row in rows.values()} == {"levels", "none"}, rows
assert {row["divided"] for row in rows.values()} == {"whole", "parts", "blocks"}, rows
assert {row["result"] for row in rows.values()} == {"all", "own", "root", "none"}, rows
assert rows["allgather"]["divided"] == "parts" and rows["bcast"]["simulated"] is True, rows
PYTHON
expect_status 0
run "$sumac" __functions
expect_status 0
expect_silence
cp "$out" "$scratch/functions.json"
run python3 - "$scratch/functions.json" "$scratch/collectives.json" <<'PYTHON'
import json, sys
rows, collectives = (json.load(open(path)) for path in sys.argv[1:])
by_name = {row["name"]: row for row in rows}
assert by_name["alltoallw"] == {"name": "alltoallw", "collective": "alltoallv", "lists": True}, rows
assert by_name["reduce_scatter_block"]["lists"] is False, rows
assert by_name["scan"]["collective"] == "", rows  # the MPI serves it
served = {row["collective"] for row in rows} - {""}
assert served == {row["name"] for row in collectives}, rows
PYTHON
expect_status 0
run "$sumac" __types
expect_status 0
expect_silence
cp "$out" "$scratch/types.json"
run python3 - "$scratch/types.json" <<'PYTHON'
import json, sys
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))}
assert len(rows) == 28 and "none" not in rows, rows
assert rows["int128"]["size"] == 16 and rows["2int"]["kind"] == "pair", rows
assert rows["int32"]["mpi"] == "MPI_INT" and rows["float16"]["mpi"] == "MPI_DATATYPE_NULL", rows
assert rows["float"]["ops"] == ["sum", "prod", "min", "max"], rows
assert rows["double_int"]["ops"] == ["minloc", "maxloc"], rows
assert len(rows["uint8"]["ops"]) == 10 and rows["float_complex"]["ops"] == ["sum", "prod"], rows
PYTHON
expect_status 0
run "$sumac" __layouts
expect_status 0
expect_silence
cp "$out" "$scratch/layouts.json"
run python3 - "$scratch/layouts.json" <<'PYTHON'
import json, sys
rows = {row["name"]: row["doc"] for row in json.load(open(sys.argv[1]))}
assert len(rows) >= 10 and rows["vector_1_2"] == "every second double", rows
PYTHON
expect_status 0
finish
