#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_instructions.sh OBJDUMP ARCHIVE: fails if a function outside the namespaces of the newer
# instruction sets uses their registers. An inline function compiled for two sets under one name
# would be such a function: the linker keeps either copy, and processors without the set crash in
# it.
objdump=$1 archive=$2
"$objdump" -d --no-show-raw-insn "$archive" | awk '
  / file format / { arm = /aarch64/ }
  / file format /, /^$/ { next }
  /^[0-9a-f]+ <.*>:$/ { name = $2; next }
  { set = "" }
  arm && /[ \t{[][zp][0-9]+[.\/,]/ { set = "N_SVE" }
  !arm && /%ymm|:\tv[a-z]/ { set = "N_AVX[23]" }
  !arm && /%zmm|%k[0-7]/ { set = "N_AVX3" }
  set == "" { next }
  name ~ set { ++seen; next }
  !(name in bad) { bad[name]; print "outside " set ": " name $0 }
  END {
    for (name in bad) exit 1
    if (!seen) { print "no instruction of a newer set found"; exit 1 }
    print seen " instructions of newer sets, none in shared functions"
  }'
