// SPDX-License-Identifier: BSD-3-Clause
// What is moved: elements of predefined types, and the layouts that their calls describe them by.
#pragma once

#include "mpi/cases.h"

namespace test::sweep {

struct Base {
  Numbers numbers;
  std::vector<LayoutPointer> layouts;  // the first kSingles of one element
};
inline constexpr std::size_t kSingles = 3;

// Random bits.
inline Numbers moved(const char* name, MPI_Datatype type, std::size_t size) {
  Numbers n{name, type, MPI_OP_NULL, size, nullptr};
  n.fold = [size](unsigned char* at, std::size_t first, std::size_t count, Givers givers,
                  std::uint64_t seed) {
    for (std::size_t i = first; i < first + count; ++i, at += size) {
      const std::uint64_t bits = value<std::uint64_t>(givers[0], i, seed), again[] = {bits, ~bits};
      std::memcpy(at, again, size);
    }
  };
  return n;
}

// They live as long as the program, so their types are never freed.
inline LayoutPointer kept(LayoutPointer layout) {
  layout->owns = false;
  return layout;
}

inline std::vector<LayoutPointer> layouts_of(const Numbers& n) {
  const auto s = static_cast<MPI_Aint>(n.size);
  MPI_Datatype vector, indexed, two, shifted, four, structure;
  MPI_Type_vector(2, 1, 2, n.type, &vector);
  const int lengths[] = {2, 1, 1}, places[] = {3, 0, 6};
  MPI_Type_indexed(3, lengths, places, n.type, &indexed);
  MPI_Type_contiguous(2, n.type, &two);
  MPI_Type_create_resized(two, -s, 4 * s, &shifted);
  MPI_Type_contiguous(4, n.type, &four);
  const int counts[] = {1, 1};
  const MPI_Aint starts[] = {0, 4 * s};
  const MPI_Datatype types[] = {vector, two};
  MPI_Type_create_struct(2, counts, starts, types, &structure);
  MPI_Type_free(&two);
  const auto made = [](const char* name, MPI_Datatype type, std::vector<MPI_Aint> offsets,
                       MPI_Aint extent) {
    return kept(std::make_shared<Layout>(name, type, std::move(offsets), extent, true));
  };
  return {plain(n),
          plain(n),
          kept(every_third(n)),
          made("vector of ", vector, {0, 2 * s}, 3 * s),
          made("indexed ", indexed, {3 * s, 4 * s, 0, 6 * s}, 7 * s),
          made("shifted ", shifted, {0, s}, 4 * s),
          made("4 ", four, {0, s, 2 * s, 3 * s}, 4 * s),
          made("struct of ", structure, {0, 2 * s, 4 * s, 5 * s}, 6 * s)};
}

inline const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> made{{moved("byte", MPI_BYTE, 1), {}},
                           {moved("short", MPI_SHORT, 2), {}},
                           {moved("int", MPI_INT, 4), {}},
                           {moved("float", MPI_FLOAT, 4), {}},
                           {moved("double", MPI_DOUBLE, 8), {}},
                           {moved("int64", MPI_INT64_T, 8), {}},
                           {moved("complex", MPI_C_DOUBLE_COMPLEX, 16), {}}};
    for (Base& base : made) base.layouts = layouts_of(base.numbers);
    return made;
  }();
  return all;
}

}  // namespace test::sweep
