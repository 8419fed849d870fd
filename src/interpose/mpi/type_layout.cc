// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_layout.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/world.h"

namespace sumac {
namespace {

// This is what is known of a derived type, kept as an attribute of it. It is used again when the
// type is freed, and never given back: a thread with a stale entry of the cache reads a handle that
// does not match.
struct Known {
  std::atomic<std::uintptr_t> handle{0};  // 0: not in use
  TypeLayout layout;
  std::atomic<const DataLayout*> packing{nullptr};  // kUnreadable if it cannot be read
  bool is_uniform = false;                          // set together with `packing`

  void forget_packing() {
    const DataLayout* const read = packing.exchange(nullptr);
    if (read != &kUnreadable) delete read;
  }
  static const DataLayout& kUnreadable;
};
const DataLayout& Known::kUnreadable = *new DataLayout;

std::mutex asking;  // held while a type that has not been met is asked about
std::mutex mutex;   // protects `unused`
int keyval = kMpi.keyval_invalid;
auto& all = *new std::vector<Known*>;
auto& unused = *new std::vector<Known*>;

// The cache is direct-mapped by handle.
constexpr int kPlaceBits = 10;
std::atomic<Known*> cache[1 << kPlaceBits];

std::atomic<Known*>& place_of(std::uintptr_t handle) {
  return cache[handle * 0x9e3779b97f4a7c15ull >> (64 - kPlaceBits)];
}

void on_end(std::uintptr_t handle, void* attribute) {
  auto* known = static_cast<Known*>(attribute);
  if (!known->handle.compare_exchange_strong(handle, 0)) return;
  known->forget_packing();
  const std::lock_guard<std::mutex> lock(mutex);
  unused.push_back(known);
}

Known* acquire() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (unused.empty()) {
    auto* known = new (std::nothrow) Known;
    if (known) all.push_back(known);
    return known;
  }
  Known* known = unused.back();
  unused.pop_back();
  return known;
}

TypeLayout layout_of(const TypeInfo& predefined) {
  const auto extent = static_cast<MpiAint>(predefined.extent);
  return {predefined.size, extent, 0, extent, !predefined.has_gaps()};
}

bool ask(MpiDatatype type, TypeLayout& layout) {
  MpiAint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  mpi.Type_get_extent(type, &lower, &extent);
  mpi.Type_get_true_extent(type, &true_lower, &true_extent);
  if (!packed_size(type, layout.size)) return false;
  layout.extent = extent;
  layout.low = std::min({lower, lower + extent, true_lower});
  layout.high = std::max({lower, lower + extent, true_lower + true_extent});
  const auto size = static_cast<MpiAint>(layout.size);
  layout.dense = lower == 0 && true_lower == 0 && extent == size && true_extent == size;
  return true;
}

// Remembers the layout, if possible, for as long as the type lives. If there are sessions only, an
// attribute's key could outlive its meaning.
void remember(MpiDatatype type, const TypeLayout& layout) {
  if (!world_exists()) return;
  if (keyval == kMpi.keyval_invalid) create_type_keyval(on_end, &keyval);
  Known* known = keyval == kMpi.keyval_invalid ? nullptr : acquire();
  if (!known) return;
  const std::uintptr_t handle = type.bits;
  known->layout = layout;
  known->handle.store(handle, std::memory_order_release);
  if (mpi.Type_set_attr(type, keyval, known) != kMpiSuccess) {
    on_end(handle, known);
    return;
  }
  place_of(handle).store(known, std::memory_order_release);
}

Known* find_attribute(MpiDatatype type) {
  if (keyval == kMpi.keyval_invalid) return nullptr;
  void* attribute = nullptr;
  int found = 0;
  if (mpi.Type_get_attr(type, keyval, &attribute, &found) != kMpiSuccess || !found) return nullptr;
  auto* known = static_cast<Known*>(attribute);
  place_of(type.bits).store(known, std::memory_order_release);
  return known;
}

// Returns what is kept of the type, without asking the MPI.
Known* find_cached(MpiDatatype type) {
  const std::uintptr_t handle = type.bits;
  Known* const known = place_of(handle).load(std::memory_order_acquire);
  return known && known->handle.load(std::memory_order_acquire) == handle ? known : nullptr;
}

const DataLayout* read_packing(MpiDatatype type, Known& known) {
  const std::lock_guard<std::mutex> lock(asking);
  if (const DataLayout* read = known.packing.load()) return read;
  DataLayout layout;
  const bool right = read_layout(type, layout, known.is_uniform);
  const DataLayout* kept = right ? new (std::nothrow) DataLayout(layout) : nullptr;
  if (!kept) kept = &Known::kUnreadable;
  known.packing.store(kept, std::memory_order_release);
  return kept;
}

}  // namespace

int find_layout(MpiDatatype type, MpiComm comm, TypeLayout& layout) {
  if (const TypeInfo* predefined = find_known_type(type)) {
    layout = layout_of(*predefined);
    return kMpiSuccess;
  }
  if (const Known* known = find_cached(type)) {
    layout = known->layout;
    return kMpiSuccess;
  }
  if (const int error = check_type(type, comm)) return error;
  if (const TypeInfo* predefined = find_type(type)) {
    layout = layout_of(*predefined);
    return kMpiSuccess;
  }
  const std::lock_guard<std::mutex> lock(asking);
  if (const Known* met = find_attribute(type)) {
    layout = met->layout;
    return kMpiSuccess;
  }
  if (!ask(type, layout)) return kMpi.err_type;
  remember(type, layout);
  return kMpiSuccess;
}

const DataLayout* find_packing(MpiDatatype type, MpiAint& extent) {
  Known* const known = find_cached(type);
  if (!known) return nullptr;
  const DataLayout* packing = known->packing.load(std::memory_order_acquire);
  if (!packing) packing = read_packing(type, *known);
  extent = known->layout.extent;
  return packing == &Known::kUnreadable ? nullptr : packing;
}

bool is_uniform(MpiDatatype type) {
  const Known* const known = find_cached(type);
  return known && known->packing.load(std::memory_order_acquire) && known->is_uniform;
}

void forget_layouts() {
  for (auto& place : cache) place.store(nullptr);
  const std::lock_guard<std::mutex> hold(asking);
  keyval = kMpi.keyval_invalid;
  const std::lock_guard<std::mutex> lock(mutex);
  for (Known* known : all) {
    known->handle.store(0);
    known->forget_packing();
  }
  unused = all;
}

}  // namespace sumac
