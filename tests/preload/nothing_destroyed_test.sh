#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nothing_destroyed_test.sh LIBRARY: a back end destroys nothing when the process ends, since a
# program may call the MPI from a handler of atexit() or from a destructor that runs later.
. "$(dirname "$0")/check.sh"
library=$1

# The functions that register something to be done at the end. Those of the C++ run-time library,
# which is linked in, register destructors that do nothing.
run sh -c "objdump -d --no-show-raw-insn '$library' >'$scratch/code'"
expect_status 0
awk '/^[0-9a-f]+ <.*>:$/ { name = $2; next }
     /<(__cxa_(thread_)?atexit(_impl)?|atexit|on_exit)[@>]/ { print name }
    ' "$scratch/code" | sort -u | c++filt >"$scratch/all"
harmless='__cxa_atexit@plt|_GLOBAL__sub_I_(system_error|memory_resource)\.cc'
harmless="$harmless"'|std::\(anonymous namespace\)::key_init\(\)|atexit'
run grep -vE "^<($harmless)>:" "$scratch/all"
[ "$status" = 1 ] || fail "these register a destructor; make the object by new"
# It sees them where there are some.
run grep -q '<_GLOBAL__sub_I_system_error.cc>:' "$scratch/all"
expect_status 0

# One function, the compiler's own.
run sh -c "readelf -SW '$library' | sed -n 's/.* \.fini_array  *FINI_ARRAY//p'"
grep -Eq '^ +[0-9a-f]+ [0-9a-f]+ 000008 ' "$out" || fail 'other functions run at the end'
finish
