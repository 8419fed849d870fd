#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Run by rattler-build in a copy of the source, with $PREFIX and the name of the MPI in $mpi.
set -eu
case ${mpi:?} in
  openmpi) family=openmpi ;;
  *) family=mpich ;;
esac
# shellcheck disable=SC2086
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DSUMAC_WERROR=OFF \
  "-DSUMAC_${family}_CC=$PREFIX/bin/mpicc" "-DSUMAC_${family}_CXX=$PREFIX/bin/mpicxx" \
  "-DSUMAC_${family^^}_LIBRARY=$PREFIX/lib/libmpi.so"
cmake --build build-conda
cmake --install build-conda
