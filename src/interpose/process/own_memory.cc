// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/own_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <map>
#include <mutex>
#include <vector>

#include "base/hash.h"
#include "devices/where.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/attachable.h"
#include "interpose/process/process.h"
#include "observe/log.h"
#include "promotion/born_shared.h"
#include "promotion/promotion.h"
#include "promotion/usage.h"
#include "transport/shared_mappings.h"

namespace sumac {
namespace {

// These are the choices of SUMAC_PROMOTE; the last two heed no devices.
enum class Promote : std::uint8_t {
  off,
  allocated,
  attached,
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

static const sumac_stub* own_stub = nullptr;

static bool open() {
  static constexpr sumac_memory_calls kCalls{promotion::advise, promotion::remap, ::madvise,
                                             ::mremap};
  promotion::Settings settings;
  settings.promotes = promotes();
  settings.budget = options.promote_budget;
  settings.heed_devices = wanted() < Promote::automatic_with_devices;
  settings.calls_caught = own_stub->catch_memory_calls(&kCalls) != 0;
  const promotion::Refusal refusal = promotion::open(settings);
  if (promotes() && refusal != promotion::Refusal::none) {
    log(Level::info, "no memory is promoted: %s", promotion::refusal_text(refusal));
  }
  if (const promotion::Refusal closed = promotion::closed(); closed != promotion::Refusal::none) {
    log(Level::info, "MPI_Alloc_mem is the MPI's: %s", promotion::refusal_text(closed));
  }
  return true;
}

bool open_own_memory() {
  if (wanted() == Promote::off) return false;
  [[maybe_unused]] static const bool opened = open();
  return promotion::closed() == promotion::Refusal::none;
}

FileIdentity own_memory_file() { return open_own_memory() ? promotion::file() : FileIdentity{}; }

void count_own_memory(Stats& stats) {
  const promotion::Counts counts = promotion::counts();
  const auto note = [&](MemoryUse use, std::uint64_t n) {
    stats.memory[static_cast<int>(use)] += n;
  };
  note(MemoryUse::born, counts.born);
  note(MemoryUse::born_bytes, counts.born_bytes);
  note(MemoryUse::attached, buffers_attached());
  note(MemoryUse::promotions, counts.promotions);
  note(MemoryUse::promoted, counts.promoted_bytes);
  note(MemoryUse::huge, counts.huge_bytes);
  note(MemoryUse::given_back, counts.swept_bytes + counts.released_bytes);
  if (!promotes()) return;
  // The first value of the enumeration is no refusal.
  static_assert(kNumRefusals + 1 == promotion::kRefusals);
  const int off = static_cast<int>(promotion::status());
  if (off > 0 && counts.refusals[off] == 0) ++stats.refusals[off - 1];
  for (int r = 0; r < kNumRefusals; ++r) stats.refusals[r] += counts.refusals[r + 1];
}

bool attaches() { return wanted() >= Promote::attached; }

bool promotes() { return wanted() >= Promote::automatic; }

bool promotes_always() { return is_eager(); }

bool lies_in_shared_memory(const void* address) {
  return shared_mappings().place_of(address, 1).file != 0 || promotion::is_born_shared(address, 1);
}

void tend_own_memory() { promotion::tend(); }

void end_own_memory() { promotion::end(); }

void begin_use_of_own_memory() { promotion::begin_use(); }
void end_use_of_own_memory() { promotion::end_use(); }

void note_call_time(std::uint64_t ns) { usage().call_took(ns); }

bool use_own_memory(const void* address, std::size_t bytes, double gain_ns, bool all_seen) {
  static std::mutex mutex;
  promotion::tend();
  if (shared_mappings().place_of(address, bytes).file != 0) return true;
  if (promotion::is_born_shared(address, bytes)) {
    return promotion::mapped(address, bytes) && promotion::prepare_shared(address, bytes) &&
           (!all_seen || can_be_attached(address, bytes));
  }
  if (all_seen) return can_be_attached(address, bytes);
  if (!promotes()) return false;
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

namespace {

// MPI_Win_allocate_shared and MPI_Win_free show which shared memory the MPI has given to the
// program. Buffers there are used directly (transport/shared_mappings.h).
std::mutex mutex;
// The map has the mappings by window. It is never destroyed: windows may be freed while the process
// ends.
auto& windows = *new std::map<std::uintptr_t, std::vector<SharedMapping>>;

std::uint64_t word_of(const promotion::Mapping& mapping) {
  const std::uint64_t word = hash_value(mapping.inode ^ hash_value(mapping.device));
  return word ? word : 1;
}

// The parts of all ranks lie in one mapping or in several.
std::vector<SharedMapping> mappings_of(MpiComm comm, MpiWin win) {
  std::vector<SharedMapping> found;
  int ranks = 0;
  mpi.Comm_size(comm, &ranks);
  for (int r = 0; r < ranks; ++r) {
    MpiAint bytes = 0;
    int unit = 0;
    void* address = nullptr;
    if (mpi.Win_shared_query(win, r, &bytes, &unit, &address) != kMpiSuccess) break;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (bytes <= 0 || (!found.empty() && begin >= found.back().begin && begin < found.back().end)) {
      continue;
    }
    promotion::Mapping mapping;
    if (!promotion::shared_mapping(address, mapping)) continue;
    found.push_back({mapping.begin, mapping.end, mapping.offset, word_of(mapping)});
  }
  return found;
}

int win_allocate_shared(MpiAint bytes, int unit, MpiInfo info, MpiComm comm, void* base,
                        WinPointer win) {
  const int error = mpi.Win_allocate_shared(bytes, unit, info, comm, base, win);
  if (error != kMpiSuccess || !open_own_memory()) return error;
  std::vector<SharedMapping> found = mappings_of(comm, *win);
  for (const SharedMapping& each : found) shared_mappings().add(each);
  const std::lock_guard<std::mutex> lock(mutex);
  windows[(*win).bits] = std::move(found);
  return error;
}

int win_free(WinPointer win) {
  if (win) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = windows.find((*win).bits);
    if (known != windows.end()) {
      for (const SharedMapping& each : known->second) shared_mappings().remove(each);
      windows.erase(known);
    }
  }
  return mpi.Win_free(win);
}

}  // namespace

void redirect_shared_windows(const sumac_stub& stub) {
  own_stub = &stub;
  in_front.Win_allocate_shared = win_allocate_shared;
  in_front.Win_free = win_free;
  put_in_front(stub, SUMAC_CALL_Win_allocate_shared);
  put_in_front(stub, SUMAC_CALL_Win_free);
}

}  // namespace sumac
