// SPDX-License-Identifier: BSD-3-Clause
// What an operation on integers of any size must give: sums and products wrap. The MPI's own answer
// is no oracle: Open MPI 4.1 saturates sums of 8 and 16 bits and compares MPI_UNSIGNED_LONG as
// signed; MPICH 4.0 compares all the C unsigned types as signed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace test {

// `a` and `b` sign- or zero-extended.
inline std::uint64_t combine(MPI_Op op, bool is_signed, std::uint64_t a, std::uint64_t b) {
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_MIN) return (is_signed ? x < y : a < b) ? a : b;
  if (op == MPI_MAX) return (is_signed ? x > y : a > b) ? a : b;
  if (op == MPI_LAND) return a && b;
  if (op == MPI_LOR) return a || b;
  if (op == MPI_LXOR) return !a != !b;
  if (op == MPI_BAND) return a & b;
  if (op == MPI_BOR) return a | b;
  return a ^ b;
}

inline std::uint64_t load(const unsigned char* at, std::size_t size, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size);  // the machines Sumac runs on are little-endian
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  if (!is_signed) return bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

// accumulated[i] = accumulated[i] op next[i]
inline void fold_integers(MPI_Op op, bool is_signed, std::size_t size, int count,
                          unsigned char* accumulated, const unsigned char* next) {
  for (int i = 0; i < count; ++i, accumulated += size, next += size) {
    const std::uint64_t result =
        combine(op, is_signed, load(accumulated, size, is_signed), load(next, size, is_signed));
    std::memcpy(accumulated, &result, size);
  }
}

}  // namespace test
