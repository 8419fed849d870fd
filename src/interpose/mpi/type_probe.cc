// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_info.h"

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <vector>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "kernels/reduce.h"

namespace sumac {
namespace {

struct ProbedElements {
  std::vector<std::byte> left, right;

  std::size_t bytes() const { return left.size(); }
  void add(const void* a, const void* b, std::size_t size) {
    const auto append = [size](std::vector<std::byte>& to, const void* from) {
      const auto* const bytes = static_cast<const std::byte*>(from);
      to.insert(to.end(), bytes, bytes + size);
    };
    append(left, a);
    append(right, b);
  }
};

// Returns how many bytes of an element of `unit` bytes are data: an x87 number has ten of sixteen.
std::size_t significant(DType dtype, std::size_t unit) {
  const bool is_long_double = dtype == DType::long_double || dtype == DType::c_long_double;
  return is_long_double && std::numeric_limits<long double>::digits == 64 ? 10 : unit;
}

bool same_result(const ProbedElements& elements, std::size_t unit, MpiDatatype type, MpiOp handle,
                 DType dtype, Op op) {
  const ReduceFn kernel = find_reduce(op, dtype);
  if (!kernel) return false;
  const std::size_t count = elements.bytes() / size_of(dtype);
  ProbedElements theirs = elements;
  if (mpi.Reduce_local(theirs.left.data(), theirs.right.data(), static_cast<int>(count), type,
                       handle) != kMpiSuccess) {
    return false;
  }
  const void* const sources[] = {elements.left.data(), elements.right.data()};
  std::vector<std::byte> ours = elements.right;
  kernel(ours.data(), sources, 2, count);
  for (std::size_t at = 0; at < ours.size(); at += unit) {
    if (std::memcmp(&ours[at], &theirs.right[at], significant(dtype, unit)) != 0) {
      return false;
    }
  }
  return true;
}

// Returns all pairs of a few values that a logical may have.
ProbedElements truth_values(std::size_t size) {
  ProbedElements elements;
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

// Returns two numbers whose sum needs all digits; complex numbers have them in both parts.
ProbedElements summands(DType dtype) {
  ProbedElements elements;
  const int times = info_of(dtype).kind == ElementKind::complex ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    if (dtype == DType::f16) {
      // The pairs are 1.5 twice, and 2048 and 1, whose sum is a tie that goes to the even 2048.
      const std::uint16_t left[] = {0x3e00, 0x6800}, right[] = {0x3e00, 0x3c00};
      elements.add(left, right, sizeof left);
    } else if (dtype == DType::i128) {
      const std::uint64_t left[] = {~0ull, 5}, right[] = {1, 7};  // the sum carries
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

// Returns integers whose results show their type: of both signs, with a carry from every byte to
// the next, and values that are no truth values.
ProbedElements integers(std::size_t size) {
  static constexpr std::uint64_t kValues[] = {0, 1, 2, 0x5a, 0x7f, 0x80, 0xa5, 0xff};
  ProbedElements elements;
  const auto put = [size](std::uint64_t value, bool in_all_bytes, std::byte* to) {
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = i == 0 || in_all_bytes ? static_cast<std::byte>(value) : std::byte{0};
    }
  };
  for (std::size_t a = 0; a < 2 * std::size(kValues); ++a) {
    for (std::size_t b = 0; b < 2 * std::size(kValues); ++b) {
      std::byte left[16], right[16];
      put(kValues[a / 2], a % 2, left);
      put(kValues[b / 2], b % 2, right);
      elements.add(left, right, size);
    }
  }
  return elements;
}

// Asks about one element at a time: Open MPI's vector loops saturate small integers, but its loop
// for single ones does not.
bool reduces_as(const ProbedElements& elements, std::size_t size, MpiDatatype type, MpiOp handle,
                DType dtype, Op op) {
  for (std::size_t at = 0; at < elements.bytes(); at += size) {
    ProbedElements one;
    one.add(&elements.left[at], &elements.right[at], size);
    if (!same_result(one, size, type, handle, dtype, op)) return false;
  }
  return true;
}

}  // namespace

bool accepts(MpiDatatype type, MpiOp op) {
  const MpiComm self = self_communicator();
  if (self == kMpi.comm_null) return false;
  alignas(64) std::byte in[64] = {}, out[64] = {};
  return mpi.Allreduce(in, out, 1, type, op, self) == kMpiSuccess;
}

DType meaning_of(MpiDatatype type, std::size_t size, Op op) {
  const MpiOp handle = handle_of(op);
  if (!accepts(type, handle)) return DType::none;
  const ProbedElements elements = integers(size);
  for (const bool is_signed : {true, false}) {
    const DType dtype = integer_of(size, is_signed);
    if (dtype != DType::none && reduces_as(elements, size, type, handle, dtype, op)) return dtype;
  }
  return DType::none;
}

bool agrees_on(MpiDatatype type, TypeKind kind, DType dtype) {
  if (dtype == DType::none) return false;
  if (kind != TypeKind::logical) {
    const bool is_complex = info_of(dtype).kind == ElementKind::complex;
    const std::size_t unit = size_of(dtype) / (is_complex ? 2 : 1);
    return same_result(summands(dtype), unit, type, kMpi.sum, dtype, Op::sum);
  }
  const std::size_t unit = size_of(dtype);
  const ProbedElements elements = truth_values(unit);
  return same_result(elements, unit, type, kMpi.land, dtype, Op::land) &&
         same_result(elements, unit, type, kMpi.lor, dtype, Op::lor) &&
         same_result(elements, unit, type, kMpi.lxor, dtype, Op::lxor);
}

}  // namespace sumac
