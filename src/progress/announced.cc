// SPDX-License-Identifier: BSD-3-Clause
#include "progress/announced.h"

#include <cstdio>

namespace sumac {
namespace {

static_assert(kNumCollectives <= 1 << kCollectiveBits);
static_assert(kNumOps < 1 << kOpBits);
static_assert(kNumDTypes < 1 << kElementBits);

DType class_of(Op op, DType element) {
  if (op == Op::min || op == Op::max) return element;
  constexpr DType kUnsigned[][2] = {{DType::u8, DType::i8},
                                    {DType::u16, DType::i16},
                                    {DType::u32, DType::i32},
                                    {DType::u64, DType::i64}};
  for (const auto& [unsigned_one, signed_one] : kUnsigned) {
    if (element == unsigned_one) return signed_one;
  }
  return element;
}

}  // namespace

std::uint32_t reduces_by(Op op, DType element) {
  return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(class_of(op, element))
                                              << kOpBits;
}

std::string text_of(const Announcement& announced) {
  std::uint64_t rest = announced.what;
  const auto take = [&](int bits) {
    const std::uint64_t value = rest & ((std::uint64_t{1} << bits) - 1);
    rest >>= bits;
    return value;
  };
  const CollectiveInfo& info = info_of(static_cast<Collective>(take(kCollectiveBits)));
  const auto op = static_cast<Op>(take(kOpBits));
  const auto element = static_cast<DType>(take(kElementBits));
  std::string text = std::string("MPI_") + info.mpi_name;
  if (info.has_root)
    text += (is_to_root(info.collective) ? " to root " : " from root ") + std::to_string(rest);
  if (info.reduces && op == Op::none) text += ", by a function of the program's";
  if (info.reduces && op != Op::none) {
    text += std::string(", ") + name_of(op) + " of " + name_of(element);
  }
  if (info.has_data && info.is_sized) text += ", " + std::to_string(announced.bytes) + " bytes";
  return text;
}

}  // namespace sumac
