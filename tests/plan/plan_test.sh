#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the output of 'sumac plan' with expected files. With SUMAC_TEST_UPDATE=1 the files are
# written anew; check their differences before committing them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../preload/check.sh"
sumac=$1
unset SUMAC_ROOT SUMAC_RULES SUMAC_HIERARCHY SUMAC_ALGO SUMAC_SLOW_DESIGN
cd "$here" || exit 1

# golden NAME ARGUMENTS...: the plan must be that in golden/NAME.txt.
golden() {
  name=$1
  shift
  run "$sumac" plan "$@" --rules rules.toml
  expect_status 0
  expect_silence
  [ -z "${SUMAC_TEST_UPDATE:-}" ] || cp "$out" "golden/$name.txt"
  diff -u "golden/$name.txt" "$out" || fail "not as in golden/$name.txt"
}

# refused SLUG WHAT ARGUMENTS...: exit status 2 and at most three lines.
refused() {
  slug=$1 what=$2
  shift 2
  run "$sumac" plan "$@"
  expect_status 2
  expect_err "sumac: error[$slug]: "
  expect_err "$what"
  expect_err "  fix:   "
  [ "$(wc -l <"$err")" -le 3 ] || fail "more than three lines"
  [ ! -s "$out" ] || fail "standard output is not empty"
}

node="package:2 numa:1 core:8"
golden one-node allreduce 64K -n 32 --machine "package:2 core:16" --hierarchy flat
golden four-nodes allreduce 1000000 -n 64 --nodes 4 --machine "$node"
golden eight-nodes bcast 100K -n 128 --nodes 8 --machine "$node" --hierarchy numa,node \
  --map round-robin
golden uneven-nodes reduce 1M -n 50 --nodes 4 --machine "$node" --no-attach
golden crowded allreduce 8 -n 40 --nodes 2 --machine "$node"
golden flat allreduce 1M -n 12 --nodes 3 --hierarchy flat
golden multi-leader allreduce 1M -n 12 --nodes 3 --algo allreduce:multi_leader
golden all-ranks allreduce 3000000 -n 12 --nodes 3 --hierarchy ranks:2,node --slow 3,7,11 \
  --algo allreduce:all_ranks
golden all-ranks-bcast bcast 1M -n 12 --nodes 3 --machine "core:4" --algo bcast:all_ranks
golden reduce-scatter reduce_scatter 1000000 -n 20 --nodes 3 --hierarchy ranks:4,node
golden all-gather allgather 512K -n 16 --nodes 4
golden native barrier -n 40 --hierarchy flat
golden barrier barrier -n 256 --nodes 16
golden xml allreduce 64K -n 64 --machine ../topology/two-sockets.xml --hierarchy l3,package
golden unbound allreduce 64K -n 64 --machine ../topology/two-sockets.xml --unbound
# With the shipped rules a single level uses large chunks, and their size decides on the algorithm.
run "$sumac" plan allreduce 16M -n 5 --nodes 5
expect_out "4 chunks of up to 4194304 bytes"
expect_out "ring  "
# With several leaders the size of the chunks of one rank's part decides on the algorithm.
run "$sumac" plan allreduce 4M -n 64 --nodes 4 --machine "package:2 core:16"
expect_out "1 chunk of up to 262144 bytes"
expect_out "top    16 x 4          p2p   allreduce       rabenseifner  "
for design in basic direct peer; do
  golden "slow-$design" allreduce 256K -n 16 --nodes 2 --slow 4-7,12-15 --slow-design $design
done

# The shipped rules, a large machine, and the options in the library's environment variables.
run timeout 120 "$sumac" plan allreduce 64K -n 4096 --machine "package:2 core:32" --nodes 64
expect_status 0
expect_out "64 x 64 "
run env SUMAC_HIERARCHY="bcast=flat;ranks:4,node" SUMAC_ALGO=allreduce:ring "$sumac" plan \
  allreduce 64K -n 16 --nodes 2
expect_out "ranks:4  4 x 4 "
expect_out "ring  "
expect_out "forced"
# How far ranks are from one another, for the rules that ask for it: in one group and over levels.
cat >"$scratch/far.toml" <<'RULES'
[[rule]]
collective = "allreduce"
over = "shm"
handover = "far"
algorithm = "flat_slots"

