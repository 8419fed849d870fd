// SPDX-License-Identifier: BSD-3-Clause
// As if an MPI were linked in statically.
int PMPI_Init(int* argc, char*** argv);
int PMPI_Init(int* argc, char*** argv) { return argc == 0 && argv == 0; }
