// SPDX-License-Identifier: BSD-3-Clause
// Derived types whose elements consist of 32-bit words at given offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.h"

namespace test {

struct Shape {
  const char* name;
  MPI_Datatype type;
  std::vector<MPI_Aint> words;  // byte offsets of an element's words from its address
  MPI_Aint lower, extent;       // in bytes, as MPI_Type_get_extent must return them

  std::size_t bytes() const { return 4 * words.size(); }
};

inline MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

inline Shape contiguous(const char* name, int count) {
  Shape shape{name, MPI_DATATYPE_NULL, {}, 0, 4 * static_cast<MPI_Aint>(count)};
  MPI_Type_contiguous(count, MPI_INT, &shape.type);
  MPI_Type_commit(&shape.type);
  for (int i = 0; i < count; ++i) shape.words.push_back(4 * i);
  return shape;
}

// A double and an int, as in a C struct, with or without the padding at its end.
inline Shape double_and_int(bool padded) {
  MPI_Datatype made, resized;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, types, &made);
  MPI_Type_create_resized(made, 0, padded ? 16 : 12, &resized);
  MPI_Type_free(&made);
  return {
      padded ? "struct with a gap" : "struct", committed(resized), {0, 4, 8}, 0, padded ? 16 : 12};
}

inline Shape strided() {
  MPI_Datatype made;
  MPI_Type_vector(3, 1, 2, MPI_INT, &made);
  return {"vector", committed(made), {0, 8, 16}, 0, 20};
}

inline Shape resized(const char* name, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype two, made;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, lower, extent, &made);
  MPI_Type_free(&two);
  return {name, committed(made), {0, 4}, lower, extent};
}

// Words at negative offsets, and not in the order of memory.
inline Shape backwards() {
  MPI_Datatype made;
  const int lengths[] = {1, 1, 1};
  const int places[] = {1, -3, -1};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &made);
  return {"indexed, backwards", committed(made), {4, -12, -4}, -12, 20};
}

inline std::vector<Shape> all_shapes() {
  return {{"int", MPI_INT, {0}, 0, 4},
          {"double", MPI_DOUBLE, {0, 4}, 0, 8},
          contiguous("3 ints", 3),
          contiguous("5 ints", 5),
          contiguous("7 ints", 7),
          double_and_int(false),
          double_and_int(true),
          strided(),
          resized("resized, negative lower bound", -8, 24),
          resized("far apart", 0, 4000),
          backwards(),
          contiguous("1000 bytes", 250),
          contiguous("100000 bytes", 25000)};
}

inline void free_shapes(std::vector<Shape>& shapes) {
  for (Shape& shape : shapes) {
    if (shape.type != MPI_INT && shape.type != MPI_DOUBLE) MPI_Type_free(&shape.type);
  }
}

}  // namespace test
