// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/usage.h"

#include <algorithm>

#include "base/cpu.h"
#include "base/hash.h"

namespace sumac::promotion {
namespace {

constexpr std::uint32_t kMostWorth = 64;
constexpr double kNewShare = 0.25;  // share of a measured cost in the learnt one
// New memory takes at least one page fault for this many pages, even if half of it gets huge pages.
constexpr std::size_t kPagesPerFault = 1024;

}  // namespace

Usage::Entry& Usage::entry_for(const void* address) {
  return entries_[hash_value(reinterpret_cast<std::uintptr_t>(address)) % kEntries];
}

Usage::Entry* Usage::entry_of(const void* address) {
  Entry& entry = entry_for(address);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return entry.address.load(std::memory_order_relaxed) == number ? &entry : nullptr;
}

double Usage::cost_of(std::size_t bytes) const {
  return prices_.cost_ns_each + cost_ * static_cast<double>(bytes) / kPage;
}

void Usage::Entry::count_from_anew() {
  saved_ns = 0;
  gain_ns = 0;
  uses = try_at_use = 0;
  looks = 0;
  blind = false;
}

void Usage::Entry::renew(std::uintptr_t other) {
  address.store(other, std::memory_order_relaxed);
  count_from_anew();
  worth = 0;
  paid_at_use = 0;
  factor = 1;
}

void Usage::Entry::settle() {
  const bool paid = promoted_uses.load(std::memory_order_relaxed) >= paid_at_use;
  factor = paid ? std::max(factor / 2, 1u) : std::min(2 * factor, kMostFactor);
  paid_at_use = 0;
}

bool Usage::is_private(const void* address) {
  const Entry* const entry = entry_of(address);
  return entry && entry->paid_at_use.load(std::memory_order_relaxed) == 0;
}

bool Usage::use(const void* address, std::size_t bytes, double gain_ns) {
  Entry& entry = entry_for(address);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (entry.address.load(std::memory_order_relaxed) != number) {
    if (entry.worth > 0) {
      --entry.worth;
      return prices_.eager;
    }
    entry.renew(number);
  }
  if (entry.paid_at_use > 0) entry.settle();
  ++entry.uses;
  entry.worth = std::min(entry.worth + 1, kMostWorth);
  entry.gain_ns = gain_ns;
  entry.saved_ns += gain_ns;
  if (entry.uses < entry.try_at_use) return false;
  if (prices_.eager) return true;
  return entry.saved_ns >= cost_of(bytes) * entry.factor && decide(entry, bytes);
}

bool Usage::decide(Entry& entry, std::size_t bytes) {
  if (!prices_.page_faults) return true;
  const std::uint64_t faults = prices_.page_faults();
  const std::uint64_t taken = faults - entry.faults;
  entry.faults = faults;
  if (entry.looks > 0 && taken <= bytes / kPage / (kPagesPerFault + 1)) return true;
  if (entry.looks++ < kLooks) return false;
  const double allowed = kBlindShare * static_cast<double>(calls_ns_.load());
  entry.blind = blind_ns_ + cost_of(bytes) <= allowed;
  if (entry.blind) return true;
  entry.count_from_anew();
  entry.factor = std::min(2 * entry.factor, kMostFactor);
  return false;
}

void Usage::note_use(const void* address) {
  if (Entry* entry = entry_of(address)) {
    const std::uint32_t uses = entry->promoted_uses.load(std::memory_order_relaxed);
    entry->promoted_uses.store(uses + 1, std::memory_order_relaxed);
  }
}

void Usage::promoted(const void* address, std::size_t bytes, std::uint64_t ns) {
  if (Entry* entry = entry_of(address)) {
    if (entry->blind) blind_ns_ += static_cast<double>(ns);
    const double uses = entry->gain_ns > 0 ? cost_of(bytes) / entry->gain_ns : 0;
    entry->count_from_anew();
    entry->promoted_uses.store(0, std::memory_order_relaxed);
    entry->paid_at_use = static_cast<std::uint32_t>(std::clamp(uses, 1.0, 1e9));
  }
  if (bytes < kPage) return;
  const double of_pages = std::max(0.0, static_cast<double>(ns) - prices_.cost_ns_each);
  const double measured = of_pages * kPage / static_cast<double>(bytes);
  // A promotion in which the process lost its processor must not make all others too expensive.
  const double cost = std::min(measured, 2 * cost_);
  cost_ += kNewShare * (cost - cost_);
}

void Usage::refused(const void* address) {
  if (Entry* entry = entry_of(address)) entry->try_at_use = 2 * entry->uses;
}

}  // namespace sumac::promotion
