// SPDX-License-Identifier: BSD-3-Clause
// A program that prints which libraries were preloaded.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char* preload = getenv("LD_PRELOAD");
  printf("preload=%s\n", preload != NULL ? preload : "");
  return 0;
}
