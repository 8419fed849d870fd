#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# options.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: options that differ between ranks, and
# options that come from an info key or from a site's file.
. "$(dirname "$0")/../launch.sh"

# Ranks have different options. Every option on which ranks must agree, one at a time, gives right
# results and one warning per job.
options() {
  for setting in COLLS=^allreduce COLLS=barrier ALGO=allreduce:split_slots CMA=off SHM_BUDGET=1M \
    BUILD_AFTER=5 BUILD_AFTER=1000 DEVICE=host ADAPT=all; do
    differ 2 "SUMAC_$setting"
  done
  # The same in communicators in which not all tell all others who they are.
  export SUMAC_TELL_ALL=1
  for setting in COLLS=barrier CMA=off; do differ 3 "SUMAC_$setting"; done
  unset SUMAC_TELL_ALL

  # Options that each rank may choose for itself.
  run launch 20 3 "$program" --differ --only 0 SUMAC_SIMD=sse2 SUMAC_SPIN=100 \
    SUMAC_HANG_SECONDS=7 SUMAC_THREADS=off SUMAC_THREADS_MIN=4K SUMAC_TASK_PRIORITY=1 \
    SUMAC_COLLS=barrier
  expect_warnings 1
}
differ() {
  passes launch 20 "$1" "$program" --differ --only 0 "$2"
  expect_warnings 1 "warning[options-differ]: rank 1 has "
}

# Each problem with hierarchies that are set by info key must be reported once.
info() {
  unset SUMAC_ADAPT # messages tell which options are set
  for ranks in 4 5; do
    passes launch 30 $ranks "$program"
    expect_once "warning[bad-value]"
    expect_once "warning[late-info]"
    expect_err "warning[bad-value]: info key sumac_hierarchy=numaa: unknown level 'numaa'"
    expect_err "warning[late-info]: info key sumac_hierarchy=flat"
    has="has KNOWN_AFTER=$SUMAC_KNOWN_AFTER info key sumac_hierarchy" # the one of launch.sh
    expect_err "rank 1 $has=flat, rank 0 $has=ranks:2"
  done
}

# site PRESENCE LIBSUMAC BACKEND: what a site's file sets for all jobs. The programs are those of
# switches.sh and presence.sh.
site() {
  unset SUMAC_ADAPT # messages tell which options are set
  presence=$1
  # Sumac is in two prefixes, each of which finds its file beside its library.
  for prefix in site other; do
    mkdir -p "$scratch/$prefix/bin" "$scratch/$prefix/lib" "$scratch/$prefix/etc"
    cp "$sumac" "$scratch/$prefix/bin/"
    cp "$2" "$3" "$scratch/$prefix/lib/"
  done
  # on_two: rank 1 has the Sumac of one prefix, and rank 0 of the other.
  cat >"$scratch/on_two" <<'SCRIPT'
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) prefix=site ;; *) prefix=other ;; esac
folder=$(dirname "$0")
LD_PRELOAD=$folder/$prefix/lib/libsumac.so exec "$@"
SCRIPT
  sumac=$scratch/site/bin/sumac conf=$scratch/site/etc/sumac.conf
  with SUMAC_STATS="$stats"
  expect_silence
  expect_path '[a-z_]*' '[a-z_]*'
  switched_off
  values
  locks
}

# with SETTINGS...: runs the program on 3 ranks, which must pass.
with() {
  passes launch_plain 60 3 env "$@" "$sumac" exec -- "$program"
}
# off SETTINGS...: the presence test's program says on how many ranks Sumac serves.
off() {
  succeeds launch_plain 60 3 env "$@" "$presence" world 'a member runs without Sumac'
  expect_out 'on 3 ranks, 0 with Sumac, 0 failed'
}

switched_off() {
  echo 'disable = yes' >"$conf"
  rm "$stats"
  off A=1 "$sumac" exec
  expect_warnings 1
  expect_err "sumac: warning[site-disabled]: $conf:1 switches Sumac off; running without Sumac"
  off SUMAC_DISABLE=no "$sumac" exec
  off SUMAC_DEBUG=off "$sumac" exec
  expect_silence
  off SUMAC_STATS="$stats" "LD_PRELOAD=$scratch/site/lib/libsumac.so"
  expect_warnings 1 "warning[disabled]: Sumac is off ($conf), so there are no statistics"
  [ ! -e "$stats" ] || fail "Sumac is not off"
  # Who asks for nothing is told nothing.
  off "LD_PRELOAD=$scratch/site/lib/libsumac.so"
  expect_silence
  succeeds launch_plain 60 2 sh "$scratch/on_two" "$presence" world 'a member runs without Sumac'
  expect_out 'on 2 ranks, 1 with Sumac, 0 failed'
  expect_warnings 1 "it is switched off there"
}

# Ranks must agree on the values that the file sets.
values() {
  printf 'stats = %s\nalgo = allreduce:flat_slots\n' "$stats" >"$conf"
  with A=1
  expect_silence
  expect_path allreduce flat_slots
  with SUMAC_ALGO=allreduce:flat_lines # the environment goes first
  expect_silence
  expect_path allreduce flat_lines
  echo 'cma = off' >"$conf"
  succeeds launch_plain 60 2 sh "$scratch/on_two" "$program"
  expect_warnings 1 "warning[options-differ]: rank 1 has "
}

# Locks and bad lines are told of once a job, and the rest counts.
locks() {
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
}

run_job_case "$@"
