// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/carriers.h"

#include <mutex>
#include <vector>

#include "interpose/backend/messages.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

constexpr int kMostTags = 32767;  // that every MPI has

std::mutex mutex;
MPI_Comm self = MPI_COMM_NULL;
int tags_used = 0;
std::vector<int> tags_returned;

// Without the world there may be no MPI_COMM_SELF.
bool make_self() {
  int initialized = 0;
  mpi.Initialized(&initialized);
  return initialized && make_inner(MPI_COMM_SELF, 0, 0, self);
}

}  // namespace

bool make_carrier(MPI_Request& request, int& tag) {
  const std::lock_guard<std::mutex> hold(mutex);
  if (self == MPI_COMM_NULL && !make_self()) return false;
  if (tags_returned.empty() && tags_used > kMostTags) return false;
  tag = tags_returned.empty() ? tags_used : tags_returned.back();
  if (mpi.Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self, &request) != MPI_SUCCESS) return false;
  if (tags_returned.empty()) {
    ++tags_used;
  } else {
    tags_returned.pop_back();
  }
  return true;
}

void return_carrier(int tag) {
  const std::lock_guard<std::mutex> hold(mutex);
  tags_returned.push_back(tag);
}

void deliver_carrier(int tag) { mpi.Send(nullptr, 0, MPI_BYTE, 0, tag, self); }

void end_carriers() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (self != MPI_COMM_NULL) mpi.Comm_free(&self);
}

}  // namespace sumac
