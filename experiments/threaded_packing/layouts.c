/* SPDX-License-Identifier: BSD-3-Clause */
#include "layouts.h"

#include <stdio.h>
#include <stdlib.h>

enum { DOUBLE = sizeof(double) };

void* allocate(size_t bytes) {
  void* const memory = calloc(bytes ? bytes : 1, 1);
  if (memory) return memory;
  fputs("threaded_packing: not enough memory: ask for fewer bytes\n", stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return NULL;
}

static size_t at_least_one(size_t number) { return number ? number : 1; }

/* The side of the largest square of so many doubles. */
static size_t root(size_t doubles) {
  size_t side = 1;
  while ((side + 1) * (side + 1) <= doubles) ++side;
  return side;
}

static void begin(struct layout* layout, size_t doubles) {
  *layout = (struct layout){.places = allocate(doubles * sizeof(size_t))};
}

static void add(struct layout* layout, size_t place) {
  layout->places[layout->doubles++] = place;
  if (place >= layout->room) layout->room = place + 1;
}

/* `outer` times `inner` blocks of `block` doubles: the inner ones `near` doubles from one to the
 * next, the outer ones `far`. */
static void make_nested(struct layout* layout, size_t outer, size_t inner, size_t block,
                        size_t near, size_t far) {
  MPI_Datatype part;
  begin(layout, outer * inner * block);
  for (size_t i = 0; i < outer; ++i)
    for (size_t j = 0; j < inner; ++j)
      for (size_t k = 0; k < block; ++k) add(layout, i * far + j * near + k);
  MPI_Type_vector((int)inner, (int)block, (int)near, MPI_DOUBLE, &part);
  MPI_Type_create_hvector((int)outer, 1, (MPI_Aint)(far * DOUBLE), part, &layout->type);
  MPI_Type_free(&part);
}

/* The face of a 3-D array in which rows of it adjoin: few long blocks. */
static void make_top(struct layout* layout, size_t doubles) {
  make_nested(layout, at_least_one(doubles / 512), 1, 512, 512, 1024);
}

/* The face across the rows of a 3-D array: single doubles, row by row and plane by plane. */
static void make_left(struct layout* layout, size_t doubles) {
  const size_t side = root(doubles);
  make_nested(layout, side, side, 1, 16, (side + 1) * 16);
}

/* Nested vectors with nearly all of their blocks in the leaf: only there is much to share. */
static void make_leaf(struct layout* layout, size_t doubles) {
  const size_t inner = at_least_one(doubles / 4);
  make_nested(layout, 2, inner, 2, 4, 4 * inner + 2);
}

/* Nested vectors with few blocks in the leaf: the level above it is to be shared. */
static void make_higher(struct layout* layout, size_t doubles) {
  make_nested(layout, at_least_one(doubles / 8), 4, 2, 4, 18);
}

/* Blocks of 1 to 5 doubles at gaps of 1 to 4. */
static void make_indexed(struct layout* layout, size_t doubles) {
  int* const blocks = allocate(doubles * sizeof(int));
  int* const places = allocate(doubles * sizeof(int));
  int number = 0;
  size_t place = 0;
  begin(layout, doubles);
  while (layout->doubles < doubles) {
    const size_t left = doubles - layout->doubles, wanted = 1 + (size_t)number * 7 % 5;
    const size_t block = wanted < left ? wanted : left;
    blocks[number] = (int)block;
    places[number] = (int)place;
    for (size_t k = 0; k < block; ++k) add(layout, place + k);
    place += block + 1 + (size_t)number++ * 3 % 4;
  }
  MPI_Type_indexed(number, blocks, places, MPI_DOUBLE, &layout->type);
  free(blocks);
  free(places);
}

/* Structures of 8 doubles, of which a place of 3 and a mass are packed. */
static void make_struct(struct layout* layout, size_t doubles) {
  const size_t particles = at_least_one(doubles / 4);
  const int blocks[] = {3, 1};
  const MPI_Aint places[] = {0, 6 * DOUBLE};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Datatype fields, particle;
  begin(layout, particles * 4);
  for (size_t i = 0; i < particles; ++i) {
    for (size_t k = 0; k < 3; ++k) add(layout, 8 * i + k);
    add(layout, 8 * i + 6);
  }
  MPI_Type_create_struct(2, blocks, places, parts, &fields);
  MPI_Type_create_resized(fields, 0, 8 * DOUBLE, &particle);
  MPI_Type_contiguous((int)particles, particle, &layout->type);
  MPI_Type_free(&fields);
  MPI_Type_free(&particle);
}

void make_transpose(struct layout* layout, size_t doubles) {
  const size_t order = root(doubles);
  MPI_Datatype column, beside;
  begin(layout, order * order);
  for (size_t j = 0; j < order; ++j)
    for (size_t i = 0; i < order; ++i) add(layout, i * order + j);
  MPI_Type_vector((int)order, 1, (int)order, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, DOUBLE, &beside);
  MPI_Type_contiguous((int)order, beside, &layout->type);
  MPI_Type_free(&column);
  MPI_Type_free(&beside);
}

const struct layout_kind kLayouts[] = {
    {"top", make_top},       {"left", make_left},       {"leaf", make_leaf},
    {"higher", make_higher}, {"indexed", make_indexed}, {"struct", make_struct},
};
const int kLayoutCount = sizeof kLayouts / sizeof *kLayouts;

void layout_free(struct layout* layout) {
  MPI_Type_free(&layout->type);
  free(layout->places);
}
