// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/kept_messages.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/messages/packing_calls.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

struct Kept {
  std::unique_ptr<Delivery> message;
  bool receives;
};

std::mutex mutex;
auto& kept = *new std::unordered_map<std::uintptr_t, Kept>;  // keyed by the bits of the request
auto& adopted = *new std::vector<MpiRequest>;
std::atomic<std::size_t> number_kept, number_adopted;

// Tests or waits for one of `adopted`. Returns true if it has ended.
template <class Ask>
bool end_adopted(MpiRequest request, Ask ask) {
  MpiRequest handle = request;
  MpiStatus status;
  int done = 0;
  const int error = ask(one(handle), &done, status.pointer());
  if (error == kMpiSuccess && !done) return false;
  end_message(request, status.pointer(), error == kMpiSuccess);
  return true;
}

template <class Ask>
void end_all_adopted(Ask ask) {
  if (number_adopted.load(std::memory_order_relaxed) == 0) return;
  std::vector<MpiRequest> asked;  // only this thread asks about these
  {
    const std::lock_guard<std::mutex> lock(mutex);
    asked.swap(adopted);
  }
  std::erase_if(asked, [&](MpiRequest request) { return end_adopted(request, ask); });
  const std::lock_guard<std::mutex> lock(mutex);
  adopted.insert(adopted.end(), asked.begin(), asked.end());
  number_adopted = adopted.size();
}

}  // namespace

void keep_message(MpiRequest request, std::unique_ptr<Delivery> message, bool receives) {
  const std::lock_guard<std::mutex> lock(mutex);
  kept.insert_or_assign(request.bits, Kept{std::move(message), receives});
  number_kept = kept.size();
}

void keep_unless_ended(MpiRequest request, std::unique_ptr<Delivery> message, bool receives) {
  int done = 0;
  MpiStatus status;
  mpi.Request_get_status(request, &done, status.pointer());
  if (!done) return keep_message(request, std::move(message), receives);
  if (receives) message->deliver(status.pointer());
}

bool no_message_kept() { return number_kept.load(std::memory_order_relaxed) == 0; }

bool is_any_kept(int count, RequestPointer requests) {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::any_of(requests, requests + count,
                     [](MpiRequest request) { return kept.contains(request.bits); });
}

void end_message(MpiRequest request, StatusPointer status, bool success) {
  Kept own;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = kept.find(request.bits);
    if (found == kept.end()) return;
    own = std::move(found->second);
    kept.erase(found);
    number_kept = kept.size();
  }
  if (own.receives && success) own.message->deliver(status);
}

void deliver_message(MpiRequest request, StatusPointer status) {
  Delivery* received = nullptr;  // MPI lets one thread at a time ask about a request
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = kept.find(request.bits);
    if (found != kept.end() && found->second.receives) received = found->second.message.get();
  }
  if (received) received->deliver(status);
}

void adopt_request(MpiRequest request) {
  const std::lock_guard<std::mutex> lock(mutex);
  adopted.push_back(request);
  number_adopted = adopted.size();
}

void look_at_adopted() {
  end_all_adopted([](RequestPointer request, int* done, StatusPointer status) {
    return mpi.Test(request, done, status);
  });
}

void wait_for_adopted() {
  end_all_adopted([](RequestPointer request, int* done, StatusPointer status) {
    *done = 1;
    return mpi.Wait(request, status);
  });
}

namespace {

class MessageListener final : public RequestListener {
 public:
  void look() override { look_at_adopted(); }
  bool holds_any(int count, RequestPointer requests) override {
    return !no_message_kept() && is_any_kept(count, requests);
  }
  void told(const RequestEvent& event) override {
    for (const RequestEnd& each : event.ends) {
      if (event.lasting) {
        deliver_message(each.request, each.status);
      } else {
        end_message(each.request, each.status, each.success);
      }
    }
  }
  bool takes_freed(MpiRequest request) override {
    if (!holds_any(1, one(request))) return false;
    adopt_request(request);
    return true;
  }
};

}  // namespace

RequestListener& message_listener() {
  static auto* the_listener = new MessageListener;
  return *the_listener;
}

}  // namespace sumac
