// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/usage.h"

#include <algorithm>

#include "base/align.h"
#include "base/hash.h"

namespace sumac::promotion {
namespace {

constexpr std::uint32_t kMostWorth = 64;
constexpr double kNewShare = 0.25;  // of a measured cost in the learnt one

}  // namespace

Usage::Entry& Usage::place(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return entries_[hash_value(number) % kEntries];
}

Usage::Entry* Usage::entry_of(const void* address) {
  Entry& entry = place(address);
  return entry.address == reinterpret_cast<std::uintptr_t>(address) ? &entry : nullptr;
}

bool Usage::use(const void* address, std::size_t bytes) {
  Entry& entry = place(address);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (entry.address != number) {
    if (entry.worth > 0) {
      --entry.worth;
      return prices_.eager;
    }
    entry = {};
    entry.address = number;
  }
  ++entry.uses;
  entry.worth = std::min(entry.worth + 1, kMostWorth);
  entry.saved_ns += prices_.gain_ns_per_byte * static_cast<double>(bytes);
  if (entry.uses < entry.try_at_use) return false;
  const double cost = prices_.cost_ns_each + cost_ * static_cast<double>(bytes) / kPage;
  return prices_.eager || entry.saved_ns >= cost;
}

void Usage::promoted(const void* address, std::size_t bytes, std::uint64_t ns) {
  if (Entry* entry = entry_of(address)) *entry = {};
  if (bytes < kPage) return;
  const double of_pages = std::max(0.0, static_cast<double>(ns) - prices_.cost_ns_each);
  const double measured = of_pages * kPage / static_cast<double>(bytes);
  // One promotion in which the process lost its processor must not make all others too dear.
  const double cost = std::min(measured, 2 * cost_);
  cost_ += kNewShare * (cost - cost_);
}

void Usage::refused(const void* address) {
  if (Entry* entry = entry_of(address)) entry->try_at_use = 2 * entry->uses;
}

}  // namespace sumac::promotion
