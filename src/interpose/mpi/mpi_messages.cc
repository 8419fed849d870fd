// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/mpi_messages.h"

#include <atomic>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {
namespace {

std::atomic<int> live_objects{0};
std::atomic<bool> may_free{true};

}  // namespace

MpiMessages::MpiMessages(MpiComm all) : all_(all) { ++live_objects; }

MpiMessages::~MpiMessages() {
  --live_objects;
  if (!may_free) return;
  mpi.Comm_free(one(all_));
}

void MpiMessages::set_freeing(bool may) { may_free = may; }

int MpiMessages::live() { return live_objects; }

void MpiMessages::add_peers(std::vector<int>& peers) const {
  for (const Pending& pending : pending_) peers.push_back(pending.peer);
}

// If a message cannot be sent, a peer waits for it forever, so the job ends.
void MpiMessages::add(MpiRequest request, Counter& completed, int peer, int error) {
  if (error != kMpiSuccess) {
    log_error("error[message]: the MPI refused a message to or from rank %d; ending the job", peer);
    end_job(all_);
  }
  requests_.push_back(request);
  pending_.push_back({&completed, peer});
}

void MpiMessages::send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) {
  MpiRequest request = kMpi.request_null;
  const int error =
      mpi.Isend(from, static_cast<int>(bytes), kMpi.byte, peer, stream.tag, all_, one(request));
  ++stream.sends;
  add(request, stream.sent, peer, error);
}

void MpiMessages::receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) {
  MpiRequest request = kMpi.request_null;
  const int error =
      mpi.Irecv(to, static_cast<int>(bytes), kMpi.byte, peer, stream.tag, all_, one(request));
  ++stream.receives;
  add(request, stream.received, peer, error);
}

bool MpiMessages::poll() {
  if (requests_.empty()) return false;
  completed_.resize(requests_.size());
  int count = 0;
  const int error = mpi.Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                 completed_.data(), statuses_ignore());
  if (error != kMpiSuccess) {
    log_error("error[message]: a message between ranks failed; ending the job");
    end_job(all_);
  }
  if (count <= 0) return false;
  for (int i = 0; i < count; ++i) {
    Counter& counter = *pending_[static_cast<std::size_t>(completed_[i])].completed;
    publish(counter, counter.load(std::memory_order_relaxed) + 1);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == kMpi.request_null) continue;
    requests_.set(kept, requests_[i]);
    pending_[kept++] = pending_[i];
  }
  requests_.resize(kept);
  pending_.resize(kept);
  return true;
}

bool make_inner(MpiComm comm, int color, int rank, MpiComm& inner) {
  inner = kMpi.comm_null;
  MpiErrhandler handler = kMpi.errhandler_null;
  mpi.Comm_get_errhandler(comm, one(handler));
  // In MPICH this may also mean that the communicator has no handler, and its errors are those of
  // MPI_COMM_WORLD. If the handler were set back, errors would be fatal for good.
  const bool stays = family() == Family::mpich && handler == kMpi.errors_are_fatal;
  if (!stays) return_errors(comm);
  const int error = mpi.Comm_split(comm, color, rank, one(inner));
  if (!stays) mpi.Comm_set_errhandler(comm, handler);
  if (handler != kMpi.errhandler_null) mpi.Errhandler_free(one(handler));
  if (error != kMpiSuccess) inner = kMpi.comm_null;
  if (inner != kMpi.comm_null) return_errors(inner);
  return error == kMpiSuccess;
}

}  // namespace sumac
