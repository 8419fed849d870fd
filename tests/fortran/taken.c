/* SPDX-License-Identifier: BSD-3-Clause */
/* For the Fortran programs: whether Sumac served this thread's last collective, and by `direct`. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char* last_path(void) {
  const char* (*path)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "sumac_last_path");
  return path != NULL ? path() : "";
}

int sumac_took_it(void) { return last_path()[0] != '\0' && strncmp(last_path(), "mpi:", 4) != 0; }

int sumac_went_direct(void) { return strcmp(last_path(), "direct") == 0; }
