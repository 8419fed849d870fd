// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/held_requests.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/cpu.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// A request, and who holds it: the one that was closest to the MPI is first.
struct HeldRequest {
  MpiRequest request;
  bool persistent, active;
  std::vector<std::unique_ptr<RequestHolder>> holders = {};
  const void* asked_by = nullptr;  // the thread whose call about it is under way
};

namespace {

using Held = std::shared_ptr<HeldRequest>;

std::mutex mutex;  // never held while a holder is told, or the MPI has a call
auto& table = *new std::unordered_map<std::uintptr_t, Held>;  // keyed by the bits of the request
auto& freed = *new std::vector<MpiRequest>;  // the program has freed them, and the MPI has not
std::atomic<std::size_t> number_held{0}, number_freed{0};
thread_local std::uint64_t holds_made = 0;

// An address that no other thread has.
const void* this_thread() {
  static thread_local char its_own;
  return &its_own;
}

// The caller must hold the mutex.
Held find(MpiRequest request) {
  const auto found = table.find(request.bits);
  return found == table.end() ? nullptr : found->second;
}
void erase(const HeldRequest& held) {
  const auto found = table.find(held.request.bits);
  if (found == table.end() || found->second.get() != &held) return;
  table.erase(found);
  number_held = table.size();
}

Held find_locked(MpiRequest request) {
  if (!any_held()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  return find(request);
}

void tell_left(const HeldRequest& held) {
  if (!held.active) return;
  for (const auto& each : held.holders) each->left();
}

// Tests or waits for one of `freed`. Returns true if it has ended.
template <class Ask>
bool end_freed(MpiRequest request, Ask ask) {
  MpiRequest handle = request;
  MpiStatus status;
  int done = 0;
  AskedRequests asked(1, one(request), false);
  const int error = ask(one(handle), &done, status.pointer());
  const bool ended = done || error != kMpiSuccess;
  std::vector<RequestEnd> ends;
  if (ended) ends.push_back({0, status.pointer(), error == kMpiSuccess});
  if (asked.any()) asked.tell(ends, {});
  return ended;
}

template <class Ask>
void end_all_freed(Ask ask) {
  if (number_freed.load(std::memory_order_relaxed) == 0) return;
  std::vector<MpiRequest> asked;  // only this thread asks about these
  {
    const std::lock_guard<std::mutex> lock(mutex);
    asked.swap(freed);
  }
  std::erase_if(asked, [&](MpiRequest request) { return end_freed(request, ask); });
  const std::lock_guard<std::mutex> lock(mutex);
  freed.insert(freed.end(), asked.begin(), asked.end());
  number_freed = freed.size();
}

}  // namespace

void hold(MpiRequest request, std::unique_ptr<RequestHolder> holder, bool persistent) {
  auto made = std::make_shared<HeldRequest>(HeldRequest{request, persistent, !persistent});
  made->holders.push_back(std::move(holder));
  ++holds_made;
  Held before;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    before = std::exchange(table[request.bits], std::move(made));
    number_held = table.size();
    // If another thread's call has ended that request, the call tells the holders.
    if (before && before->asked_by) return;
  }
  if (before) tell_left(*before);
}

void hold_too(MpiRequest request, std::unique_ptr<RequestHolder> holder) {
  const Held held = find_locked(request);
  if (held) held->holders.push_back(std::move(holder));
}

std::uint64_t holds_of_thread() { return holds_made; }

void hold_unless_ended(MpiRequest request, std::unique_ptr<RequestHolder> holder) {
  int done = 0;
  MpiStatus status;
  mpi.Request_get_status(request, &done, status.pointer());
  if (!done) return hold(request, std::move(holder), false);
  holder->ended(status.pointer(), true, clock_ns());
}

void forget_held(MpiRequest request) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (const Held held = find(request)) erase(*held);
}

bool any_held() { return number_held.load(std::memory_order_relaxed) != 0; }

AskedRequests::AskedRequests(int count, RequestPointer requests, bool looks) : looks_(looks) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (int i = 0; i < count; ++i) {
    Held held = find(requests[i]);
    // The thread's own call may have been left by a jump out of an error handler.
    const bool others = held && held->asked_by && held->asked_by != this_thread();
    if (!held || others || !held->active) continue;
    if (!looks) held->asked_by = this_thread();
    held_.resize(static_cast<std::size_t>(count));
    held_[static_cast<std::size_t>(i)] = std::move(held);
  }
}

void AskedRequests::tell_end(HeldRequest& held, const RequestEnd& end, std::uint64_t end_ns) const {
  if (!looks_) {
    held.active = false;
    for (const auto& each : held.holders) each->ended(end.status, end.success, end_ns);
    return;
  }
  static std::mutex looking;
  const std::lock_guard<std::mutex> lock(looking);
  for (const auto& each : held.holders) each->seen(end.status);
}

void AskedRequests::tell(const std::vector<RequestEnd>& ends, const CallTime& time) {
  const auto none = std::count(held_.begin(), held_.end(), nullptr);
  const auto shares = static_cast<std::uint64_t>(held_.size()) - static_cast<std::uint64_t>(none);
  for (const Held& held : held_) {
    if (!held || looks_) continue;
    for (const auto& each : held->holders) each->took((time.end_ns - time.begin_ns) / shares);
  }
  for (const RequestEnd& end : ends) {
    const Held& held = held_[static_cast<std::size_t>(end.index)];
    if (held && held->active) tell_end(*held, end, time.end_ns);
  }
  if (looks_) return;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Held& held : held_) {
    if (!held) continue;
    if (!held->active && !held->persistent) erase(*held);
    held->asked_by = nullptr;
  }
}

void tell_starts(int count, RequestPointer requests) {
  for (int i = 0; i < count; ++i) {
    const Held held = find_locked(requests[i]);
    if (!held || !held->persistent) continue;
    for (const auto& each : held->holders) each->starts();
  }
}

void tell_started(int count, RequestPointer requests, const CallTime& time) {
  const std::uint64_t share = (time.end_ns - time.begin_ns) / static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) {
    const Held held = find_locked(requests[i]);
    if (!held || !held->persistent) continue;
    const bool active = std::exchange(held->active, true);
    for (const auto& each : held->holders) each->started(time, share, active);
  }
}

bool take_freed(MpiRequest request) {
  const Held held = find_locked(request);
  if (!held) return false;
  bool later = false;
  for (const auto& each : held->holders) later |= each->freed(held->active);
  const std::lock_guard<std::mutex> lock(mutex);
  held->asked_by = nullptr;  // a jump out of an error handler may have left it
  if (!later) return erase(*held), false;
  freed.push_back(request);
  number_freed = freed.size();
  return true;
}

void look_at_freed() {
  end_all_freed([](RequestPointer request, int* done, StatusPointer status) {
    return mpi.Test(request, done, status);
  });
}

void wait_for_freed() {
  end_all_freed([](RequestPointer request, int* done, StatusPointer status) {
    *done = 1;
    return mpi.Wait(request, status);
  });
}

void leave_held() {
  std::unordered_map<std::uintptr_t, Held> left;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    left.swap(table);
    number_held = 0;
  }
  for (const auto& [bits, held] : left) tell_left(*held);
}

}  // namespace sumac
