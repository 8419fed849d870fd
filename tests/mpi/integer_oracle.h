// SPDX-License-Identifier: BSD-3-Clause
// The expected result of an operation on integers of any size: sums and products wrap around. The
// MPI's own results are not used: Open MPI 4.1 saturates sums of 8 and 16 bits and compares
// MPI_UNSIGNED_LONG as signed; MPICH 4.0 compares all unsigned C types as signed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace test {

__extension__ typedef unsigned __int128 WideUnsigned;
__extension__ typedef __int128 WideSigned;

// `a` and `b` are sign- or zero-extended to the widest integer.
inline WideUnsigned combine(MPI_Op op, bool is_signed, WideUnsigned a, WideUnsigned b) {
  const auto x = static_cast<WideSigned>(a), y = static_cast<WideSigned>(b);
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

inline WideUnsigned load(const unsigned char* at, std::size_t size, bool is_signed) {
  WideUnsigned bits = 0;
  std::memcpy(&bits, at, size);  // correct because Sumac's machines are little-endian
  const unsigned unused = 128 - 8 * static_cast<unsigned>(size);
  if (!is_signed) return bits;
  return static_cast<WideUnsigned>(static_cast<WideSigned>(bits << unused) >> unused);
}

// accumulated[i] = accumulated[i] op next[i]
inline void fold_integers(MPI_Op op, bool is_signed, std::size_t size, int count,
                          unsigned char* accumulated, const unsigned char* next) {
  for (int i = 0; i < count; ++i, accumulated += size, next += size) {
    const WideUnsigned result =
        combine(op, is_signed, load(accumulated, size, is_signed), load(next, size, is_signed));
    std::memcpy(accumulated, &result, size);
  }
}

}  // namespace test
