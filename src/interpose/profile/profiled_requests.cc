// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/profile/profiled_requests.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "base/clock.h"
#include "interpose/mpi/handles.h"

namespace sumac {
namespace {

RequestCalls below;

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

// One call by which the program completes requests, or asks about them.
class Completion {
 public:
  Completion(int count, const MPI_Request* requests) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (int i = 0; i < count; ++i) {
      const std::uintptr_t bits = handle_bits(requests[i]);
      if (find_active(bits) != table().end()) asked_.push_back({i, bits});
    }
    begin_ = clock_ns();
  }

  // `ended(i)`: true when the program now knows that the i-th request has ended.
  template <class Ended>
  void note(Ended ended) {
    if (asked_.empty()) return;
    const std::uint64_t now = clock_ns(), share = (now - begin_) / asked_.size();
    for (const Asked& asked : asked_) {
      EndedCall call;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto at = find_active(asked.bits);
        if (at == table().end()) continue;
        at->second.call.completing += share;
        if (!ended(asked.index)) continue;
        call = at->second.call;
        call.end = now;
        at->second.active = false;
        if (!at->second.persistent) {
          table().erase(at);
          --held;
        }
      }
      profile().add(call);
    }
  }

 private:
  struct Asked {
    int index;
    std::uintptr_t bits;
  };
  std::vector<Asked> asked_;
  std::uint64_t begin_ = 0;
};

// Makes a call about requests. `ended(error, i)` as for note().
template <class Make, class Ended>
int complete(int count, const MPI_Request* requests, Make make, Ended ended) {
  if (!any_held() || count <= 0 || !requests) return make();
  Completion completion(count, requests);
  const int error = make();
  completion.note([&](int i) { return ended(error, i); });
  return error;
}

int wait(MPI_Request* request, MPI_Status* status) {
  return complete(
      1, request, [&] { return below.wait(request, status); }, [](int, int) { return true; });
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  return complete(
      1, request, [&] { return below.test(request, done, status); },
      [&](int error, int) { return error != MPI_SUCCESS || *done; });
}

// After an error some requests may go on: those that are still there.
bool is_gone(int error, const MPI_Request* requests, int i) {
  return error == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return complete(
      count, requests, [&] { return below.waitall(count, requests, statuses); },
      [&](int error, int i) { return is_gone(error, requests, i); });
}

int testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return complete(
      count, requests, [&] { return below.testall(count, requests, done, statuses); },
      [&](int error, int i) {
        return (error != MPI_SUCCESS || *done) && is_gone(error, requests, i);
      });
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return complete(
      count, requests, [&] { return below.waitany(count, requests, index, status); },
      [&](int, int i) { return i == *index; });
}

int testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  return complete(
      count, requests, [&] { return below.testany(count, requests, index, done, status); },
      [&](int error, int i) { return (error != MPI_SUCCESS || *done) && i == *index; });
}

template <class Make>
int some(Make make, int count, MPI_Request* requests, int* ended, int* indices,
         MPI_Status* statuses) {
  return complete(
      count, requests, [&] { return make(count, requests, ended, indices, statuses); },
      [&](int, int i) {
        const int number = *ended == MPI_UNDEFINED ? 0 : *ended;
        return std::find(indices, indices + number, i) != indices + number;
      });
}

int waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return some(below.waitsome, count, requests, ended, indices, statuses);
}

int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return some(below.testsome, count, requests, ended, indices, statuses);
}

// The persistent collectives among the requests that have been started, each for its share of the
// time.
void note_starts(int count, const MPI_Request* requests, std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard<std::mutex> lock(mutex);
  const std::uint64_t share = (end - begin) / static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) {
    const auto [first, last] = table().equal_range(handle_bits(requests[i]));
    for (auto at = first; at != last; ++at) {
      Held& own = at->second;
      if (!own.persistent || own.active) continue;
      own.active = true;
      own.call.begin = begin;
      own.call.inside = share;
      own.call.completing = 0;
      ++own.call.sequence;
      break;
    }
  }
}

template <class Make>
int start_all(int count, MPI_Request* requests, Make make) {
  if (!any_held() || count <= 0 || !requests) return make();
  const std::uint64_t begin = clock_ns();
  const int error = make();
  if (error == MPI_SUCCESS) note_starts(count, requests, begin, clock_ns());
  return error;
}

int start(MPI_Request* request) {
  return start_all(1, request, [&] { return below.start(request); });
}

int startall(int count, MPI_Request* requests) {
  return start_all(count, requests, [&] { return below.startall(count, requests); });
}

int request_free(MPI_Request* request) {
  if (any_held() && request) {
    const std::lock_guard<std::mutex> lock(mutex);
    held -= static_cast<int>(table().erase(handle_bits(*request)));
  }
  return below.request_free(request);
}

}  // namespace

void hold_request(MPI_Request request, const EndedCall& made, bool persistent) {
  const std::lock_guard<std::mutex> lock(mutex);
  Held own{made, persistent, !persistent};
  if (persistent) own.call.sequence = UINT32_MAX;  // that of the start before the first
  table().emplace(handle_bits(request), own);
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

RequestCalls profiled_request_calls(const RequestCalls& calls) {
  below = calls;
  RequestCalls own = calls;
  own.start = start;
  own.startall = startall;
  own.wait = wait;
  own.waitall = waitall;
  own.waitany = waitany;
  own.waitsome = waitsome;
  own.test = test;
  own.testall = testall;
  own.testany = testany;
  own.testsome = testsome;
  own.request_free = request_free;
  return own;
}

}  // namespace sumac
