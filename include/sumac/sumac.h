/* SPDX-License-Identifier: BSD-3-Clause */
/* Sumac's C API: what is loaded in front of the program's MPI, and Sumac's reductions as operations
 * of the MPI. All functions may be called before MPI_Init and after MPI_Finalize, from any thread.
 * A program need not link against Sumac: dlsym(RTLD_DEFAULT, "sumac_version") is not NULL if it
 * is loaded. Functions with MPI handles are declared if <mpi.h> has been included before. */
#ifndef SUMAC_SUMAC_H
#define SUMAC_SUMAC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char* sumac_version(void);

/* 1 once the calls of this process are being served; 0 before the first MPI call, when switched
 * off (SUMAC_DISABLE), when Sumac is inactive (unknown MPI, failed back end), or when it is only
 * linked behind the MPI, whose calls then do not pass here. */
int sumac_active(void);

/* The MPI's own function behind an intercepted name: sumac_native("MPI_Allreduce") is the address
 * of its PMPI_Allreduce. NULL for a name that is not intercepted or that this MPI lacks, and before
 * an MPI is in the process. */
void* sumac_native(const char* name);

/* How this thread's last intercepted collective was served: the name of the algorithm that ran
 * ("flat_slots"), or "mpi: " and the reason it was handed down. "local" without communication, also
 * after an MPI_Pack or MPI_Unpack that Sumac served. Static storage. */
const char* sumac_last_path(void);

/* One line that says what is active: version, MPI family, instruction set. Static storage. */
const char* sumac_description(void);

/* Until sumac_resume() has been called as often, the MPI serves the collectives and the
 * MPI_Reduce_local that the calling thread calls. All ranks of a communicator pause for the same
 * calls on it. What was started before goes on, and persistent operations that were initialised
 * before stay Sumac's. Return 1; 0, having done nothing, where sumac_active() is 0. */
int sumac_pause(void);
int sumac_resume(void);

/* How the calls of this process were served until now, in the JSON that SUMAC_STATS=FILE writes,
 * with times if SUMAC_STATS is set. Writes at most `size` characters, the last of them a 0, and
 * returns the length of the whole text without the 0, as snprintf does. 0 where sumac_active() is
 * 0. */
size_t sumac_stats(char* text, size_t size);

/* What an operation does: as MPI_SUM, MPI_PROD, ... MPI_MAXLOC. */
enum sumac_kind {
  SUMAC_SUM = 1,
  SUMAC_PROD,
  SUMAC_MIN,
  SUMAC_MAX,
  SUMAC_LAND,
  SUMAC_LOR,
  SUMAC_LXOR,
  SUMAC_BAND,
  SUMAC_BOR,
  SUMAC_BXOR,
  SUMAC_MINLOC,
  SUMAC_MAXLOC
};

/* Flags of sumac_op_create. None: vector instructions in the calling thread alone. */
enum sumac_op_flags {
  SUMAC_OP_THREADED = 1 /* the program's own OpenMP threads may help with large vectors */
};

/* Elements that MPI has no type for. */
enum sumac_element {
  SUMAC_FLOAT16 = 1, /* IEEE 754 binary16 */
  SUMAC_BFLOAT16     /* the upper half of a binary32 */
};

#ifdef MPI_VERSION

/* An operation equal to the predefined one, served by Sumac's kernels: by the MPI's own collectives
 * where Sumac is only linked, and by Sumac where it is in front. For every predefined type that the
 * standard allows the predefined operation on, for types made of one such type by
 * MPI_Type_contiguous and MPI_Type_dup, and for hinted types; on any other type a reduction ends
 * the job, since an operation cannot report an error. Not for MPI_Accumulate and its kin. To be
 * freed with MPI_Op_free. Returns MPI_SUCCESS or the error class: MPI_ERR_ARG for a wrong kind,
 * flag or null pointer, MPI_ERR_OTHER before MPI_Init, after MPI_Finalize, and (with a line that
 * says why) where Sumac has stood aside. Never calls an error handler for these. */
int sumac_op_create(int kind, int flags, MPI_Op* op);

/* Elements of `type`, which the program has made of two bytes by MPI_Type_contiguous or
 * MPI_Type_dup, are such numbers. Known until the type is freed, and of no other type: neither of a
 * duplicate nor of one made of it. All ranks give the same hints, before the first reduction they
 * matter to.
 * Also returns MPI_ERR_TYPE for predefined types and any other size or layout. */
int sumac_hint_type(MPI_Datatype type, int element);

/* `op`, which the program has made by MPI_Op_create, does what the kind says, on all types that it
 * is used on: Sumac may serve it where it is in front of the MPI. Known until the operation is
 * freed. All ranks give the same hints, before the first reduction they matter to. Also returns
 * MPI_ERR_OP for predefined operations and those known to be of another kind. */
int sumac_hint_op(MPI_Op op, int kind);

/* The same with Fortran's handles, for the modules in sumac.f90 and sumac_f08.f90. */
int sumac_op_create_f(int kind, int flags, MPI_Fint* op);
int sumac_hint_type_f(const MPI_Fint* type, int element);
int sumac_hint_op_f(const MPI_Fint* op, int kind);

#endif

#ifdef __cplusplus
}
#endif

#endif
