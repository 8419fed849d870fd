/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes of doubles, each with the places of its elements beside it, which are found without
 * MPI: the check of what is packed. */
#pragma once

#include <mpi.h>
#include <stddef.h>

struct layout {
  MPI_Datatype type;
  size_t doubles; /* packed */
  size_t room;    /* doubles of memory over which they are spread */
  size_t* places; /* of each packed double, in the order of packing */
};

struct layout_kind {
  const char* name;
  /* Fills all of `layout` for about so many doubles, of which it has at least one. */
  void (*make)(struct layout* layout, size_t doubles);
};

extern const struct layout_kind kLayouts[];
extern const int kLayoutCount;

/* Makes a square matrix, column after column. */
void make_transpose(struct layout* layout, size_t doubles);

void layout_free(struct layout* layout);

/* Memory, or the end of the job. */
void* allocate(size_t bytes);
