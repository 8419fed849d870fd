// SPDX-License-Identifier: BSD-3-Clause
// Which MPI an executable file was built with, read from the file without running it.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct elf_facts {
  int is_elf;            // of this machine's word size and byte order; else all below is unset
  int is_dynamic;        // started by the loader, so that LD_PRELOAD has an effect
  const char* family;    // of the MPI library it needs: "openmpi", "mpich", "mpiabi", or NULL
  char mpi_library[64];  // that library's name, as in DT_NEEDED
  int defines_mpi;       // has an MPI linked statically (only checked if it needs no MPI library)
};

void inspect_executable(const char* path, struct elf_facts* facts);

#ifdef __cplusplus
}
#endif
