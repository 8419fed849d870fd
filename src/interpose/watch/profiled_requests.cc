// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/profile.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/mpi/handles.h"

namespace sumac {
namespace {

struct Held {
  EndedCall call;
  bool persistent = false, active = false;
};

std::mutex mutex;
std::atomic<int> held{0};
// An MPI may have one handle for all operations that have ended at once.
using Table = std::unordered_multimap<std::uintptr_t, Held>;
Table& table() {
  static auto* the_table = new Table;
  return *the_table;
}

bool any_held() { return held.load(std::memory_order_relaxed) != 0; }

Table::iterator find_active(std::uintptr_t bits) {
  const auto [first, last] = table().equal_range(bits);
  for (auto at = first; at != last; ++at) {
    if (at->second.active) return at;
  }
  return table().end();
}

// Nobody is told that a persistent request has ended if a call about it alone returns an error: the
// handle stays. So a start that is taken for active, and is started again or freed, has ended.
using EndedCalls = std::vector<EndedCall>;
void end_untold(const Held& own, EndedCalls& ended) {
  if (own.persistent && own.active) ended.push_back(own.call);
}

// Notes the persistent collectives among the requests that have been started, each with its share
// of the time.
void note_starts(int count, RequestPointer requests, std::uint64_t begin, std::uint64_t end,
                 EndedCalls& ended) {
  const std::lock_guard<std::mutex> lock(mutex);
  const std::uint64_t share = (end - begin) / static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) {
    const auto [first, last] = table().equal_range(requests[i].bits);
    for (auto at = first; at != last; ++at) {
      Held& own = at->second;
      if (!own.persistent) continue;
      end_untold(own, ended);
      own.active = true;
      own.call.begin = begin;
      own.call.inside = share;
      own.call.completing = 0;
      own.call.end = end;
      ++own.call.sequence;
      break;
    }
  }
}

void add_all(const EndedCalls& ended) {
  for (const EndedCall& each : ended) profile().add(each);
}

class ProfileListener final : public RequestListener {
 public:
  bool takes_time() const override { return true; }
  bool holds_any(int count, RequestPointer requests) override {
    if (!any_held()) return false;
    const std::lock_guard<std::mutex> lock(mutex);
    return std::any_of(requests, requests + count, is_active);
  }

  void told(const RequestEvent& event) override {
    if (event.lasting) return;
    EndedCalls ended;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      add_time(event);
      for (const RequestEnd& each : event.ends) end(each.request, event.end_ns, ended);
    }
    add_all(ended);
  }

  void started(int count, RequestPointer requests, std::uint64_t begin_ns,
               std::uint64_t end_ns) override {
    EndedCalls ended;
    if (any_held()) note_starts(count, requests, begin_ns, end_ns, ended);
    add_all(ended);
  }

  bool takes_freed(MpiRequest request) override {
    if (!any_held()) return false;
    EndedCalls ended;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto [first, last] = table().equal_range(request.bits);
      for (auto at = first; at != last; ++at) end_untold(at->second, ended);
      held -= static_cast<int>(table().erase(request.bits));
    }
    add_all(ended);
    return false;
  }

 private:
  static bool is_active(MpiRequest request) { return find_active(request.bits) != table().end(); }

  // The caller must hold the lock. The time of a call about several requests is shared equally by
  // those that are held.
  static void add_time(const RequestEvent& event) {
    const auto held_ones = std::count_if(event.asked.begin(), event.asked.end(), is_active);
    if (held_ones == 0) return;
    const std::uint64_t share =
        (event.end_ns - event.begin_ns) / static_cast<std::uint64_t>(held_ones);
    for (const MpiRequest each : event.asked) {
      const auto at = find_active(each.bits);
      if (at != table().end()) at->second.call.completing += share;
    }
  }
  static void end(MpiRequest request, std::uint64_t end_ns, EndedCalls& ended) {
    const auto at = find_active(request.bits);
    if (at == table().end()) return;
    ended.push_back(at->second.call);
    ended.back().end = end_ns;
    at->second.active = false;
    if (at->second.persistent) return;
    table().erase(at);
    --held;
  }
};

}  // namespace

void hold_request(MpiRequest request, const EndedCall& made, bool persistent) {
  const std::lock_guard<std::mutex> lock(mutex);
  Held own{made, persistent, !persistent};
  if (persistent) own.call.sequence = UINT32_MAX;  // the number of the start before the first
  table().emplace(request.bits, own);
  ++held;
}

void end_profiled_requests() {
  Table left;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    left.swap(table());
    held = 0;
  }
  for (const auto& [bits, own] : left) {
    if (own.active) profile().add(own.call);
  }
}

RequestListener& profile_listener() {
  static auto* the_listener = new ProfileListener;
  return *the_listener;
}

}  // namespace sumac
