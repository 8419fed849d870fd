#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# intercept.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: others that intercept MPI calls too,
# or call the MPI past Sumac.
. "$(dirname "$0")/../launch.sh"

# placement LIBSUMAC KIND TOOL [LINKED]: a tool sees of the program what it sees without Sumac,
# before Sumac and behind it, with Sumac on and switched off; and Sumac serves what the tool passes
# on. KIND: pmpi (the tool calls PMPI_X), next (it looks MPI_X up behind itself; where that is
# behind Sumac too, the calls pass Sumac by, and Sumac stands aside), or completion (the same of the
# calls about requests alone, and Sumac leaves nonblocking calls to the MPI). LINKED: the program
# with the tool in its link line.
placement() {
  library=$1 tool=$3 linked=$4
  counts "$tool" 0 "$program"
  mv "$scratch/counts" "$scratch/native"
  passed_on=yes
  [ "$2" != next ] || passed_on=no
  same "$tool:$library" "$program" yes
  same "$library:$tool" "$program" "$passed_on"
  if [ -n "$linked" ]; then
    counts "" 0 "$linked"
    diff "$scratch/native" "$scratch/counts" || fail "linked, without Sumac: other counts"
    same "$library" "$linked" "$passed_on"
  fi
  # Only one rank may have the tool.
  run launch_plain 60 3 sh -c '
    p=$1; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || p=$1:$2
    LD_PRELOAD=$p exec "$3"' sh "$library" "$tool" "$program"
  expect_status 0
  expect_line ', wrong 0$'
}

# counts PRELOAD DISABLE PROGRAM: leaves what the tool saw on all ranks in $scratch/counts.
counts() {
  mkdir "$scratch/ranks"
  COUNTER_FOLDER=$scratch/ranks SUMAC_DISABLE=$2 run launch_plain 60 3 env LD_PRELOAD="$1" "$3"
  command_line="LD_PRELOAD=$1 SUMAC_DISABLE=$2 $3"
  cat "$scratch"/ranks/* 2>/dev/null | sort >"$scratch/counts"
  rm -r "$scratch/ranks"
  expect_status 0
  expect_line ', wrong 0$'
}

# same PRELOAD PROGRAM SERVED expects the same counts, and whether Sumac serves calls.
same() {
  for disable in 0 1; do
    counts "$1" "$disable" "$2"
    diff "$scratch/native" "$scratch/counts" || fail "the tool does not see what it sees natively"
    served=no
    grep -qE '^(path [a-z_]+,|served T)' "$out" && ! grep -qE '^path (mpi|none),' "$out" &&
      served=yes
    wanted=$3
    [ "$disable" = 0 ] || wanted=no
    [ "$served" = "$wanted" ] || fail "served: $served"
  done
}

# coupler LIBSUMAC COUPLER: a tool that gives each half of the job a world of its own does so
# wherever it stands, and Sumac sees each call of both halves once.
coupler() {
  counts="Allreduce 50 Bcast 20 Reduce 10 Barrier 25"
  none="Allreduce 0 Bcast 0 Reduce 0 Barrier 0"
  halves "$2" "$none"
  halves "$2:$1" "$counts"
  # `sumac exec` puts Sumac behind what is preloaded.
  halves "$2" "$counts" "$sumac" exec --
  halves "$1:$2" "$counts"
  export SUMAC_DISABLE=1
  halves "$1:$2" "$none"
}

# halves PRELOAD WANTED-OF-SUMAC COMMAND... starts five ranks, and each half prints what Sumac saw.
halves() {
  preload=$1 wanted=$2
  shift 2
  succeeds launch_plain 60 5 env LD_PRELOAD="$preload" "$@" "$program"
  [ "$(grep -cx "sumac: $wanted" "$out")" = 2 ] || fail "not twice '$wanted'"
}

# past LIBRARY: requests that a library completes past Sumac end, and one message says that
# nonblocking calls are left to the MPI.
past() {
  for ranks in 1 3; do
    passes launch 60 "$ranks" "$program" "$1"
    expect_once 'warning[requests-pass-by]'
  done
}

# two_mpis LIBSUMAC PLUGIN-OF-OPENMPI PLUGIN-OF-MPICH: what works without Sumac works with it. Open
# MPI moves itself into the global scope when it is initialised, so an MPI that is opened after that
# may fail by itself.
two_mpis() {
  worked=0
  unset ONE_BY_ONE
  both "$1" "$3" "$2"
  both "$1" "$2" "$3"
  export ONE_BY_ONE=yes
  both "$1" "$3" "$2"
  both "$1" "$2" "$3"
  [ "$worked" != 0 ] || skip 'two MPIs do not work in one process here'
}

# both LIBSUMAC FIRST SECOND opens both, in this order.
both() {
  run timeout 60 "$program" "$2" "$3"
  [ "$status" = 0 ] || return
  worked=$((worked + 1))
  for disable in 0 1; do
    succeeds env LD_PRELOAD="$1" SUMAC_DISABLE=$disable timeout 60 "$program" "$2" "$3"
  done
}

run_job_case "$@"
