#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# placement_test.sh FAMILY LAUNCHER LIBSUMAC KIND TOOL PROGRAM [LINKED]: a tool sees of the program
# what it sees without Sumac, before Sumac and behind it, with Sumac on and switched off; and Sumac
# serves what the tool passes on. KIND: pmpi (the tool calls PMPI_X), next (it looks MPI_X up behind
# itself; where that is behind Sumac too, the calls pass Sumac by, and Sumac stands aside), or
# completion (the same of the calls about requests alone, and Sumac leaves nonblocking calls to the
# MPI). LINKED: the program with the tool in its link line.
family=$1 launcher=$2 library=$3 kind=$4 tool=$5 program=$6 linked=$7
sumac=none
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# counts PRELOAD DISABLE PROGRAM: leaves what the tool saw on all ranks in $folder/counts.
counts() {
  mkdir "$folder/ranks"
  COUNTER_FOLDER=$folder/ranks SUMAC_DISABLE=$2 launch_plain 60 3 env LD_PRELOAD="$1" "$3" \
    >"$folder/output" 2>&1
  status=$?
  cat "$folder"/ranks/* 2>/dev/null | sort >"$folder/counts"
  rm -rf "$folder/ranks"
  [ "$status" = 0 ] && grep -q ', wrong 0$' "$folder/output" && return
  fail "LD_PRELOAD=$1 SUMAC_DISABLE=$2 $3: status $status"
  cat "$folder/output"
}

fail() {
  failures=1
  echo "$1"
}

# same PRELOAD PROGRAM SERVED
same() {
  for disable in 0 1; do
    counts "$1" "$disable" "$2"
    if ! diff "$folder/native" "$folder/counts" >"$folder/differences"; then
      fail "LD_PRELOAD=$1 SUMAC_DISABLE=$disable $2: the tool does not see what it sees natively"
      cat "$folder/differences"
    fi
    served=no
    grep -qE '^(path [a-z_]+,|served T)' "$folder/output" &&
      ! grep -qE '^path (mpi|none),' "$folder/output" && served=yes
    wanted=$3
    [ "$disable" = 1 ] && wanted=no
    [ "$served" = "$wanted" ] || fail "LD_PRELOAD=$1 SUMAC_DISABLE=$disable $2: served: $served"
  done
}

counts "$tool" 0 "$program"
mv "$folder/counts" "$folder/native"
passed_on=yes
[ "$kind" = next ] && passed_on=no
same "$tool:$library" "$program" yes
same "$library:$tool" "$program" "$passed_on"
if [ -n "$linked" ]; then
  counts "" 0 "$linked"
  diff "$folder/native" "$folder/counts" || fail "linked, without Sumac: other counts"
  same "$library" "$linked" "$passed_on"
fi
# A tool that only one rank has.
# shellcheck disable=SC2016
one='p=$1; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && p=$1:$2
LD_PRELOAD=$p exec "$3"'
launch_plain 60 3 sh -c "$one" sh "$library" "$tool" "$program" >"$folder/output" 2>&1 &&
  grep -q ', wrong 0$' "$folder/output" || {
  fail "the tool behind Sumac on one rank: status $?"
  cat "$folder/output"
}
nothing_left || failures=1
exit "$failures"
