/* SPDX-License-Identifier: BSD-3-Clause */
/* For the Fortran programs: the constants of the header, in the order of operations.inc. */
#include "sumac/sumac.h"

int sumac_test_constant(int number) {
  static const int constants[] = {SUMAC_SUM,         SUMAC_PROD,    SUMAC_MIN,     SUMAC_MAX,
                                  SUMAC_LAND,        SUMAC_LOR,     SUMAC_LXOR,    SUMAC_BAND,
                                  SUMAC_BOR,         SUMAC_BXOR,    SUMAC_MINLOC,  SUMAC_MAXLOC,
                                  SUMAC_OP_THREADED, SUMAC_FLOAT16, SUMAC_BFLOAT16};
  const int count = sizeof constants / sizeof constants[0];
  return number >= 0 && number < count ? constants[number] : -1;
}
