# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the command: a scratch prefix in which it is installed as users have it.
tests=$(dirname "$0")/../../tests
# shellcheck source=tests/expect.sh
. "$tests/expect.sh"
built=$1 library=$2 programs=$3
prefix=$(cd "$scratch" && pwd -P)/prefix
sumac=$prefix/bin/sumac
installed=$prefix/lib/libsumac.so
mkdir -p "$prefix/bin" "$prefix/lib"
cp "$built" "$sumac"
cp "$library" "$installed"
unset SUMAC_ROOT PYTHONPATH OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMIX_RANK \
  SLURM_PROCID MPI_LOCALNRANKS HYDI_CONTROL_FD
for variable in $(env | sed -n 's/^\(SUMAC_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done

# expect_error CODE SLUG: three lines at most, the first of this kind.
expect_error() {
  expect_status "$1"
  expect_err "sumac: error[$2]: "
  [ "$(wc -l <"$err")" -le 3 ] || fail "more than three lines"
}
