// SPDX-License-Identifier: BSD-3-Clause
#include "call.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "mpi_types.h"

namespace sumac::bench {
namespace {

constexpr std::size_t kPage = 4096;

std::byte* allocate(std::size_t bytes) {
  const std::size_t size = (bytes / kPage + 1) * kPage;
  void* const memory = std::aligned_alloc(kPage, size);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, size);
  return static_cast<std::byte*>(memory);
}

void require(int error, const char* what, const Case& test) {
  if (error == MPI_SUCCESS) return;
  throw std::runtime_error(name_of(test.collective, test.kind) + ": the " + what +
                           " ended with error " + std::to_string(error));
}

}  // namespace

Buffers::Buffers(std::size_t bytes) : send_(allocate(bytes)), recv_(allocate(bytes)) {}
void Buffers::Free::operator()(std::byte* memory) const { std::free(memory); }

Call::Call(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
           MPI_Comm comm)
    : functions_(functions),
      test_(test),
      send_(buffers.send()),
      recv_(buffers.recv()),
      type_(mpi_type(test.type)),
      op_(mpi_op(test.op)),
      comm_(comm) {
  if (test.in_place && (!info_of(test.collective).has_root || test.root == rank))
    send_ = MPI_IN_PLACE;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  part_ = static_cast<int>(test.count) / ranks;
  for (int r = 0; r < ranks; ++r) {
    counts_.push_back(part_);
    places_.push_back(r * part_);
  }
  if (test.kind == Kind::persistent) require(initialize(), "initialization", test);
}

Call::~Call() {
  if (test_.kind == Kind::persistent && request_ != MPI_REQUEST_NULL)
    functions_.request_free(&request_);
}

void Call::start() {
  switch (test_.kind) {
    case Kind::blocking:
      return require(make_blocking(), "call", test_);
    case Kind::nonblocking:
      return require(make_nonblocking(), "start", test_);
    case Kind::persistent:
      return require(functions_.start(&request_), "start", test_);
  }
}

void Call::wait() {
  if (test_.kind == Kind::blocking) return;
  require(functions_.wait(&request_, MPI_STATUS_IGNORE), "wait", test_);
}

bool Call::test() {
  int over = 1;
  if (test_.kind != Kind::blocking)
    require(functions_.test(&request_, &over, MPI_STATUS_IGNORE), "test", test_);
  return over != 0;
}

int Call::make_blocking() {
  const int count = static_cast<int>(test_.count);
  switch (test_.collective) {
    case Collective::allreduce:
      return functions_.allreduce(send_, recv_, count, type_, op_, comm_);
    case Collective::reduce:
      return functions_.reduce(send_, recv_, count, type_, op_, test_.root, comm_);
    case Collective::bcast:
      return functions_.bcast(recv_, count, type_, test_.root, comm_);
    case Collective::barrier:
      return functions_.barrier(comm_);
    case Collective::reduce_scatter:
      if (test_.with_counts)
        return functions_.reduce_scatter(send_, recv_, counts_.data(), type_, op_, comm_);
      return functions_.reduce_scatter_block(send_, recv_, part_, type_, op_, comm_);
    case Collective::allgather:
      if (test_.with_counts)
        return functions_.allgatherv(send_, part_, type_, recv_, counts_.data(), places_.data(),
                                     type_, comm_);
      return functions_.allgather(send_, part_, type_, recv_, part_, type_, comm_);
    case Collective::alltoall:
      return functions_.alltoall(send_, part_, type_, recv_, part_, type_, comm_);
    case Collective::alltoallv:
      return functions_.alltoallv(send_, counts_.data(), places_.data(), type_, recv_,
                                  counts_.data(), places_.data(), type_, comm_);
    case Collective::reduce_local:
      break;  // measured in local.cc
  }
  return MPI_ERR_OTHER;
}

int Call::make_nonblocking() {
  const int count = static_cast<int>(test_.count);
  switch (test_.collective) {
    case Collective::allreduce:
      return functions_.iallreduce(send_, recv_, count, type_, op_, comm_, &request_);
    case Collective::reduce:
      return functions_.ireduce(send_, recv_, count, type_, op_, test_.root, comm_, &request_);
    case Collective::bcast:
      return functions_.ibcast(recv_, count, type_, test_.root, comm_, &request_);
    case Collective::barrier:
      return functions_.ibarrier(comm_, &request_);
    case Collective::reduce_scatter:
      if (test_.with_counts)
        return functions_.ireduce_scatter(send_, recv_, counts_.data(), type_, op_, comm_,
                                          &request_);
      return functions_.ireduce_scatter_block(send_, recv_, part_, type_, op_, comm_, &request_);
    case Collective::allgather:
      if (test_.with_counts)
        return functions_.iallgatherv(send_, part_, type_, recv_, counts_.data(), places_.data(),
                                      type_, comm_, &request_);
      return functions_.iallgather(send_, part_, type_, recv_, part_, type_, comm_, &request_);
    case Collective::alltoall:
      return functions_.ialltoall(send_, part_, type_, recv_, part_, type_, comm_, &request_);
    case Collective::alltoallv:
      return functions_.ialltoallv(send_, counts_.data(), places_.data(), type_, recv_,
                                   counts_.data(), places_.data(), type_, comm_, &request_);
    case Collective::reduce_local:
      break;  // measured in local.cc
  }
  return MPI_ERR_OTHER;
}

int Call::initialize() {
  const int count = static_cast<int>(test_.count);
  const MPI_Info info = MPI_INFO_NULL;
  const Functions& f = functions_;
  switch (test_.collective) {
    case Collective::allreduce:
      if (f.allreduce_init == nullptr) return MPI_ERR_OTHER;
      return f.allreduce_init(send_, recv_, count, type_, op_, comm_, info, &request_);
    case Collective::reduce:
      if (f.reduce_init == nullptr) return MPI_ERR_OTHER;
      return f.reduce_init(send_, recv_, count, type_, op_, test_.root, comm_, info, &request_);
    case Collective::bcast:
      if (f.bcast_init == nullptr) return MPI_ERR_OTHER;
      return f.bcast_init(recv_, count, type_, test_.root, comm_, info, &request_);
    case Collective::barrier:
      return f.barrier_init == nullptr ? MPI_ERR_OTHER : f.barrier_init(comm_, info, &request_);
    case Collective::reduce_scatter:
      if (f.reduce_scatter_block_init == nullptr) return MPI_ERR_OTHER;
      return f.reduce_scatter_block_init(send_, recv_, part_, type_, op_, comm_, info, &request_);
    case Collective::allgather:
      if (f.allgather_init == nullptr) return MPI_ERR_OTHER;
      return f.allgather_init(send_, part_, type_, recv_, part_, type_, comm_, info, &request_);
    case Collective::alltoall:
      if (f.alltoall_init == nullptr) return MPI_ERR_OTHER;
      return f.alltoall_init(send_, part_, type_, recv_, part_, type_, comm_, info, &request_);
    case Collective::alltoallv:
      if (f.alltoallv_init == nullptr) return MPI_ERR_OTHER;
      return f.alltoallv_init(send_, counts_.data(), places_.data(), type_, recv_, counts_.data(),
                              places_.data(), type_, comm_, info, &request_);
    case Collective::reduce_local:
      break;  // measured in local.cc
  }
  return MPI_ERR_OTHER;
}

}  // namespace sumac::bench
