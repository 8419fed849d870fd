#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SUMAC_* variables: what is wrong with them; --set and -x go before the environment.
. "$(dirname "$0")/prefix.sh"

run env SUMAC_CMA=maybe "$sumac" __check-env
expect_error 2 bad-value
expect_err "sumac: error[bad-value]: SUMAC_CMA=maybe is not one of auto, off"
expect_err "  found: in the environment"
expect_err "  fix:   unset it (the default is 'auto'), or choose one of auto, off"
run env SUMAC_SPINN=3 "$sumac" __check-env
expect_error 2 unknown-option
expect_err "SUMAC_SPINN is not an option"
expect_err "  fix:   did you mean SUMAC_SPIN?"
run env SUMAC_CMA=maybe SUMAC_SPIN=-1 SUMAC_FOO=1 "$sumac" __check-env
expect_status 2
expect_warnings 3
run env SUMAC_ROOT= SUMAC_ACTIVE=1 SUMAC_TEST_ANYTHING=1 SUMAC_CMA= "$sumac" __check-env
expect_status 0
expect_silence

# In front of a program they are the library's to judge, once a job and not once a rank; but what
# the command line sets is wrong at once.
for setting in CMA=maybe NOTHING=1 SIMD=axv2; do
  run env "SUMAC_$setting" "$sumac" exec true
  expect_status 0
  expect_silence
  run "$sumac" exec --set "$setting" true
  expect_status 2
  expect_err "found: --set on the command line"
done
for setting in CMA =off '' SUMAC_; do
  run "$sumac" exec --set "$setting" true
  expect_error 2 usage
done
for last in -x --set; do
  run "$sumac" exec $last
  expect_error 2 usage
  expect_err "$last"
done
run env SUMAC_SPIN=5 "$sumac" exec --set=CMA=off -xA=1 sh -c 'echo "=$SUMAC_CMA$A$SUMAC_SPIN=$*"' \
  sh --set CMA=auto -x
expect_out "=off15=--set CMA=auto -x"

run env SUMAC_CMA=auto "$sumac" exec --set CMA=off --set SUMAC_SPIN=7 -x SUMAC_SPIN=8 -- \
  sh -c 'echo "=$SUMAC_CMA=$SUMAC_SPIN="'
expect_out "=off=8="
# -x means what it means to sumac run and to Open MPI's mpiexec.
run env A=1 "$sumac" exec -x STATS=1 -x A -x B=2=3 -x C= -- \
  sh -c 'echo "$STATS$SUMAC_STATS$A$B${C-unset}"'
expect_status 0
expect_out "112=3"
expect_silence
for setting in NOT_SET =off ''; do
  run "$sumac" exec -x "$setting" true
  expect_error 2 usage
done

for word in 1 yes On TRUE; do
  run env SUMAC_DISABLE=$word "$sumac" __disabled
  expect_status 0
done
for word in 0 no '' maybe; do
  run env SUMAC_DISABLE=$word "$sumac" __disabled
  expect_status 1
done
run "$sumac" __disabled
expect_status 1

# The site's file of this prefix. What is wrong in it is the library's to tell.
mkdir "$prefix/etc"
conf=$prefix/etc/sumac.conf
printf 'cma = off\nnonsense\nlocked = CMA\n' >"$conf"
run "$sumac" __settings
expect_out "\"name\": \"CMA\", \"value\": \"off\", \"source\": \"$conf:1\", \"locked\": true"
expect_out '"name": "SPIN", "value": "0", "source": "default", "locked": false'
run env SUMAC_CMA=auto SUMAC_SPIN=5 SUMAC_DEBUG= "$sumac" __settings
expect_out "\"name\": \"CMA\", \"value\": \"off\", \"source\": \"$conf:1\", \"locked\": true"
expect_out '"name": "SPIN", "value": "5", "source": "environment", "locked": false'
expect_out '"name": "DEBUG", "value": "warn", "source": "default", "locked": false'
# A value that is refused is not in force.
run env SUMAC_SPIN=many "$sumac" __settings
expect_out '"name": "SPIN", "value": "0", "source": "default", "locked": false'
run env SUMAC_CMA=auto "$sumac" __check-env
expect_status 0
expect_silence
run env SUMAC_CMA=maybe "$sumac" __check-env
expect_error 2 bad-value
echo 'disable = yes' >>"$conf"
for word in '' 0 1; do
  run env SUMAC_DISABLE=$word "$sumac" __disabled
  expect_status 0
  expect_out "$conf:4"
done
run "$sumac" exec true
expect_status 0
expect_warnings 1
expect_err "warning[site-disabled]: $conf:4 switches Sumac off"
run env SUMAC_DEBUG=off "$sumac" exec true
expect_silence
rm "$conf"

run "$sumac" __check-env
expect_status 0
expect_silence
for setting in DEBUG=loud SIMD=avx9 SIMD=axv2 STATS=yess; do
  run env "SUMAC_$setting" "$sumac" __check-env
  expect_error 2 bad-value
done
for setting in DEBUG=loud SUMAC_DEBUG=loud debug=loud SIMD=avx9 SPINN=1 SUMAC_CMA DEBUG; do
  run "$sumac" __check-set SPIN=5 "$setting"
  expect_status 2
  expect_err 'error['
done
run env SUMAC_CMA=maybe "$sumac" __check-set SPIN=5 debug=info CMA=off SUMAC_STATS=run.json
expect_status 0
expect_silence
run env SUMAC_CMA=maybe "$sumac" exec --set spin=5 -- printenv SUMAC_SPIN
expect_status 0
expect_out 5

for setting in DEBUG=on SIMD=SCALAR SIMD=avx-512 STATS=no STATS=all DISABLE=false; do
  run env "SUMAC_$setting" "$sumac" __check-env
  expect_status 0
done
finish
