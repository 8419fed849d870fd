// SPDX-License-Identifier: BSD-3-Clause
// Numbers on the command lines of the C++ programs. units.py and usage.py read those of the
// commands in Python alike.
#pragma once

#include <cstdint>
#include <string>

namespace sumac {

// No call has more data of a rank than this. The bytes that all ranks of a large job send one
// another, in all steps of an algorithm, can still be counted with 64 bits.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;
// No job has more ranks.
inline constexpr int kMostRanks = 1 << 17;

// Each reads the whole text as a number from `least` to `most`. Returns what is wrong with it, as
// "less than 2", or "" if nothing is; then `number` is set.
std::string read_whole_number(const std::string& text, std::int64_t least, std::int64_t most,
                              std::int64_t& number);
std::string read_real_number(const std::string& text, double least, double most, double& number);
// The size may have a unit: 4, 64K, 1M, 2G.
std::string read_size(const std::string& text, std::uint64_t& bytes);

}  // namespace sumac
