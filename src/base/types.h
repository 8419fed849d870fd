// SPDX-License-Identifier: BSD-3-Clause
// The element types and operations Sumac has kernels for, free of any MPI's handles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

enum class DType : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, none };
inline constexpr int kNumDTypes = static_cast<int>(DType::none);

enum class Op : std::uint8_t { sum, prod, min, max, land, lor, lxor, band, bor, bxor, none };
inline constexpr int kNumOps = static_cast<int>(Op::none);

enum class Collective : std::uint8_t { allreduce, reduce, bcast, barrier, reduce_local };
inline constexpr int kNumCollectives = 5;

// Bytes of one element; 0 for DType::none.
constexpr std::size_t size_of(DType type) {
  constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};
  return kSizes[static_cast<int>(type)];
}

constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::f64; }

constexpr const char* name_of(DType type) {
  constexpr const char* kNames[] = {"int8",  "uint8",  "int16", "uint16", "int32", "uint32",
                                    "int64", "uint64", "float", "double", "none"};
  return kNames[static_cast<int>(type)];
}

constexpr const char* name_of(Op op) {
  constexpr const char* kNames[] = {"sum",  "prod", "min", "max",  "land", "lor",
                                    "lxor", "band", "bor", "bxor", "none"};
  return kNames[static_cast<int>(op)];
}

constexpr const char* name_of(Collective collective) {
  constexpr const char* kNames[] = {"allreduce", "reduce", "bcast", "barrier", "reduce_local"};
  return kNames[static_cast<int>(collective)];
}

}  // namespace sumac
