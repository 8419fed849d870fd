// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/mail.h"

#include <cstdio>
#include <utility>

namespace sumac::simulated {

void Mail::add(MPI_Request request, Counter& completed, SmpiMessages& owner) {
  requests_.push_back(request);
  pending_.push_back({&completed, &owner});
  ++owner.under_way_;
}

void Mail::wait() {
  if (requests_.empty()) {
    std::fputs("sumac: error[simulation]: a rank waits for messages, and none is under way\n",
               stderr);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  int index = 0;
  PMPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
  complete(static_cast<std::size_t>(index));
}

bool Mail::wait_also_for(MPI_Request& other, MPI_Status* status) {
  MPI_Status found;
  int index = 0;
  requests_.push_back(other);
  const auto all = static_cast<int>(requests_.size());
  PMPI_Waitany(all, requests_.data(), &index, &found);
  other = requests_.back();
  requests_.pop_back();
  if (index == all - 1) {
    if (status != MPI_STATUS_IGNORE) *status = found;
    return true;
  }
  complete(static_cast<std::size_t>(index));
  return false;
}

void Mail::look() {
  if (requests_.empty()) return;
  found_.resize(requests_.size());
  int count = 0;
  PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, found_.data(),
                MPI_STATUSES_IGNORE);
  for (std::size_t i = requests_.size(); count > 0 && i-- > 0;) {
    if (requests_[i] == MPI_REQUEST_NULL) complete(i);
  }
}

void Mail::complete(std::size_t index) {
  const Pending done = pending_[index];
  requests_[index] = requests_.back();
  pending_[index] = pending_.back();
  requests_.pop_back();
  pending_.pop_back();
  publish(*done.completed, done.completed->load(std::memory_order_relaxed) + 1);
  --done.owner->under_way_;
  done.owner->moved_ = true;
}

SmpiMessages::~SmpiMessages() { PMPI_Comm_free(&comm_); }

void SmpiMessages::send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  ++stream.sends;
  PMPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, peer, stream.tag, comm_, &request);
  mail_.add(request, stream.sent, *this);
}

void SmpiMessages::receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  ++stream.receives;
  PMPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, peer, stream.tag, comm_, &request);
  mail_.add(request, stream.received, *this);
}

bool SmpiMessages::poll() { return std::exchange(moved_, false); }

}  // namespace sumac::simulated
