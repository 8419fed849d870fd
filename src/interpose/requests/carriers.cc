// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/requests.h"

#include <mutex>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/world.h"

namespace sumac {
namespace {

constexpr int kMostTags = 32767;  // every MPI has tags up to this one

std::mutex mutex;
// These are the communicators of carriers. The first is self_communicator(); the last one has tags
// that were never used.
auto& selves = *new std::vector<MpiComm>;
int tags_used = 0;  // tags used of the last communicator
auto& returned = *new std::vector<Carrier>;

// Takes a tag that was never used. MPIs have some thousand communicators, so there can be some
// hundred million carriers.
bool take_unused(Carrier& carrier) {
  if (selves.empty() || tags_used > kMostTags) {
    MpiComm self = selves.empty() ? self_communicator() : kMpi.comm_null;
    if (self == kMpi.comm_null && !make_inner(kMpi.comm_self, 0, 0, self)) return false;
    selves.push_back(self);
    tags_used = 0;
  }
  carrier = {selves.back(), tags_used++};
  return true;
}

bool take(Carrier& carrier) {
  const std::lock_guard<std::mutex> hold(mutex);
  if (returned.empty()) return take_unused(carrier);
  carrier = returned.back();
  returned.pop_back();
  return true;
}

}  // namespace

bool make_carrier(MpiRequest& request, Carrier& carrier) {
  if (!take(carrier)) return false;
  if (mpi.Recv_init(nullptr, 0, kMpi.byte, 0, carrier.tag, carrier.comm, one(request)) ==
      kMpiSuccess) {
    return true;
  }
  return_carrier(carrier);
  return false;
}

void return_carrier(const Carrier& carrier) {
  const std::lock_guard<std::mutex> hold(mutex);
  returned.push_back(carrier);
}

void deliver_carrier(const Carrier& carrier) {
  mpi.Send(nullptr, 0, kMpi.byte, 0, carrier.tag, carrier.comm);
}

void end_carriers() {
  const std::lock_guard<std::mutex> hold(mutex);
  for (std::size_t i = 1; i < selves.size(); ++i) mpi.Comm_free(one(selves[i]));
  selves.clear();
  returned.clear();
}

}  // namespace sumac
