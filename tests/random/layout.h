// SPDX-License-Identifier: BSD-3-Clause
// Layouts of elements in memory: predefined types, and types derived of them.
#pragma once

#include <mpi.h>

#include <vector>

namespace test::sweep {

// Elements of one predefined type: `type` holds offsets.size() of them, `extent` bytes apart from
// the next.
struct Layout {
  const char* name;
  MPI_Datatype type;
  std::vector<MPI_Aint> offsets;
  MPI_Aint extent;

  std::size_t group() const { return offsets.size(); }
  // Where element k lies, in bytes from the address of the first type.
  MPI_Aint at(std::size_t k) const {
    return static_cast<MPI_Aint>(k / group()) * extent + offsets[k % group()];
  }
};

struct Base {
  const char* name;
  MPI_Datatype type;
  std::size_t size;
  std::vector<Layout> layouts;  // the first kSingles of one element
};
inline constexpr std::size_t kSingles = 3;

inline std::vector<Layout> layouts_of(MPI_Datatype type, MPI_Aint size) {
  MPI_Datatype spaced, vector, indexed, two, shifted, four, structure;
  MPI_Type_create_resized(type, 0, 3 * size, &spaced);
  MPI_Type_vector(2, 1, 2, type, &vector);
  const int lengths[] = {2, 1, 1}, places[] = {3, 0, 6};
  MPI_Type_indexed(3, lengths, places, type, &indexed);
  MPI_Type_contiguous(2, type, &two);
  MPI_Type_create_resized(two, -size, 4 * size, &shifted);
  MPI_Type_contiguous(4, type, &four);
  const int counts[] = {1, 1};
  const MPI_Aint starts[] = {0, 4 * size};
  const MPI_Datatype types[] = {vector, two};
  MPI_Type_create_struct(2, counts, starts, types, &structure);
  MPI_Type_free(&two);
  const MPI_Aint s = size;
  std::vector<Layout> all{{"", type, {0}, s},
                          {"", type, {0}, s},
                          {"every third ", spaced, {0}, 3 * s},
                          {"vector of ", vector, {0, 2 * s}, 3 * s},
                          {"indexed ", indexed, {3 * s, 4 * s, 0, 6 * s}, 7 * s},
                          {"shifted ", shifted, {0, s}, 4 * s},
                          {"4 ", four, {0, s, 2 * s, 3 * s}, 4 * s},
                          {"struct of ", structure, {0, 2 * s, 4 * s, 5 * s}, 6 * s}};
  for (std::size_t i = 2; i < all.size(); ++i) MPI_Type_commit(&all[i].type);
  return all;
}

inline const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> made{{"byte", MPI_BYTE, 1, {}},
                           {"short", MPI_SHORT, 2, {}},
                           {"int", MPI_INT, 4, {}},
                           {"float", MPI_FLOAT, 4, {}},
                           {"double", MPI_DOUBLE, 8, {}},
                           {"int64", MPI_INT64_T, 8, {}},
                           {"complex", MPI_C_DOUBLE_COMPLEX, 16, {}}};
    for (Base& base : made) base.layouts = layouts_of(base.type, static_cast<MPI_Aint>(base.size));
    return made;
  }();
  return all;
}

}  // namespace test::sweep
