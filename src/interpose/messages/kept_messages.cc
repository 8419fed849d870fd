// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/kept_messages.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

struct Kept {
  std::unique_ptr<Delivery> message;
  bool receives;
};

std::mutex mutex;
auto& kept = *new std::unordered_map<std::uintptr_t, Kept>;  // by the bits of the request
auto& adopted = *new std::vector<MPI_Request>;
std::atomic<std::size_t> number_kept, number_adopted;

// Tests or waits for one of `adopted`. Returns true when it has ended.
template <class Ask>
bool end_adopted(MPI_Request request, Ask ask) {
  MPI_Request handle = request;
  MPI_Status status;
  int done = 0;
  const int error = ask(&handle, &done, &status);
  if (error == MPI_SUCCESS && !done) return false;
  end_message(request, status, error == MPI_SUCCESS);
  return true;
}

template <class Ask>
void end_all_adopted(Ask ask) {
  if (number_adopted.load(std::memory_order_relaxed) == 0) return;
  std::vector<MPI_Request> asked;  // by this thread alone
  {
    const std::lock_guard<std::mutex> lock(mutex);
    asked.swap(adopted);
  }
  std::erase_if(asked, [&](MPI_Request request) { return end_adopted(request, ask); });
  const std::lock_guard<std::mutex> lock(mutex);
  adopted.insert(adopted.end(), asked.begin(), asked.end());
  number_adopted = adopted.size();
}

}  // namespace

void keep_message(MPI_Request request, std::unique_ptr<Delivery> message, bool receives) {
  const std::lock_guard<std::mutex> lock(mutex);
  kept.insert_or_assign(handle_bits(request), Kept{std::move(message), receives});
  number_kept = kept.size();
}

void keep_unless_ended(MPI_Request request, std::unique_ptr<Delivery> message, bool receives) {
  int done = 0;
  MPI_Status status;
  mpi.Request_get_status(request, &done, &status);
  if (!done) return keep_message(request, std::move(message), receives);
  if (receives) message->deliver(status);
}

bool no_message_kept() { return number_kept.load(std::memory_order_relaxed) == 0; }

bool is_any_kept(int count, const MPI_Request* requests) {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::any_of(requests, requests + count,
                     [](MPI_Request request) { return kept.contains(handle_bits(request)); });
}

void end_message(MPI_Request request, const MPI_Status& status, bool success) {
  Kept own;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = kept.find(handle_bits(request));
    if (found == kept.end()) return;
    own = std::move(found->second);
    kept.erase(found);
    number_kept = kept.size();
  }
  if (own.receives && success) own.message->deliver(status);
}

void deliver_message(MPI_Request request, const MPI_Status& status) {
  Delivery* received = nullptr;  // MPI allows one thread at a time to ask about a request
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = kept.find(handle_bits(request));
    if (found != kept.end() && found->second.receives) received = found->second.message.get();
  }
  if (received) received->deliver(status);
}

void adopt_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(mutex);
  adopted.push_back(request);
  number_adopted = adopted.size();
}

void look_at_adopted() {
  end_all_adopted([](MPI_Request* request, int* done, MPI_Status* status) {
    return mpi.Test(request, done, status);
  });
}

void wait_for_adopted() {
  end_all_adopted([](MPI_Request* request, int* done, MPI_Status* status) {
    *done = 1;
    return mpi.Wait(request, status);
  });
}

}  // namespace sumac
