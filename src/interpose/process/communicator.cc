// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/communicator.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/handle_tables.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/entry.h"
#include "interpose/process/meeting.h"
#include "progress/announced.h"
#include "tasks/threads.h"

namespace sumac {
namespace {

std::mutex mutex;  // never held across a call of the MPI
auto& all = *new std::vector<Communicator*>;
auto& unused = *new std::vector<Communicator*>;
HandleTable<Communicator>& table() {
  static auto* the_table = new HandleTable<Communicator>;
  return *the_table;
}

// This cache of communicators is direct-mapped by handle. An entry may be stale; the communicator's
// own handle shows it.
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

// Makes the state free for another communicator.
void release(Communicator* communicator) {
  communicator->stop_watching();
  add_to_process_stats(communicator->stats);
  idle_teams().keep(*communicator);
  communicator->reset();
  communicator->calls = communicator->asks_at = 0;
  communicator->weight = communicator->own_weight = 0;
  communicator->agreed = communicator->sought = false;
  communicator->known = nullptr;
  communicator->checkable = 0;
  communicator->profiled = -1;
  communicator->fold.forget();
  communicator->settled = {};
  communicator->keepers = 1;
  const std::lock_guard<std::mutex> lock(mutex);
  unused.push_back(communicator);
}

// Forgets a communicator that has ended: the MPI may give its handle to another one.
void forget(Communicator* communicator) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    table().erase(communicator->handle.load(std::memory_order_relaxed));
    communicator->handle.store(0, std::memory_order_release);
  }
  if (--communicator->keepers == 0) release(communicator);
}

// The MPI calls this at any time, within a wait or at finalisation, so it does local work only.
void on_end(std::uintptr_t, void* attribute) { forget(static_cast<Communicator*>(attribute)); }

// Has the MPI tell when the communicator ends. The key of the attribute is used for this alone:
// after the last session has ended, which Sumac does not see, a key kept for later would mean
// nothing, or another's attribute.
bool watch_end(MpiComm comm, Communicator* communicator) {
  int key = kMpi.keyval_invalid;
  if (create_comm_keyval(on_end, &key) != kMpiSuccess) return false;
  const bool set = mpi.Comm_set_attr(comm, key, communicator) == kMpiSuccess;
  mpi.Comm_free_keyval(&key);
  return set;
}

Communicator* remember(MpiComm comm) {
  const std::uintptr_t handle = comm.bits;
  // A callback of the program's that runs after ours may still use the communicator being freed.
  if (thread_state().freeing == handle) return nullptr;
  Communicator* communicator = acquire();
  communicator->comm = comm;
  const bool watched = watch_end(comm, communicator);
  const std::lock_guard<std::mutex> lock(mutex);
  if (!watched) {
    unused.push_back(communicator);
    return nullptr;
  }
  communicator->handle.store(handle, std::memory_order_release);
  table().insert(handle, communicator);
  return communicator;
}

// Runs the call behind nonblocking calls on the same communicator that have not ended.
void run_in_queue(Communicator& c, const ChosenCall& call, const DirectTry& direct) {
  const UseThreads threads(true);
  c.queue.add(c.work, call, direct, c.ranks(call.collective), false);
  c.queue.wait_for(c.work, c.wait_policy);
}

}  // namespace

void run(Communicator& c, const ChosenCall& call, const DirectTry& direct) {
  c.doing.store(static_cast<int>(call.collective), std::memory_order_relaxed);
  if (c.queue.empty()) [[likely]] {
    c.work.run(call, direct, c.ranks(call.collective), c.wait_policy);
  } else {
    run_in_queue(c, call, direct);
  }
  // Ranks run the call in different ways, but all know the same of its refusals.
  if (c.work.refusals_agreed()) [[unlikely]] {
    c.refusals.agreed = true;
    c.settled = {};
  }
}

bool agree(Communicator& c, bool own) {
  const std::int32_t mine = own;
  std::int32_t all = 0;
  const ReduceArguments args{reinterpret_cast<const std::byte*>(&mine),
                             reinterpret_cast<std::byte*>(&all), 1, sizeof mine,
                             find_reduce(Op::band, DType::i32)};
  // It takes the default choice, since the rules may leave a call to the MPI.
  Choice choice;
  choice.algorithm = c.levels_for[static_cast<int>(Collective::allreduce)]
                         ? Algorithm::allreduce_levels
                         : Algorithm::allreduce_flat_slots;
  run(c, {args, Collective::allreduce, choice, reduces_by(Op::band, DType::i32)});
  return all;
}

