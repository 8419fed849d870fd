#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# valgrind_test.sh FAMILY LAUNCHER SUMAC PROGRAM RANKS ARGUMENTS...: the program's ranks under
# valgrind, which must find nothing but what mpi.supp names. Status 77 without valgrind.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 ranks=$5
shift 5
. "$(dirname "$0")/../mpi/launch.sh"
command -v valgrind >"$out" || exit 77
here=$(dirname "$0")
set -- "$program" "$@"
for file in "$here/mpi.supp" /usr/share/openmpi/openmpi-valgrind.supp; do
  [ ! -r "$file" ] || set -- "--suppressions=$file" "$@"
done
run launch 300 "$ranks" valgrind -q --error-exitcode=9 --log-file="$scratch/seen.%p" "$@"
expect_status 0
expect_out 'passed: '
[ "$(find "$scratch" -name 'seen.*' | wc -l)" = "$ranks" ] || fail 'not all ranks were watched'
sed -n '/^==[0-9]*== \(WARNING: valgrind ignores.*\)*$/!p' "$scratch"/seen.* >"$scratch/errors"
[ ! -s "$scratch/errors" ] || fail "$(head -60 "$scratch/errors")"
nothing_left || fail 'something is left'
finish
