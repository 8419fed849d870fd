// SPDX-License-Identifier: BSD-3-Clause
// The element types and operations Sumac has kernels for, free of any MPI's handles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

// The kind of an element, by what reductions do with it.
enum class ElementKind : std::uint8_t { integer, floating, complex, pair, none };

// Pairs are of a value and an index (MPI_DOUBLE_INT: f64_i32), laid out as a C struct.
enum class DType : std::uint8_t {
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  i128,
  f16,
  bf16,
  f32,
  f64,
  long_double,
  f128,
  c32,
  c64,
  c_long_double,
  c128,
  i32_i32,
  i64_i64,
  f32_i32,
  f32_f32,
  f64_f64,
  i16_i32,
  i64_i32,
  f64_i32,
  long_double_i32,
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

struct DTypeInfo {
  const char* name;
  std::uint8_t size;  // bytes from one element to the next
  ElementKind kind;
  bool vector;  // has vector kernels, not only plain loops
};

inline constexpr std::uint8_t kLongDouble = sizeof(long double);

// In the order of DType; read by C++ and, through `sumac __types`, by Python.
inline constexpr DTypeInfo kDTypes[] = {
    {"int8", 1, ElementKind::integer, true},
    {"uint8", 1, ElementKind::integer, true},
    {"int16", 2, ElementKind::integer, true},
    {"uint16", 2, ElementKind::integer, true},
    {"int32", 4, ElementKind::integer, true},
    {"uint32", 4, ElementKind::integer, true},
    {"int64", 8, ElementKind::integer, true},
    {"uint64", 8, ElementKind::integer, true},
    {"int128", 16, ElementKind::integer, false},
    {"float16", 2, ElementKind::floating, true},
    {"bfloat16", 2, ElementKind::floating, true},
    {"float", 4, ElementKind::floating, true},
    {"double", 8, ElementKind::floating, true},
    {"long_double", kLongDouble, ElementKind::floating, false},
    {"float128", 16, ElementKind::floating, false},
    {"float_complex", 8, ElementKind::complex, true},
    {"double_complex", 16, ElementKind::complex, true},
    {"long_double_complex", 2 * kLongDouble, ElementKind::complex, false},
    {"float128_complex", 32, ElementKind::complex, false},
    {"2int", 8, ElementKind::pair, true},
    {"2int64", 16, ElementKind::pair, true},
    {"float_int", 8, ElementKind::pair, true},
    {"2real", 8, ElementKind::pair, true},
    {"2double_precision", 16, ElementKind::pair, true},
    {"short_int", 8, ElementKind::pair, true},
    {"long_int", 16, ElementKind::pair, true},
    {"double_int", 16, ElementKind::pair, true},
    {"long_double_int", 2 * kLongDouble, ElementKind::pair, false},
    {"none", 0, ElementKind::none, false}};

constexpr const DTypeInfo& info_of(DType type) { return kDTypes[static_cast<int>(type)]; }

// Bytes from one element to the next; 0 for DType::none.
constexpr std::size_t size_of(DType type) { return info_of(type).size; }
constexpr const char* name_of(DType type) { return info_of(type).name; }
constexpr bool is_float(DType type) { return info_of(type).kind == ElementKind::floating; }

// True where MPI defines the operation on the type. Every such pair has a kernel.
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

constexpr const char* name_of(Op op) {
  constexpr const char* kNames[] = {"sum",  "prod", "min",  "max",    "land",   "lor", "lxor",
                                    "band", "bor",  "bxor", "minloc", "maxloc", "none"};
  return kNames[static_cast<int>(op)];
}

}  // namespace sumac
