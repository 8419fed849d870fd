// SPDX-License-Identifier: BSD-3-Clause
// A vector kernel sees an element as one lane, or as two side by side.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/elements.h"

namespace sumac {

// This is a float16 for processors with float16 arithmetic.
struct NativeFloat16 {
  std::uint16_t bits;
};

template <class Element>
struct Lanes {
  using Type = Element;
  static constexpr std::size_t kPerElement = 1;
};

template <>
struct Lanes<Float16> {
  using Type = std::uint16_t;
  static constexpr std::size_t kPerElement = 1;
};

template <>
struct Lanes<NativeFloat16> {
  using Type = std::uint16_t;
  static constexpr std::size_t kPerElement = 1;
};

template <>
struct Lanes<BFloat16> {
  using Type = std::uint16_t;
  static constexpr std::size_t kPerElement = 1;
};

template <class Float>
struct Lanes<Complex<Float>> {
  using Type = Float;
  static constexpr std::size_t kPerElement = 2;
};

// Lanes of pairs are plain bits. A gap belongs to the lane it follows.
template <class Value, class Index, std::size_t kIndexAt, std::size_t kBytes>
struct Lanes<Pair<Value, Index, kIndexAt, kBytes>> {
  static_assert(kIndexAt * 2 == kBytes);
  using Type = std::conditional_t<kBytes == 8, std::uint32_t, std::uint64_t>;
  static constexpr std::size_t kPerElement = 2;
};

template <class Element>
using LaneOf = typename Lanes<Element>::Type;

template <class Element>
struct Tag {};

}  // namespace sumac