void Communicator::stop_watching() {
  if (watched) engine().forget(queue);
  watched = false;
}

IdleTeams& idle_teams() {
  static auto* teams = new IdleTeams;  // never destroyed, like the arena
  return *teams;
}

Communicator* find_communicator(MpiComm comm) {
  const std::uintptr_t handle = comm.bits;
  Communicator* communicator = cache_entry(handle).load(std::memory_order_acquire);
  if (communicator && communicator->handle.load(std::memory_order_acquire) == handle) {
    return communicator;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  communicator = table().find(handle);
  if (communicator) cache_entry(handle).store(communicator, std::memory_order_release);
  return communicator;
}

Communicator* find_or_remember(MpiComm comm) {
  Communicator* communicator = find_communicator(comm);
  return communicator ? communicator : remember(comm);
}

namespace {

// Adds a call to what the communicator weighs, and to what those of its group do once it is known
// to be one of them. Nobody asks for that as long as it makes no difference.
void weigh(Communicator& communicator, std::uint64_t weight) {
  communicator.weight += weight;
  if (communicator.known) {
    communicator.known->weight += weight;
  } else if (communicator.calls >= kAgreeAfter || communicator.weight >= kSeekAfter) {
    communicator.known = known_group_of(communicator);
    if (communicator.known) communicator.known->weight += communicator.weight;
  }
}

}  // namespace

// A call that failed on this rank may have succeeded on others: it counts, and sets up the
// communicator, like any other.
void count_call(MpiComm comm, std::uint64_t more, Others others, std::uint64_t weight) {
  if (!mpi_is_up()) note_mpi_up();
  Communicator* communicator = find_or_remember(comm);
  if (!communicator || communicator->state != Communicator::State::counting) return;
  const std::uint64_t before = communicator->calls;
  const std::uint64_t calls = communicator->calls += more;
  if (before == 0 && needs_no_others(*communicator)) return;
  const bool waits = may_wait(others);
  if (waits) weigh(*communicator, weight);
  if (is_asked(others)) communicator->own_weight += weight;
  // Ranks that have met before have compared their options then.
  const bool compares = calls >= kAgreeAfter && !communicator->known && !communicator->agreed;
  const bool seeks =
      waits && communicator->known && !communicator->sought && communicator->weight >= kSeekAfter;
  const bool enough = has_calls_enough(*communicator, others);
  if (!seeks && !compares && !enough) return;
  if (enough && !waits) communicator->reason = Reason::no_call_of_all;
  if (is_asked(others) ? !enough || calls < communicator->asks_at : !waits) return;
  if (is_asked(others)) {
    communicator->asks_at = 2 * calls;
  } else {
    communicator->agreed = communicator->sought = true;
  }
  set_up(*communicator, others);
}

void drop_keeper(Communicator& communicator) {
  if (--communicator.keepers == 0) release(&communicator);
}

// This runs before the MPI calls on_end(). In on_end() the MPI may hold a lock that another thread
// waits for while it looks at the queues.
void leave(Communicator& c) {
  end_declined(&c);
  if (!c.queue.empty()) {
    ++c.keepers;
    c.left = true;
    let_go(c);  // it may have ended meanwhile
  }
  if (c.keepers != 1) return;
  c.stop_watching();
  if (!can_be_idle(c)) c.end_levels();
}

void let_go(Communicator& c) {
  if (c.queue.empty() && c.left.exchange(false)) drop_keeper(c);
}

std::vector<Communicator*> all_communicators() {
  const std::lock_guard<std::mutex> lock(mutex);
  return all;
}

Stats all_stats() {
  Stats sum = process_stats();
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Communicator* communicator : all) sum.CallCounts::merge(communicator->stats);
  return sum;
}

void forget_communicators() {
  for (auto& entry : cache) entry.store(nullptr);
  for (Communicator* communicator : all_communicators()) {
    if (communicator->handle.load(std::memory_order_relaxed) != 0) forget(communicator);
  }
}

}  // namespace sumac
