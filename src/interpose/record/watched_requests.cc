// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/record/watched_requests.h"

#include <algorithm>

#include "interpose/mpi/handles.h"

namespace sumac {

RequestNumber WatchedRequests::add(MPI_Request request, bool persistent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_by_[handle_bits(request)].push_back({next_, persistent, !persistent});
  held_.fetch_add(1, std::memory_order_relaxed);
  return next_++;
}

std::vector<ActiveRequest> WatchedRequests::active(const MPI_Request* requests, int count) {
  std::vector<ActiveRequest> found;
  std::unordered_map<std::uintptr_t, std::size_t> taken;  // of one handle, which may occur twice
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const std::uintptr_t handle = handle_bits(requests[i]);
    const auto held = held_by_.find(handle);
    if (held == held_by_.end()) continue;
    const std::size_t which = held->second.size() > 1 ? taken[handle]++ : 0;
    if (which >= held->second.size() || !held->second[which].active) continue;
    found.push_back({i, handle, held->second[which].number});
  }
  return found;
}

bool WatchedRequests::complete(const ActiveRequest& request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto held = held_by_.find(request.handle);
  if (held == held_by_.end()) return false;
  auto& all = held->second;
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Held& each) { return each.number == request.number; });
  if (it == all.end() || !it->active) return false;
  it->active = false;
  if (it->persistent) return true;
  all.erase(it);
  if (all.empty()) held_by_.erase(held);
  held_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

std::vector<RequestNumber> WatchedRequests::restart(const MPI_Request* requests, int count) {
  std::vector<RequestNumber> numbers;
  if (!any()) return numbers;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int i = 0; i < count; ++i) {
    const auto held = held_by_.find(handle_bits(requests[i]));
    if (held == held_by_.end() || !held->second.front().persistent) continue;
    held->second.front().active = true;
    numbers.push_back(held->second.front().number);
  }
  return numbers;
}

bool WatchedRequests::forget(MPI_Request request, RequestNumber& number) {
  if (!any()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto held = held_by_.find(handle_bits(request));
  if (held == held_by_.end() || !held->second.front().persistent) return false;
  number = held->second.front().number;
  held_by_.erase(held);
  held_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// Never destroyed: other threads may still use it while the process ends.
WatchedRequests& watched_requests() {
  static auto* all = new WatchedRequests;
  return *all;
}

}  // namespace sumac
