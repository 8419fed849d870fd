#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# profiled_test.sh FAMILY LAUNCHER SUMAC PROGRAM: SUMAC_PROFILE tells of the calls that the program
# is known to make, and of the time that it waits; and the program ends well wherever the profile
# cannot be written.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
PYTHONPATH=$(dirname "$0")/../../python
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1

# compare SCENARIO RANKS: with what the program called.
compare() {
  python3 "$(dirname "$0")/profiled_test.py" "$1" "$SUMAC_PROFILE" "$2" >"$out" 2>"$err" ||
    fail "$1 on $2 ranks: $(cat "$err")"
  [ "$(stat -c %a "$SUMAC_PROFILE/rank-0.profile")" = 600 ] || fail "others may read the profile"
}

# profile SCENARIO RANKS: runs it, in a new folder.
profile() {
  SUMAC_PROFILE=$scratch/$1-$2
  export SUMAC_PROFILE
  mkdir "$SUMAC_PROFILE"
  run launch 60 "$2" "$program" "$1"
}

for each in calls:1 none:1 calls:2 threads:2 none:3 threads:3 calls:5; do
  scenario=${each%:*} ranks=${each#*:}
  profile "$scenario" "$ranks"
  expect_status 0
  expect_silence
  compare "$scenario" "$ranks"
done
profile left 2
expect_status 0
compare left 2
SUMAC_PROFILE_CALLS=1000
export SUMAC_PROFILE_CALLS
profile many 2
expect_status 0
compare many 2
unset SUMAC_PROFILE_CALLS

profile killed 3
[ "$status" != 0 ] || fail "a killed rank is not seen"
compare killed 3

# The same file again, no folder, a file in its place: told, and the program ends well.
SUMAC_PROFILE=$scratch/calls-2
run launch 60 2 "$program" calls
expect_status 0
expect_err "warning[profile]: cannot make rank 0's file in SUMAC_PROFILE="
compare calls 2
for SUMAC_PROFILE in "$scratch/missing" "$program"; do
  run launch 60 2 "$program" calls
  expect_status 0
  expect_err "warning[profile]: cannot write into SUMAC_PROFILE=$SUMAC_PROFILE"
done

# A full disc: as far as a file may grow. MPICH's UCX itself needs larger files.
if [ "$family" != mpich ]; then
  SUMAC_PROFILE=$scratch/full
  mkdir "$SUMAC_PROFILE"
  run launch 60 2 sh -c 'ulimit -f 8; trap "" XFSZ; exec "$@"' sh "$program" many
  expect_status 0
  expect_err "warning[profile]: its end is missing from rank 0's file in SUMAC_PROFILE="
fi

# Options that differ: no rank waits for another one.
SUMAC_PROFILE=$scratch/differs
mkdir "$SUMAC_PROFILE"
run launch 60 3 sh -c 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) unset SUMAC_PROFILE ;; esac
  exec "$@"' sh "$program" calls
expect_status 0
expect_err "warning[options-differ]"
nothing_left || fail "something is left"
finish
