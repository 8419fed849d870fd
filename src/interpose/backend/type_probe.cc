// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/type_probe.h"

#include <cstring>
#include <initializer_list>
#include <limits>

#include "interpose/backend/mpi_functions.h"
#include "kernels/reduce.h"

namespace sumac {
namespace {

// MPIs differ in whose error handler is called where there is no communicator.
class NoErrors {
 public:
  NoErrors() {
    for (int i = 0; i < 2; ++i) {
      mpi.Comm_get_errhandler(comms_[i], &handlers_[i]);
      mpi.Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~NoErrors() {
    for (int i = 0; i < 2; ++i) {
      mpi.Comm_set_errhandler(comms_[i], handlers_[i]);
      if (handlers_[i] != MPI_ERRHANDLER_NULL) mpi.Errhandler_free(&handlers_[i]);
    }
  }
  NoErrors(const NoErrors&) = delete;
  NoErrors& operator=(const NoErrors&) = delete;

 private:
  MPI_Comm comms_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler handlers_[2] = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
};

constexpr std::size_t kMostElements = 16, kMostBytes = kMostElements * 32;

struct Elements {
  alignas(64) std::byte left[kMostBytes] = {};
  alignas(64) std::byte right[kMostBytes] = {};
  std::size_t bytes = 0;

  void add(const void* a, const void* b, std::size_t size) {
    std::memcpy(left + bytes, a, size);
    std::memcpy(right + bytes, b, size);
    bytes += size;
  }
};

// Bytes of an element of `unit` bytes that are data: an x87 number has ten of sixteen.
std::size_t significant(DType dtype, std::size_t unit) {
  const bool is_long_double = dtype == DType::long_double || dtype == DType::c_long_double;
  return is_long_double && std::numeric_limits<long double>::digits == 64 ? 10 : unit;
}

bool same_result(const Elements& elements, std::size_t unit, MPI_Datatype type, MPI_Op handle,
                 DType dtype, Op op) {
  const ReduceFn kernel = find_reduce(op, dtype);
  if (!kernel) return false;
  const std::size_t count = elements.bytes / size_of(dtype);
  Elements theirs = elements, ours = elements;
  if (mpi.Reduce_local(theirs.left, theirs.right, static_cast<int>(count), type, handle) !=
      MPI_SUCCESS) {
    return false;
  }
  const void* sources[] = {ours.left, ours.right};
  kernel(ours.right, sources, 2, count);
  for (std::size_t at = 0; at < elements.bytes; at += unit) {
    if (std::memcmp(ours.right + at, theirs.right + at, significant(dtype, unit)) != 0) {
      return false;
    }
  }
  return true;
}

// All pairs of a few values a logical may have.
Elements truth_values(std::size_t size) {
  Elements elements;
  for (const signed char a : {0, 1, -1, 2}) {
    for (const signed char b : {0, 1, -1, 2}) {
      std::byte left[16], right[16];
      std::memset(left, a < 0 ? 0xff : 0, sizeof left);
      std::memset(right, b < 0 ? 0xff : 0, sizeof right);
      left[0] = static_cast<std::byte>(a);  // the machines Sumac runs on are little-endian
      right[0] = static_cast<std::byte>(b);
      elements.add(left, right, size);
    }
  }
  return elements;
}

// Two numbers whose sum needs all digits; complex ones have them in both parts.
Elements summands(DType dtype) {
  Elements elements;
  const int times = info_of(dtype).kind == ElementKind::complex ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    if (dtype == DType::f16) {
      // 1.5 twice; and 2048 + 1, a tie, which goes to the even 2048.
      const std::uint16_t left[] = {0x3e00, 0x6800}, right[] = {0x3e00, 0x3c00};
      elements.add(left, right, sizeof left);
    } else if (dtype == DType::i128) {
      const std::uint64_t left[] = {~0ull, 5}, right[] = {1, 7};  // carries
      elements.add(left, right, sizeof left);
    } else if (dtype == DType::f128 || dtype == DType::c128) {
      const std::uint64_t one_and_a_little[] = {0x1000, 0x3fffull << 48};  // 1 + 2^-100
      elements.add(one_and_a_little, one_and_a_little, sizeof one_and_a_little);
    } else {
      const long double left = 0.5L + 0x1p-63L, right = 0.25L;
      elements.add(&left, &right, sizeof left);
    }
  }
  return elements;
}

}  // namespace

bool agrees_on(MPI_Datatype type, TypeKind kind, DType dtype) {
  if (dtype == DType::none) return false;
  const NoErrors guard;
  if (kind != TypeKind::logical) {
    const bool is_complex = info_of(dtype).kind == ElementKind::complex;
    const std::size_t unit = size_of(dtype) / (is_complex ? 2 : 1);
    return same_result(summands(dtype), unit, type, MPI_SUM, dtype, Op::sum);
  }
  const std::size_t unit = size_of(dtype);
  const Elements elements = truth_values(unit);
  return same_result(elements, unit, type, MPI_LAND, dtype, Op::land) &&
         same_result(elements, unit, type, MPI_LOR, dtype, Op::lor) &&
         same_result(elements, unit, type, MPI_LXOR, dtype, Op::lxor);
}

}  // namespace sumac
