// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/own_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <mutex>

#include "devices/where.h"
#include "interpose/process/process.h"
#include "observe/log.h"
#include "promotion/promotion.h"
#include "promotion/usage.h"
#include "transport/shared_mappings.h"

namespace sumac {
namespace {

// These are the choices of SUMAC_PROMOTE; the last two heed no devices.
enum class Promote : std::uint8_t {
  off,
  automatic,
  eager,
  automatic_with_devices,
  eager_with_devices
};

Promote wanted() { return static_cast<Promote>(options.promote); }

bool is_eager() { return wanted() == Promote::eager || wanted() == Promote::eager_with_devices; }

std::uint64_t page_faults() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt);
}

promotion::Usage& usage() {
  static auto* the_usage = new promotion::Usage({.eager = is_eager(), .page_faults = page_faults});
  return *the_usage;
}

}  // namespace

void open_own_memory(const sumac_stub& stub) {
  static constexpr sumac_memory_calls kCalls{promotion::advise,
                                             [](void* address, std::size_t bytes) -> int {
                                               return promotion::before_remap(address, bytes);
                                             },
                                             ::madvise, ::mremap};
  if (wanted() == Promote::off) return;
  promotion::Settings settings;
  settings.budget = options.promote_budget;
  settings.heed_devices = wanted() < Promote::automatic_with_devices;
  settings.calls_caught = stub.catch_memory_calls(&kCalls) != 0;
  const promotion::Refusal refusal = promotion::open(settings);
  if (refusal == promotion::Refusal::none) return;
  log(Level::info, "no memory is promoted: %s", promotion::refusal_text(refusal));
}

FileIdentity own_memory_file() {
  if (promotion::status() != promotion::Refusal::none) return {};
  return promotion::file();
}

void count_own_memory(Stats& stats) {
  const promotion::Counts counts = promotion::counts();
  const auto note = [&](MemoryUse use, std::uint64_t n) {
    stats.memory[static_cast<int>(use)] += n;
  };
  note(MemoryUse::promotions, counts.promotions);
  note(MemoryUse::promoted, counts.promoted_bytes);
  note(MemoryUse::huge, counts.huge_bytes);
  note(MemoryUse::given_back, counts.swept_bytes + counts.released_bytes);
  note(MemoryUse::made_private, counts.demoted_bytes);
  if (wanted() == Promote::off) return;
  // The first value of the enumeration is no refusal.
  static_assert(kNumRefusals + 1 == promotion::kRefusals);
  const int off = static_cast<int>(promotion::status());
  if (off > 0 && counts.refusals[off] == 0) ++stats.refusals[off - 1];
  for (int r = 0; r < kNumRefusals; ++r) stats.refusals[r] += counts.refusals[r + 1];
}

bool promotes_always() { return is_eager(); }

void note_call_time(std::uint64_t ns) { usage().call_took(ns); }

bool use_own_memory(const void* address, std::size_t bytes, double gain_ns) {
  static std::mutex mutex;
  if (shared_mappings().place_of(address, bytes).file != 0) return true;
  if (!usage().is_private(address) && promotion::mapped(address, bytes)) {
    usage().note_use(address);
    return true;
  }
  const std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock || !usage().use(address, bytes, gain_ns)) return false;
  // A driver may have handed pages that it knows to a device, which would keep the old ones.
  if (is_known_to_driver(address, bytes)) {
    usage().refused(address);
    return false;
  }
  const promotion::Outcome outcome = promotion::promote(address, bytes);
  if (outcome.done()) {
    usage().promoted(address, bytes, outcome.ns);
  } else {
    usage().refused(address);
  }
  return outcome.done();
}

}  // namespace sumac
