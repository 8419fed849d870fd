// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/neighbor_calls.h"

#include "interpose/messages/packed_blocks.h"
#include "interpose/messages/packed_exchange.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/neighbors.h"
#include "interpose/process/entry.h"

namespace sumac {
namespace {

using Blocks = BlockArguments<MPI_Aint>;

// below(sent, received): the MPI's call.
template <class Below>
int serve(const Blocks& sent, const Blocks& received, MPI_Comm comm, MPI_Request* request,
          Below below) {
  if (!mpi_is_up() || is_paused() || comm == MPI_COMM_NULL) return below(sent, received);
  Neighbors neighbors;
  const int error = find_neighbors(comm, neighbors);
  // Without a topology, the MPI tells.
  if (error == MPI_ERR_TOPOLOGY) return below(sent, received);
  if (error != MPI_SUCCESS) return error;
  using Side = PackedBlocks<MPI_Aint>;
  auto exchange = std::make_unique<PackedExchange<Side>>(
      [&] { return Side(sent, std::move(neighbors.to), comm); },
      [&] { return Side(received, std::move(neighbors.from), comm); });
  return run_exchange(std::move(exchange), request, below);
}

int exchange_now(const void* in, const int* in_counts, const MPI_Aint* in_places,
                 const MPI_Datatype* in_types, void* out, const int* out_counts,
                 const MPI_Aint* out_places, const MPI_Datatype* out_types, MPI_Comm comm) {
  return serve({const_cast<void*>(in), in_counts, in_places, in_types},
               {out, out_counts, out_places, out_types}, comm, nullptr,
               [&](const Blocks& sent, const Blocks& received) {
                 return mpi.Neighbor_alltoallw(sent.address, sent.counts, sent.places, sent.types,
                                               received.address, received.counts, received.places,
                                               received.types, comm);
               });
}

int begin_exchange(const void* in, const int* in_counts, const MPI_Aint* in_places,
                   const MPI_Datatype* in_types, void* out, const int* out_counts,
                   const MPI_Aint* out_places, const MPI_Datatype* out_types, MPI_Comm comm,
                   MPI_Request* request) {
  return serve({const_cast<void*>(in), in_counts, in_places, in_types},
               {out, out_counts, out_places, out_types}, comm, request,
               [&](const Blocks& sent, const Blocks& received) {
                 return mpi.Ineighbor_alltoallw(sent.address, sent.counts, sent.places, sent.types,
                                                received.address, received.counts, received.places,
                                                received.types, comm, request);
               });
}

}  // namespace

void serve_neighbors(void (*serve)(int call, void* function)) {
  serve(SUMAC_CALL_Neighbor_alltoallw, reinterpret_cast<void*>(exchange_now));
  serve(SUMAC_CALL_Ineighbor_alltoallw, reinterpret_cast<void*>(begin_exchange));
}

}  // namespace sumac
