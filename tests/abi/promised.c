// SPDX-License-Identifier: BSD-3-Clause
// The functions and constants of sumac.h that programs are linked to, as promised in CHANGELOG.md.
// A row may be added with what is new in sumac.h. A row that no longer compiles, or a function that
// libsumac.so no longer has, breaks the promise. tests/python/test_release.py compares the names
// with those of sumac.h.
#include <mpi.h>
#include <stddef.h>
#include <sumac/sumac.h>

#define FUNCTION(result, name, arguments) result name arguments;  // another type does not compile
#define CONSTANT(name, value) _Static_assert((name) == (value), #name);

// Version 0.1
#define FUNCTIONS_OF_0_1                                   \
  FUNCTION(const char*, sumac_version, (void))             \
  FUNCTION(int, sumac_active, (void))                      \
  FUNCTION(void*, sumac_native, (const char*))             \
  FUNCTION(const char*, sumac_last_path, (void))           \
  FUNCTION(const char*, sumac_description, (void))         \
  FUNCTION(int, sumac_pause, (void))                       \
  FUNCTION(int, sumac_resume, (void))                      \
  FUNCTION(size_t, sumac_stats, (char*, size_t))           \
  FUNCTION(int, sumac_op_create, (int, int, MPI_Op*))      \
  FUNCTION(int, sumac_hint_type, (MPI_Datatype, int))      \
  FUNCTION(int, sumac_hint_op, (MPI_Op, int))              \
  FUNCTION(int, sumac_op_create_f, (int, int, MPI_Fint*))  \
  FUNCTION(int, sumac_hint_type_f, (const MPI_Fint*, int)) \
  FUNCTION(int, sumac_hint_op_f, (const MPI_Fint*, int))
CONSTANT(SUMAC_SUM, 1)
CONSTANT(SUMAC_PROD, 2)
CONSTANT(SUMAC_MIN, 3)
CONSTANT(SUMAC_MAX, 4)
CONSTANT(SUMAC_LAND, 5)
CONSTANT(SUMAC_LOR, 6)
CONSTANT(SUMAC_LXOR, 7)
CONSTANT(SUMAC_BAND, 8)
CONSTANT(SUMAC_BOR, 9)
CONSTANT(SUMAC_BXOR, 10)
CONSTANT(SUMAC_MINLOC, 11)
CONSTANT(SUMAC_MAXLOC, 12)
CONSTANT(SUMAC_OP_THREADED, 1)
CONSTANT(SUMAC_FLOAT16, 1)
CONSTANT(SUMAC_BFLOAT16, 2)

FUNCTIONS_OF_0_1

#undef FUNCTION
#define FUNCTION(result, name, arguments) (void (*)(void)) name,
static void (*const functions[])(void) = {FUNCTIONS_OF_0_1 NULL};

// Each function is referred to, so the program does not start with a library that lacks one.
int main(void) {
  int count = 0;
  while (functions[count] != NULL) ++count;
  return count != 14 || sumac_version()[0] == '\0' || sumac_active() != 0;
}
