// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/carriers.h"

#include <mutex>
#include <vector>

#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/self_communicator.h"

namespace sumac {
namespace {

constexpr int kMostTags = 32767;  // that every MPI has

std::mutex mutex;
int tags_used = 0;
std::vector<int> tags_returned;

}  // namespace

bool make_carrier(MPI_Request& request, int& tag) {
  const std::lock_guard<std::mutex> hold(mutex);
  const MPI_Comm self = self_communicator();
  if (self == MPI_COMM_NULL) return false;
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

void deliver_carrier(int tag) { mpi.Send(nullptr, 0, MPI_BYTE, 0, tag, self_communicator()); }

}  // namespace sumac