[[rule]]
collective = "bcast"
over = "shm"
handover = "near"
algorithm = "single_copy"
RULES
for shape in "-n 2" "-n 8 --hierarchy ranks:2,node"; do
  for distance in "" sibling near far; do
    # shellcheck disable=SC2086 # words
    run "$sumac" plan allreduce 64 $shape --rules "$scratch/far.toml" \
      ${distance:+--handover $distance}
    expect_status 0
    if [ "$distance" = far ]; then expect_out "/far.toml:1"; else expect_out " rules.toml:"; fi
  done
done
run "$sumac" plan bcast 64 -n 2 --rules "$scratch/far.toml" --handover near
expect_out "/far.toml:7"
# Trees by option: the variable's words, as the library reads them.
run "$sumac" plan reduce 64 -n 8 --node-radix 4
expect_out "tree"
expect_out "radix 4"
for off in off no 0 1; do
  run env SUMAC_NODE_RADIX=$off "$sumac" plan reduce 64 -n 8
  expect_status 0
  expect_out "flat_lines"
done
run "$sumac" plan --help
expect_status 0
expect_out "sumac plan [OPTIONS] COLLECTIVE [BYTES]"

run "$sumac" plan allreduce 64K -n 64 --nodes 4 --rules rules.toml --json
expect_status 0
cp "$out" "$scratch/plan.json"
run python3 - "$scratch/plan.json" <<'PYTHON'
import json, sys
plan = json.load(open(sys.argv[1]))
assert plan["algorithm"] == "levels" and plan["chunk"] == 131072 and plan["chunks"] == 1, plan
assert plan["bytes_between_nodes"] == 4 * 2 * 49152, plan
assert [row["operation"] for row in plan["levels"]] == ["reduce", "allreduce", "bcast"], plan
top = plan["levels"][1]
assert (top["groups"], top["ranks"], top["over"], top["algorithm"]) == (1, 4, "p2p", "ring"), top
assert top["steps"] == 6 and top["bytes"] == 98304 and top["rule"] == "rules.toml:41", top
assert top["chunk"] == 65536 and top["chunks"] == 1, top
assert {other["algorithm"]: other["steps"] for other in top["others"]} == {
    "recursive_doubling": 2, "rabenseifner": 4,
    "ordered_all": 4, "ordered_parts": 2}, top
PYTHON
expect_status 0

refused usage "COLLECTIVE is required"
refused usage "'allredcue' is not one of: allreduce, reduce, bcast, barrier" allredcue 8 -n 2
refused usage "BYTES is required" allreduce -n 2
refused usage "ranks is required" allreduce 8
refused usage "BYTES" allreduce 8X -n 2
refused usage "--ranks" allreduce 8 -n 1
refused usage "2 ranks cannot run on 3 nodes" allreduce 8 -n 2 --nodes 3
refused usage "a barrier has no bytes" barrier 8 -n 2
refused usage "'blok' is not one of: block, round-robin" allreduce 8 -n 2 --map blok
refused usage "'fra' is not one of: sibling, near, far" allreduce 8 -n 2 --handover fra
refused usage "--node-radix 65 is not auto, off, or 1 to 64" reduce 8 -n 2 --node-radix 65
refused usage "--node-radix 2x is not auto, off, or 1 to 64" reduce 8 -n 2 --node-radix 2x
refused usage "--slow 1,x is not a list of ranks" allreduce 8 -n 2 --slow 1,x
refused usage "--slow 2: 2 is not within the ranks 0 to 1" allreduce 8 -n 2 --slow 2
refused usage "allreduce has no algorithm 'rign'; did you mean 'ring'?" allreduce 8 -n 2 \
  --algo allreduce:rign
refused machine "nothing.xml" allreduce 8 -n 2 --machine nothing.xml
refused machine "rules.toml" allreduce 8 -n 2 --machine rules.toml
refused hierarchy "did you mean 'numa'?" allreduce 8 -n 2 --hierarchy numaa
refused hierarchy "ranks:8 is larger" allreduce 8 -n 4 --hierarchy ranks:8
refused rules "missing.toml: cannot be opened" allreduce 8 -n 2 --rules missing.toml
sed 's/"ring"/"rign"/' rules.toml >"$scratch/rules.toml"
refused rules "/rules.toml:46: unknown algorithm 'rign' for allreduce over p2p" allreduce 8 -n 2 \
  --rules "$scratch/rules.toml"
expect_err "  fix:   did you mean 'ring'? (known: "
finish
