#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_mpis_test.sh LIBSUMAC PROGRAM PLUGIN-OF-OPENMPI PLUGIN-OF-MPICH: what works without Sumac
# works with it. Open MPI moves itself into the global scope when it is initialised, so an MPI that
# is opened after that may fail by itself.
library=$1 program=$2 openmpi=$3 mpich=$4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset ONE_BY_ONE
failures=0 worked=0

# both FIRST SECOND
both() {
  timeout 60 "$program" "$1" "$2" >/dev/null 2>&1 || return 0
  worked=$((worked + 1))
  for disable in 0 1; do
    said=$(SUMAC_DISABLE=$disable LD_PRELOAD=$library timeout 60 "$program" "$1" "$2" 2>&1)
    status=$?
    [ "$status" = 0 ] && continue
    failures=1
    echo "SUMAC_DISABLE=$disable ONE_BY_ONE=$ONE_BY_ONE $1 $2: status $status"
    echo "$said"
  done
}

both "$mpich" "$openmpi"
both "$openmpi" "$mpich"
export ONE_BY_ONE=yes
both "$mpich" "$openmpi"
both "$openmpi" "$mpich"
[ "$worked" != 0 ] || {
  echo "two MPIs do not work in one process here"
  exit 77
}
exit "$failures"
