#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# site_test.sh FAMILY LAUNCHER SUMAC PROGRAM PRESENCE LIBSUMAC BACKEND: what a site's file sets for
# all jobs. PROGRAM and PRESENCE are those of switches_test.sh and presence_test.sh.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 program=$4 presence=$5
# Sumac in two prefixes of its own, each of which finds its file beside its library.
for prefix in site other; do
  mkdir -p "$scratch/$prefix/bin" "$scratch/$prefix/lib" "$scratch/$prefix/etc"
  cp "$3" "$scratch/$prefix/bin/"
  cp "$6" "$7" "$scratch/$prefix/lib/"
done
sumac=$scratch/site/bin/sumac conf=$scratch/site/etc/sumac.conf
. "$(dirname "$0")/launch.sh"
unset SUMAC_ADAPT # messages tell which options are set

# with SETTINGS...: runs the program on 3 ranks, which must pass.
with() {
  run launch_plain 60 3 env "$@" "$sumac" exec -- "$program"
  expect_status 0
  expect_out "passed: "
}

served() {
  grep -q '"path": "[a-z_]*", "taken": true' "$scratch/stats.json" || fail "Sumac serves nothing"
}

with SUMAC_STATS="$scratch/stats.json"
expect_silence
served

# Switched off. The presence test's program says on how many ranks Sumac serves.
off() {
  run launch_plain 60 3 env "$@" "$presence" world 'a member runs without Sumac'
  expect_status 0
  expect_out 'on 3 ranks, 0 with Sumac, 0 failed'
}
echo 'disable = yes' >"$conf"
rm "$scratch/stats.json"
off A=1 "$sumac" exec
expect_warnings 1
expect_err "sumac: warning[site-disabled]: $conf:1 switches Sumac off; running without Sumac"
off SUMAC_DISABLE=no "$sumac" exec
off SUMAC_DEBUG=off "$sumac" exec
expect_silence
off SUMAC_STATS="$scratch/stats.json" "LD_PRELOAD=$scratch/site/lib/libsumac.so"
expect_warnings 1
expect_err "warning[disabled]: Sumac is off ($conf), so there are no statistics"
[ ! -e "$scratch/stats.json" ] || fail "Sumac is not off"
# Who asks for nothing is told nothing.
off "LD_PRELOAD=$scratch/site/lib/libsumac.so"
expect_silence
# on_two: rank 1 has the Sumac of one prefix, and rank 0 of the other.
cat >"$scratch/on_two" <<'SCRIPT'
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) prefix=site ;; *) prefix=other ;; esac
folder=$(dirname "$0")
LD_PRELOAD=$folder/$prefix/lib/libsumac.so exec "$@"
SCRIPT
run launch_plain 60 2 sh "$scratch/on_two" "$presence" world 'a member runs without Sumac'
expect_status 0
expect_out 'on 2 ranks, 1 with Sumac, 0 failed'
expect_warnings 1
expect_err "it is switched off there"

# Values, and the agreement on them.
printf 'stats = %s\nalgo = allreduce:flat_slots\n' "$scratch/stats.json" >"$conf"
with A=1
expect_silence
served
grep -q '"allreduce", "path": "flat_slots", "taken": true' "$scratch/stats.json" ||
  fail "algo is not followed"
with SUMAC_ALGO=allreduce:flat_lines
expect_silence
grep -q '"allreduce", "path": "flat_lines", "taken": true' "$scratch/stats.json" ||
  fail "the environment does not go first"
echo 'cma = off' >"$conf"
run launch_plain 60 2 sh "$scratch/on_two" "$program"
expect_status 0
expect_warnings 1
expect_err "warning[options-differ]: rank 1 has "

# Locks and bad lines are told of once a job, and the rest counts.
printf 'locked = SPIN\nspin = 7\nnonsense\nalgo = nonsense\nhierarchy = numaa\n' >"$conf"
with SUMAC_SPIN=8 SUMAC_HIERARCHY=flat
expect_err "warning[locked-option]: SUMAC_SPIN=8: the site has fixed this option ($conf:1); using"
expect_err "warning[site-file]: $conf:3: the line is not NAME = value; it is ignored"
expect_err "warning[site-file]: $conf:4: ALGO=nonsense: "
expect_warnings 3
with SUMAC_SPIN=7 SUMAC_HIERARCHY=flat SUMAC_ALGO=allreduce:flat_slots
expect_warnings 1
printf 'debug = off\nnonsense\n' >"$conf"
with A=1
expect_silence
nothing_left || fail "something is left"
finish
