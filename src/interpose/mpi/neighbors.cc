// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/neighbors.h"

#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

int find_in_grid(MpiComm comm, Neighbors& neighbors) {
  int dimensions = 0;
  int error = mpi.Cartdim_get(comm, &dimensions);
  for (int d = 0; d < dimensions && error == kMpiSuccess; ++d) {
    int before = kMpi.proc_null, after = kMpi.proc_null;
    error = mpi.Cart_shift(comm, d, 1, &before, &after);
    neighbors.to.insert(neighbors.to.end(), {before, after});
  }
  neighbors.from = neighbors.to;
  return error;
}

int find_in_graph(MpiComm comm, Neighbors& neighbors) {
  int rank = 0, count = 0;
  mpi.Comm_rank(comm, &rank);
  const int error = mpi.Graph_neighbors_count(comm, rank, &count);
  if (error != kMpiSuccess) return error;
  neighbors.to.resize(static_cast<std::size_t>(count));
  mpi.Graph_neighbors(comm, rank, count, neighbors.to.data());
  neighbors.from = neighbors.to;
  return error;
}

// The call asks for the weights because not every MPI takes MPI_UNWEIGHTED for a weighted graph.
// MPICH leaves the weights of an unweighted one alone, and has MPI_UNWEIGHTED as data: a back end
// that referred to it could only be opened with its MPI in the global scope.
int* place_of(std::vector<int>& weights, int weighted) {
  if (family() == Family::mpich || weighted) return weights.data();
  return kMpi.unweighted;
}

int find_in_distributed_graph(MpiComm comm, Neighbors& neighbors) {
  int from = 0, to = 0, weighted = 0;
  const int error = mpi.Dist_graph_neighbors_count(comm, &from, &to, &weighted);
  if (error != kMpiSuccess) return error;
  neighbors.from.resize(static_cast<std::size_t>(from));
  neighbors.to.resize(static_cast<std::size_t>(to));
  std::vector<int> from_weights(neighbors.from.size() + 1), to_weights(neighbors.to.size() + 1);
  return mpi.Dist_graph_neighbors(comm, from, neighbors.from.data(),
                                  place_of(from_weights, weighted), to, neighbors.to.data(),
                                  place_of(to_weights, weighted));
}

}  // namespace

int find_neighbors(MpiComm comm, Neighbors& neighbors) {
  int topology = kMpi.undefined;
  const int error = mpi.Topo_test(comm, &topology);
  if (error != kMpiSuccess) return error;
  if (topology == kMpi.topology_cart) return find_in_grid(comm, neighbors);
  if (topology == kMpi.topology_graph) return find_in_graph(comm, neighbors);
  if (topology == kMpi.topology_dist_graph) return find_in_distributed_graph(comm, neighbors);
  return kMpi.err_topology;
}

}  // namespace sumac
