// SPDX-License-Identifier: BSD-3-Clause
// sums.c as a library, opened with RTLD_LOCAL by a program without MPI, as Python does.
#define main sums_main
__attribute__((visibility("default"))) int sums_main(int argc, char** argv);
#include "sums.c"
