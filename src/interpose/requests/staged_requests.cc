// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/staged_requests.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/events.h"

namespace sumac {
namespace {

struct StagedRequest {
  std::shared_ptr<DeviceData> data;
  bool persistent = false;
  bool active = false;  // its result has not been copied
};

std::mutex mutex;
auto& staged =
    *new std::unordered_map<std::uintptr_t, StagedRequest>;  // keyed by the bits of the request
std::atomic<std::size_t> number_staged{0};
bool are_kept = false;

bool none_staged() { return number_staged.load(std::memory_order_relaxed) == 0; }

// Copies the result of a request that has ended, once. `lasting` says that it is still there.
void end(MpiRequest request, bool success, bool lasting) {
  std::shared_ptr<DeviceData> data;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = staged.find(request.bits);
    if (found == staged.end()) return;
    if (std::exchange(found->second.active, false) && success) data = found->second.data;
    if (!lasting && !found->second.persistent) staged.erase(found);
    number_staged = staged.size();
  }
  if (data) data->deliver();
}

// Copies the input of a persistent operation that the MPI is about to start.
void load_staged(int count, RequestPointer requests) {
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<DeviceData> data;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = staged.find((*(requests + i)).bits);
      if (found == staged.end()) continue;
      found->second.active = true;
      data = found->second.data;
    }
    data->load_again();
  }
}

class StagedListener final : public RequestListener {
 public:
  void starts(int count, RequestPointer requests) override {
    if (!none_staged()) load_staged(count, requests);
  }
  bool holds_any(int count, RequestPointer requests) override {
    if (none_staged()) return false;
    const std::lock_guard<std::mutex> lock(mutex);
    return std::any_of(requests, requests + count,
                       [](MpiRequest request) { return staged.contains(request.bits); });
  }
  void told(const RequestEvent& event) override {
    for (const RequestEnd& each : event.ends) end(each.request, each.success, event.lasting);
  }
  bool takes_freed(MpiRequest request) override {
    if (!none_staged()) forget_staged(request);
    return false;
  }
};

}  // namespace

void keep_staged(MpiRequest request, std::shared_ptr<DeviceData> data, bool persistent) {
  int done = 0;
  MpiStatus status;
  // The request of a call that has ended already may be one that the MPI gives to all such calls.
  if (!persistent) mpi.Request_get_status(request, &done, status.pointer());
  if (done) return data->deliver();
  const std::lock_guard<std::mutex> lock(mutex);
  staged.insert_or_assign(request.bits, StagedRequest{std::move(data), persistent, !persistent});
  number_staged = staged.size();
}

void forget_staged(MpiRequest request) {
  const std::lock_guard<std::mutex> lock(mutex);
  staged.erase(request.bits);
  number_staged = staged.size();
}

void keep_staged_requests() {
  listen(*new StagedListener);
  are_kept = true;
}

bool staged_requests_are_kept() { return are_kept; }

}  // namespace sumac
