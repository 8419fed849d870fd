/* SPDX-License-Identifier: BSD-3-Clause */
/* Sumac's C API, for programs that want to look at what is loaded in front of their MPI. All
 * functions are safe before MPI_Init and after MPI_Finalize, from any thread. A program need
 * not link against Sumac: dlsym(RTLD_DEFAULT, "sumac_version") tells whether it is loaded. */
#ifndef SUMAC_SUMAC_H
#define SUMAC_SUMAC_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char* sumac_version(void);

/* 1 once the calls of this process are being served; 0 before the first MPI call, when switched
 * off (SUMAC_DISABLE), or when Sumac stood aside (unknown MPI, failed back end). */
int sumac_active(void);

/* The MPI's own function behind an intercepted name: sumac_native("MPI_Allreduce") is the address
 * of its PMPI_Allreduce. NULL for a name that is not intercepted or that this MPI lacks, and before
 * an MPI is in the process. */
void* sumac_native(const char* name);

/* What became of this thread's last intercepted collective: the name of the algorithm that ran
 * ("flat_slots"), or "mpi: " and the reason it was handed down. Static storage. */
const char* sumac_last_path(void);

/* One line that says what is active: version, MPI family, instruction set. Static storage. */
const char* sumac_description(void);

#ifdef __cplusplus
}
#endif

#endif
