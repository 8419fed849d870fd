// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/neighbor_calls.h"

#include "interpose/messages/packed_blocks.h"
#include "interpose/messages/packed_exchange.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/neighbors.h"
#include "interpose/process/entry.h"

namespace sumac {
namespace {

using Blocks = BlockArguments<MpiAint>;

// Serves an exchange; below(sent, received) is the MPI's call.
template <class Below>
int serve(const Blocks& sent, const Blocks& received, MpiComm comm, RequestPointer request,
          Below below) {
  if (!mpi_is_up() || is_paused() || comm == kMpi.comm_null) return below(sent, received);
  Neighbors neighbors;
  const int error = find_neighbors(comm, neighbors);
  // If there is no topology, the MPI reports it.
  if (error == kMpi.err_topology) return below(sent, received);
  if (error != kMpiSuccess) return error;
  using Side = PackedBlocks<MpiAint>;
  auto exchange = std::make_unique<PackedExchange<Side>>(
      [&] { return Side(sent, std::move(neighbors.to), comm); },
      [&] { return Side(received, std::move(neighbors.from), comm); });
  return run_exchange(std::move(exchange), request, below);
}

int exchange_now(const void* in, const int* in_counts, const MpiAint* in_places,
                 DatatypePointer in_types, void* out, const int* out_counts,
                 const MpiAint* out_places, DatatypePointer out_types, MpiComm comm) {
  return serve({const_cast<void*>(in), in_counts, in_places, in_types},
               {out, out_counts, out_places, out_types}, comm, nullptr,
               [&](const Blocks& sent, const Blocks& received) {
                 return mpi.Neighbor_alltoallw(sent.address, sent.counts, sent.places, sent.types,
                                               received.address, received.counts, received.places,
                                               received.types, comm);
               });
}

int begin_exchange(const void* in, const int* in_counts, const MpiAint* in_places,
                   DatatypePointer in_types, void* out, const int* out_counts,
                   const MpiAint* out_places, DatatypePointer out_types, MpiComm comm,
                   RequestPointer request) {
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
  in_front.Neighbor_alltoallw = exchange_now;
  in_front.Ineighbor_alltoallw = begin_exchange;
  for (const sumac_call call : {SUMAC_CALL_Neighbor_alltoallw, SUMAC_CALL_Ineighbor_alltoallw}) {
    serve(call, entry_of(call));
  }
}

}  // namespace sumac
