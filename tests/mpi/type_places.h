// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of a datatype lie around their address; and a type that Sumac knows.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "check.h"

namespace test {

inline constexpr MPI_Aint kRoom = 1 << 19;  // bytes before and after the address, at most

// True when all of `count` elements lies within kRoom bytes of their address.
inline bool has_room(MPI_Datatype type, int count) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint steps = (count - 1) * extent;
  const MPI_Aint low = true_lower + (steps < 0 ? steps : 0);
  const MPI_Aint high = true_lower + true_extent + (steps > 0 ? steps : 0);
  return low > -kRoom && high < kRoom;
}

// True when a byte of memory stands for several of the elements' packed bytes: unpacking in another
// order than the MPI's then gives another result.
inline bool overlaps(int bytes, MPI_Datatype type, int count) {
  static std::vector<char> memory(2 * kRoom);
  std::fill(memory.begin(), memory.end(), 0);
  const std::vector<char> ones(static_cast<std::size_t>(bytes), 1);
  int position = 0;
  native().Unpack(ones.data(), bytes, &position, memory.data() + kRoom, count, type, MPI_COMM_SELF);
  return std::count(memory.begin(), memory.end(), 1) != bytes;
}

// Columns of a matrix of doubles, of a type that was packed until Sumac serves it.
struct Columns {
  static constexpr int kRows = 1000, kRowLength = 7, kBytes = 3 * 8 * kRows;
  std::vector<double> matrix = std::vector<double>(kRows * kRowLength, 1.5);
  std::vector<char> packed = std::vector<char>(kBytes + 100);
  MPI_Datatype type;

  Columns() {
    MPI_Type_vector(kRows, 3, kRowLength, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 3; ++i) {
      leave_path();
      int position = 0;
      MPI_Pack(matrix.data(), 1, type, packed.data(), kBytes, &position, MPI_COMM_WORLD);
    }
    CHECK(std::strcmp(path(), "local") == 0, "'%s'", path());
  }
  ~Columns() { MPI_Type_free(&type); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  static bool is_data(std::size_t i) { return i % kRowLength < 3; }
  // Gives each element a number of its own, other than what was packed before.
  void number() {
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<double>(i);
  }
};

}  // namespace test
