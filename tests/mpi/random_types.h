// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes, nested, by all constructors.
#pragma once

#include <mpi.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "mpi_faults.h"

namespace test {

using TypeRandom = std::mt19937_64;

#ifdef OPEN_MPI
inline constexpr bool kPacksFromBottom = true, kPacksEmptyParts = true;
#else  // MPICH, also where the header is that of the standard's binary interface
inline constexpr bool kPacksFromBottom = false;  // an error in MPICH's own MPI_Pack
inline constexpr bool kPacksEmptyParts = false;  // its MPI_Pack divides by zero
#endif

inline int between(TypeRandom& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// A type and what it was made by, for messages.
struct Made {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool derived = false;
  std::string text;
};

inline void free_type(Made& made) {
  if (made.derived && made.type != MPI_DATATYPE_NULL) MPI_Type_free(&made.type);
}

inline Made predefined(TypeRandom& random) {
  static const struct {
    MPI_Datatype type;
    const char* name;
  } rows[] = {{MPI_CHAR, "char"},
              {MPI_SHORT, "short"},
              {MPI_INT, "int"},
              {MPI_DOUBLE, "double"},
              {MPI_C_DOUBLE_COMPLEX, "complex"},
              {MPI_BYTE, "byte"},
              {MPI_DOUBLE_INT, "double_int"},
              {MPI_SHORT_INT, "short_int"},
              {MPI_2INT, "2int"},
              {MPI_LONG_DOUBLE_INT, "long_double_int"}};
  const auto& row = rows[between(random, 0, static_cast<int>(std::size(rows)) - 1)];
  return {row.type, false, row.name};
}

inline Made random_type(TypeRandom& random, int depth);

struct Lists {
  std::vector<int> lengths, places;
  std::vector<MPI_Aint> addresses;
  Lists(TypeRandom& random, int blocks, MPI_Aint extent, bool overlaps) {
    int place = between(random, -5, 5);
    for (int i = 0; i < blocks; ++i) {
      lengths.push_back(between(random, 0, 4));
      places.push_back(place);
      addresses.push_back(place * extent + (overlaps ? between(random, -3, 3) : 0));
      place += lengths.back() + between(random, overlaps ? -2 : 0, 3);
    }
  }
};

inline Made listed(TypeRandom& random, const Made& inner, MPI_Aint extent) {
  const int blocks = between(random, 0, random() % 4 == 0 ? 300 : 6);
  Lists lists(random, blocks, extent, random() % 2 == 0);
  const int length = between(random, 0, 3);
  Made made{MPI_DATATYPE_NULL, true, ""};
  switch (random() % 4) {
    case 0:
      made.text = "indexed(" + inner.text + ")";
      MPI_Type_indexed(blocks, lists.lengths.data(), lists.places.data(), inner.type, &made.type);
      break;
    case 1:
      made.text = "hindexed(" + inner.text + ")";
      MPI_Type_create_hindexed(blocks, lists.lengths.data(), lists.addresses.data(), inner.type,
                               &made.type);
      break;
    case 2:
      made.text = "indexed_block(" + inner.text + ")";
      MPI_Type_create_indexed_block(blocks, length, lists.places.data(), inner.type, &made.type);
      break;
    default:
      made.text = "hindexed_block(" + inner.text + ")";
      MPI_Type_create_hindexed_block(blocks, length, lists.addresses.data(), inner.type,
                                     &made.type);
  }
  return made;
}

inline Made looped(TypeRandom& random, const Made& inner, MPI_Aint extent) {
  Made made{MPI_DATATYPE_NULL, true, ""};
  const int count = between(random, 0, 9), length = between(random, 0, 4);
  switch (random() % 5) {
    case 0:
      made.text = "contiguous(" + inner.text + ")";
      MPI_Type_contiguous(count, inner.type, &made.type);
      break;
    case 1:
      made.text = "vector(" + inner.text + ")";
      MPI_Type_vector(count, length, between(random, -5, 7), inner.type, &made.type);
      break;
    case 2:
      made.text = "hvector(" + inner.text + ")";
      MPI_Type_create_hvector(count, length, extent * length + between(random, -9, 30), inner.type,
                              &made.type);
      break;
    case 3:
      made.text = "dup(" + inner.text + ")";
      MPI_Type_dup(inner.type, &made.type);
      break;
    default:
      made.text = "resized(" + inner.text + ")";
      MPI_Type_create_resized(inner.type, between(random, -20, 20), between(random, 0, 200),
                              &made.type);
  }
  return made;
}

inline Made array(TypeRandom& random, const Made& inner) {
  const int order = random() % 2 == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int sizes[3], parts[3], starts[3], kinds[3], arguments[3], processes[3];
  int ranks_of_array = 1;
  const int dimensions = between(random, 1, 3);
  for (int i = 0; i < dimensions; ++i) {
    sizes[i] = between(random, 1, 7);
    parts[i] = between(random, 1, sizes[i]);
    starts[i] = between(random, 0, sizes[i] - parts[i]);
    const int kind = between(random, 0, 2);
    kinds[i] = kind == 0   ? MPI_DISTRIBUTE_NONE
               : kind == 1 ? MPI_DISTRIBUTE_BLOCK
                           : MPI_DISTRIBUTE_CYCLIC;
    processes[i] = kind == 0 ? 1 : between(random, 1, 3);
    const int least = kind == 1 ? (sizes[i] + processes[i] - 1) / processes[i] : 1;
    arguments[i] =
        kind == 0 || random() % 2 == 0 ? MPI_DISTRIBUTE_DFLT_DARG : between(random, least, 8);
    if (kind == 2 && is_intel()) arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    ranks_of_array *= processes[i];
  }
  Made made{MPI_DATATYPE_NULL, true, ""};
  if (random() % 2 == 0) {
    made.text = "subarray(" + inner.text + ")";
    MPI_Type_create_subarray(dimensions, sizes, parts, starts, order, inner.type, &made.type);
  } else {
    made.text = "darray(" + inner.text + ")";
    MPI_Type_create_darray(ranks_of_array, between(random, 0, ranks_of_array - 1), dimensions,
                           sizes, kinds, arguments, processes, order, inner.type, &made.type);
  }
  return made;
}

inline Made structure(TypeRandom& random, int depth) {
  const int blocks = between(random, 0, 4);
  std::vector<Made> parts;
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  Made made{MPI_DATATYPE_NULL, true, "struct("};
  for (int i = 0; i < blocks; ++i) {
    Made part = random_type(random, depth - 1);
    if (part.type == MPI_DATATYPE_NULL) continue;
    int bytes = 0;
    MPI_Type_size(part.type, &bytes);
    if (bytes == 0 && !kPacksEmptyParts) {
      free_type(part);
      continue;
    }
    parts.push_back(part);
    lengths.push_back(between(random, 0, 3));
    places.push_back(between(random, -200, 2000));
    types.push_back(parts.back().type);
    made.text += parts.back().text + " ";
  }
  made.text += ")";
  MPI_Type_create_struct(static_cast<int>(parts.size()), lengths.data(), places.data(),
                         types.data(), &made.type);
  for (Made& part : parts) free_type(part);
  return made;
}

inline Made random_type(TypeRandom& random, int depth) {
  if (depth == 0) return predefined(random);
  const auto kind = random() % 8;
  if (kind == 0) return structure(random, depth);
  Made inner = random_type(random, depth - 1);
  if (inner.type == MPI_DATATYPE_NULL) return {MPI_DATATYPE_NULL, false, ""};
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(inner.type, &lower, &extent);
  Made made = kind < 3   ? listed(random, inner, extent)
              : kind < 5 ? array(random, inner)
                         : looped(random, inner, extent);
  free_type(inner);
  return made;
}

}  // namespace test
