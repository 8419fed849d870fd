// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/mpi_messages.h"

#include <atomic>

#include "interpose/mpi/family.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/return_errors.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {
namespace {

std::atomic<int> live_objects{0};
std::atomic<bool> may_free{true};

}  // namespace

MpiMessages::MpiMessages(MPI_Comm all) : all_(all) { ++live_objects; }

MpiMessages::~MpiMessages() {
  --live_objects;
  if (!may_free) return;
  mpi.Comm_free(&all_);
}

void MpiMessages::set_freeing(bool may) { may_free = may; }

int MpiMessages::live() { return live_objects; }

void MpiMessages::add_peers(std::vector<int>& peers) const {
  for (const Pending& pending : pending_) peers.push_back(pending.peer);
}

// A message that cannot be sent leaves a peer waiting, so the job ends.
void MpiMessages::add(MPI_Request request, Counter& completed, int peer, int error) {
  if (error != MPI_SUCCESS) {
    log_here("error[message]: the MPI refused a message to or from rank %d; ending the job", peer);
    end_job(all_);
  }
  requests_.push_back(request);
  pending_.push_back({&completed, peer});
}

void MpiMessages::send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error =
      mpi.Isend(from, static_cast<int>(bytes), MPI_BYTE, peer, stream.tag, all_, &request);
  ++stream.sends;
  add(request, stream.sent, peer, error);
}

void MpiMessages::receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error =
      mpi.Irecv(to, static_cast<int>(bytes), MPI_BYTE, peer, stream.tag, all_, &request);
  ++stream.receives;
  add(request, stream.received, peer, error);
}

bool MpiMessages::poll() {
  if (requests_.empty()) return false;
  completed_.resize(requests_.size());
  int count = 0;
  const int error = mpi.Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                 completed_.data(), MPI_STATUSES_IGNORE);
  if (error != MPI_SUCCESS) {
    log_here("error[message]: a message between ranks failed; ending the job");
    end_job(all_);
  }
  if (count <= 0) return false;
  for (int i = 0; i < count; ++i) {
    Counter& counter = *pending_[static_cast<std::size_t>(completed_[i])].completed;
    publish(counter, counter.load(std::memory_order_relaxed) + 1);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    pending_[kept++] = pending_[i];
  }
  requests_.resize(kept);
  pending_.resize(kept);
  return true;
}

bool make_inner(MPI_Comm comm, int color, int rank, MPI_Comm& inner) {
  inner = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  mpi.Comm_get_errhandler(comm, &handler);
  // In MPICH this may also mean that the communicator has no handler, and its errors are
  // MPI_COMM_WORLD's. Set back, they would be fatal for good.
  const bool stays = family() == Family::mpich && handler == MPI_ERRORS_ARE_FATAL;
  if (!stays) return_errors(comm);
  const int error = mpi.Comm_split(comm, color, rank, &inner);
  if (!stays) mpi.Comm_set_errhandler(comm, handler);
  if (handler != MPI_ERRHANDLER_NULL) mpi.Errhandler_free(&handler);
  if (error != MPI_SUCCESS) inner = MPI_COMM_NULL;
  if (inner != MPI_COMM_NULL) return_errors(inner);
  return error == MPI_SUCCESS;
}

}  // namespace sumac
