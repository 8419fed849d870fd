// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/communicator.h"

#include <cstdlib>
#include <mutex>
#include <new>

#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

std::mutex mutex;  // never held across a call that waits for other ranks
int keyval = MPI_KEYVAL_INVALID;
std::vector<Communicator*> all;
std::vector<Communicator*> unused;

// Direct-mapped, by handle. An entry may be stale: the communicator tells by its handle.
constexpr std::size_t kCacheEntries = 256;
std::atomic<Communicator*> cache[kCacheEntries];

std::atomic<Communicator*>& cache_entry(std::uintptr_t handle) {
  return cache[handle * 0x9e3779b97f4a7c15ull >> 56];
}

Communicator* acquire() {
  const std::lock_guard<std::mutex> lock(mutex);
  Communicator* communicator;
  if (unused.empty()) {
    communicator = new (std::nothrow) Communicator;
    if (!communicator) std::abort();
    all.push_back(communicator);
  } else {
    communicator = unused.back();
    unused.pop_back();
  }
  return communicator;
}

// The state is not used any more.
void release(Communicator* communicator) {
  communicator->stop_watching();
  for (std::byte* block : communicator->blocks) Arena::release(block);
  communicator->blocks.clear();
  communicator->end_levels();
  add_to_process_stats(communicator->stats);
  communicator->stats = Stats();
  communicator->state = Communicator::State::counting;
  communicator->reason = Reason::first_calls;
  communicator->calls = 0;
  communicator->group = ShmGroup();
  communicator->hierarchy.clear();
  communicator->fold.forget();
  communicator->attach.reset();
  communicator->keepers = 1;
  const std::lock_guard<std::mutex> lock(mutex);
  unused.push_back(communicator);
}

// Local work only: MPI calls this whenever it likes, within a wait or at finalisation.
int on_delete(MPI_Comm, int, void* attribute, void*) {
  auto* communicator = static_cast<Communicator*>(attribute);
  communicator->handle.store(0, std::memory_order_release);
  if (--communicator->keepers == 0) release(communicator);
  return MPI_SUCCESS;
}

int get_keyval() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (keyval == MPI_KEYVAL_INVALID) {
    mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr);
  }
  return keyval;
}

Communicator* find_attribute(MPI_Comm comm, std::uintptr_t handle) {
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  void* attribute = nullptr;
  int found = 0;
  if (mpi.Comm_get_attr(comm, keyval, &attribute, &found) != MPI_SUCCESS || !found) return nullptr;
  auto* communicator = static_cast<Communicator*>(attribute);
  cache_entry(handle).store(communicator, std::memory_order_release);
  return communicator;
}

Communicator* remember(MPI_Comm comm) {
  // A callback of the program's, called after ours, may still use the communicator that goes.
  if (thread_state().freeing == handle_bits(comm)) return nullptr;
  const int key = get_keyval();
  if (key == MPI_KEYVAL_INVALID) return nullptr;
  Communicator* communicator = acquire();
  communicator->comm = comm;
  communicator->handle.store(handle_bits(comm), std::memory_order_release);
  mpi.Comm_set_attr(comm, key, communicator);
  return communicator;
}

}  // namespace

void Communicator::stop_watching() {
  if (watched) engine().forget(queue);
  watched = false;
}

void Communicator::end_levels() {
  if (levels.empty()) return;
  state = State::handed_down;
  for (LevelsRun*& run : levels_for) run = nullptr;
  levels.clear();
}

Communicator* find_communicator(MPI_Comm comm) {
  const std::uintptr_t handle = handle_bits(comm);
  Communicator* communicator = cache_entry(handle).load(std::memory_order_acquire);
  if (communicator && communicator->handle.load(std::memory_order_acquire) == handle) {
    return communicator;
  }
  return find_attribute(comm, handle);
}

Communicator* find_or_remember(MPI_Comm comm) {
  Communicator* communicator = find_communicator(comm);
  return communicator ? communicator : remember(comm);
}

void count_call(MPI_Comm comm, std::uint64_t more) {
  Communicator* communicator = find_or_remember(comm);
  if (!communicator || communicator->state != Communicator::State::counting) return;
  const std::uint64_t before = communicator->calls;
  const std::uint64_t calls = communicator->calls += more;
  const auto passes = [&](std::uint64_t mark) { return before < mark && calls >= mark; };
  if (passes(kAgreeAfter) || (calls > kAgreeAfter && passes(options.build_after))) {
    set_up(*communicator);
  }
}

void forget_persistent(Communicator& communicator) {
  if (--communicator.keepers != 0) return;
  // Its ranks do this at different times.
  for (const auto& run : communicator.levels) {
    if (run->messages()) static_cast<MpiMessages*>(run->messages())->keep_communicators();
  }
  release(&communicator);
}

std::vector<Communicator*> all_communicators() {
  const std::lock_guard<std::mutex> lock(mutex);
  return all;
}

Stats all_stats() {
  Stats sum = process_stats();
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Communicator* communicator : all) sum.merge(communicator->stats);
  return sum;
}

void forget_communicators() {
  for (auto& entry : cache) entry.store(nullptr);
  const std::lock_guard<std::mutex> lock(mutex);
  keyval = MPI_KEYVAL_INVALID;
}

}  // namespace sumac
