// SPDX-License-Identifier: BSD-3-Clause
// What an executable file tells about the MPI it was built with, without running it.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct elf_facts {
  int is_elf;            // of this machine's word size and byte order; else nothing below is known
  int is_dynamic;        // started by the loader: LD_PRELOAD has an effect
  const char* family;    // of the MPI library it needs: "openmpi", "mpich", "mpiabi", or NULL
  char mpi_library[64];  // that library's name, as in DT_NEEDED
  int defines_mpi;       // has an MPI linked into itself (looked for when it needs no MPI library)
};

void inspect_executable(const char* path, struct elf_facts* facts);

#ifdef __cplusplus
}
#endif
