/* SPDX-License-Identifier: BSD-3-Clause */
/* For the Fortran programs: whether Sumac served this thread's last collective, and by `direct`;
 * and the constants of the header, in the order of operations.F90. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "sumac/sumac.h"

static const char* last_path(void) {
  const char* (*path)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "sumac_last_path");
  return path != NULL ? path() : "";
}

int sumac_took_it(void) { return last_path()[0] != '\0' && strncmp(last_path(), "mpi:", 4) != 0; }

int sumac_went_direct(void) { return strcmp(last_path(), "direct") == 0; }

int sumac_test_constant(int number) {
  static const int constants[] = {SUMAC_SUM,         SUMAC_PROD,    SUMAC_MIN,     SUMAC_MAX,
                                  SUMAC_LAND,        SUMAC_LOR,     SUMAC_LXOR,    SUMAC_BAND,
                                  SUMAC_BOR,         SUMAC_BXOR,    SUMAC_MINLOC,  SUMAC_MAXLOC,
                                  SUMAC_OP_THREADED, SUMAC_FLOAT16, SUMAC_BFLOAT16};
  const int count = sizeof constants / sizeof constants[0];
  return number >= 0 && number < count ? constants[number] : -1;
}
