// SPDX-License-Identifier: BSD-3-Clause
// These are the element types (types.def) and operations that Sumac has kernels for, independent of
// any MPI's handles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

// The kind of an element says what reductions do with it.
enum class ElementKind : std::uint8_t { integer, floating, complex, pair, none };

enum class DType : std::uint8_t {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) type,
#include "base/types.def"
  none
};
inline constexpr int kNumDTypes = static_cast<int>(DType::none);

enum class Op : std::uint8_t {
  sum,
  prod,
  min,
  max,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  minloc,
  maxloc,
  none
};
inline constexpr int kNumOps = static_cast<int>(Op::none);

// Each file reduce_<file>.cc, which the build makes of kernels/reduce_vectors.cc.in, has the vector
// kernels for elements of one size, so that the files compile in parallel. The kernels of `wide`
// elements are plain loops.
#define SUMAC_KERNEL_FILES(FILE) \
  FILE(int8)                     \
  FILE(int16)                    \
  FILE(int32)                    \
  FILE(int64)                    \
  FILE(half)                     \
  FILE(f32)                      \
  FILE(f64)                      \
  FILE(complex)                  \
  FILE(pair32)                   \
  FILE(pair64)
enum class KernelFile : std::uint8_t {
#define SUMAC_KERNEL_FILE(file) file,
  SUMAC_KERNEL_FILES(SUMAC_KERNEL_FILE)
#undef SUMAC_KERNEL_FILE
      wide
};

struct DTypeInfo {
  const char* name;
  std::uint8_t size;  // bytes from one element to the next
  ElementKind kind;
  KernelFile kernels;

  // Returns true if the type has vector kernels, not only plain loops.
  constexpr bool vector() const { return kernels != KernelFile::wide; }
};

inline constexpr std::uint8_t kLongDouble = sizeof(long double);

// The rows are in the order of DType.
inline constexpr DTypeInfo kDTypes[] = {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) \
  {name, bytes, ElementKind::kind, KernelFile::kernels},
#include "base/types.def"
    {"none", 0, ElementKind::none, KernelFile::wide}};

constexpr const DTypeInfo& info_of(DType type) { return kDTypes[static_cast<int>(type)]; }

// Returns the bytes from one element to the next; 0 for DType::none.
constexpr std::size_t size_of(DType type) { return info_of(type).size; }
constexpr const char* name_of(DType type) { return info_of(type).name; }

// Returns true if MPI defines the operation on the type. Every such pair has a kernel.
constexpr bool is_defined(Op op, DType type) {
  const bool location = op == Op::minloc || op == Op::maxloc;
  switch (info_of(type).kind) {
    case ElementKind::integer:
      return op < Op::minloc;
    case ElementKind::floating:
      return op <= Op::max;
    case ElementKind::complex:
      return op <= Op::prod;
    case ElementKind::pair:
      return location;
    case ElementKind::none:
      break;
  }
  return false;
}

// Returns true if a reduction has the same result whoever folds, in whatever order, apart from NaNs
// and the sign of zero. Rounded sums do not; and some MPIs saturate sums of 8 and 16 bits, or
// compare unsigned integers as signed ones.
constexpr bool is_exact(Op op, DType type) {
  const bool sums = op == Op::sum || op == Op::prod, compares = op == Op::min || op == Op::max;
  switch (info_of(type).kind) {
    case ElementKind::integer:
      if (sums) return size_of(type) > 2;
      return !compares ||
             !(type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64);
    case ElementKind::floating:
    case ElementKind::complex:
      return !sums;
    case ElementKind::pair:
      return true;
    case ElementKind::none:
      break;
  }
  return false;
}

constexpr const char* name_of(Op op) {
  constexpr const char* kNames[] = {"sum",  "prod", "min",  "max",    "land",   "lor", "lxor",
                                    "band", "bor",  "bxor", "minloc", "maxloc", "none"};
  return kNames[static_cast<int>(op)];
}

}  // namespace sumac
