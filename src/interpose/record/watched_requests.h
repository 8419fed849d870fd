// SPDX-License-Identifier: BSD-3-Clause
// The requests of collectives that the program holds, by number: handles are used again, and an MPI
// may have one handle for all operations that ended at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/record/watch.h"

namespace sumac {

struct ActiveRequest {
  int index;  // in the array of the call
  std::uintptr_t handle;
  RequestNumber number;
};

// Any thread may call these.
class WatchedRequests {
 public:
  bool any() const { return held_.load(std::memory_order_relaxed) != 0; }
  RequestNumber add(MPI_Request request, bool persistent);
  // Those of the array that are under way.
  std::vector<ActiveRequest> active(const MPI_Request* requests, int count);
  // Notes the end; false where another thread has.
  bool complete(const ActiveRequest& request);
  // Notes the start of the persistent ones of the array; returns their numbers.
  std::vector<RequestNumber> restart(const MPI_Request* requests, int count);
  // Returns false where the request is none of a persistent collective.
  bool forget(MPI_Request request, RequestNumber& number);

 private:
  struct Held {
    RequestNumber number;
    bool persistent, active;
  };
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::deque<Held>> held_by_;
  RequestNumber next_ = 0;
  std::atomic<int> held_{0};
};

WatchedRequests& watched_requests();

}  // namespace sumac
