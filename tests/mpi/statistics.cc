// SPDX-License-Identifier: BSD-3-Clause
// A program whose calls and whose end are known, for counted.sh.
// statistics [calls | counted | exit | quick | abort | kill | mpi_abort [RANK]]
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

int rank, ranks;

void allreduces(int calls) {
  const double one = 1;
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (sum != ranks) std::abort();
}

// Calls of other sizes: each before its communicator is set up.
void first_calls() {
  MPI_Comm fresh;
  std::vector<int> data(static_cast<std::size_t>(10 * ranks)), all(data);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Bcast(data.data(), 10, MPI_INT, 0, fresh);
  MPI_Comm_free(&fresh);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Allgather(data.data(), 10, MPI_INT, all.data(), 10, MPI_INT, fresh);
  MPI_Comm_free(&fresh);
}

// Of every rooted collective one call in place.
void rooted() {
  std::vector<int> all(static_cast<std::size_t>(3 * ranks)), own(3, rank);
  std::vector<int> counts(static_cast<std::size_t>(ranks), 3), places(counts);
  for (int r = 0; r < ranks; ++r) places[static_cast<std::size_t>(r)] = 3 * r;
  MPI_Request request;
  const MPI_Comm world = MPI_COMM_WORLD;
  void* const gives = rank == 0 ? MPI_IN_PLACE : own.data();
  MPI_Gather(own.data(), 3, MPI_INT, all.data(), 3, MPI_INT, 0, world);
  MPI_Gather(gives, 3, MPI_INT, all.data(), 3, MPI_INT, 0, world);
  MPI_Igather(own.data(), 3, MPI_INT, all.data(), 3, MPI_INT, 0, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; rank == 0 && r < ranks; ++r) {
    if (all[static_cast<std::size_t>(3 * r)] != r) std::abort();
  }
  // On other ranks these arrays mean nothing.
  const int* const at_root = rank == 0 ? counts.data() : nullptr;
  MPI_Gatherv(gives, 3, MPI_INT, all.data(), at_root, places.data(), MPI_INT, 0, world);
  MPI_Igatherv(own.data(), 3, MPI_INT, all.data(), at_root, places.data(), MPI_INT, 0, world,
               &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  void* const gets = rank == 0 ? MPI_IN_PLACE : own.data();
  MPI_Scatter(all.data(), 3, MPI_INT, own.data(), 3, MPI_INT, 0, world);
  MPI_Scatter(all.data(), 3, MPI_INT, gets, 3, MPI_INT, 0, world);
  MPI_Iscatter(all.data(), 3, MPI_INT, own.data(), 3, MPI_INT, 0, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Scatterv(all.data(), at_root, places.data(), MPI_INT, gets, 3, MPI_INT, 0, world);
  MPI_Iscatterv(all.data(), at_root, places.data(), MPI_INT, own.data(), 3, MPI_INT, 0, world,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (own[0] != rank) std::abort();
}

void scans() {
  const double own[5] = {1, 1, 1, 1, 1};
  double sums[5] = {};
  MPI_Request request;
  MPI_Scan(own, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (sums[4] != rank + 1) std::abort();
  MPI_Iscan(own, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Exscan(own, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iexscan(own, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// On a ring, in which each rank has two neighbours.
void neighbors() {
  const int periods[] = {1};
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, periods, 0, &ring);
  double in[8] = {}, out[8] = {};
  const int counts[] = {1, 2}, received[] = {2, 1}, places[] = {0, 2};
  const MPI_Aint byte_places[] = {0, 32};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT}, from[] = {MPI_FLOAT, MPI_DOUBLE};
  const int threes[] = {3, 3}, gathered[] = {0, 4};
  MPI_Request request;
  MPI_Neighbor_allgather(in, 3, MPI_DOUBLE, out, 3, MPI_DOUBLE, ring);
  MPI_Neighbor_allgatherv(in, 3, MPI_DOUBLE, out, threes, gathered, MPI_DOUBLE, ring);
  MPI_Neighbor_alltoall(in, 3, MPI_DOUBLE, out, 3, MPI_DOUBLE, ring);
  MPI_Neighbor_alltoallv(in, counts, places, MPI_DOUBLE, out, received, places, MPI_DOUBLE, ring);
  MPI_Neighbor_alltoallw(in, counts, byte_places, types, out, received, byte_places, from, ring);
  MPI_Ineighbor_allgather(in, 3, MPI_DOUBLE, out, 3, MPI_DOUBLE, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ineighbor_alltoallw(in, counts, byte_places, types, out, received, byte_places, from, ring,
                          &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&ring);
}

// A persistent one, if the MPI has it; not in every MPI's header.
void persistent() {
  using Init = int (*)(const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype,
                       int, MPI_Comm, MPI_Info, MPI_Request*);
  const auto init = reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, "MPI_Scatterv_init"));
  std::vector<int> places(static_cast<std::size_t>(ranks)), counts(places.size(), 1);
  std::iota(places.begin(), places.end(), 0);
  int own = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  const bool made =
      init && init(places.data(), counts.data(), places.data(), MPI_INT, &own, 1, MPI_INT, 0,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request) == MPI_SUCCESS;
  if (rank == 0) std::printf("persistent %d\n", made);
  if (!made) return;
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  if (own != rank) std::abort();
}

// Ends the process as it is told, or returns where that is by MPI_Finalize.
void end(const std::string& how, int who) {
  // Nobody's report.
  // MPICH's launcher kills all when one has ended: rank 0, which reports, is to be the first.
  if (how == "exit" && rank != 0) sleep(1);
  if (how == "exit" && fork() == 0) std::exit(0);
  if (how == "exit") std::exit(0);
  if (how == "quick") _exit(0);
  if (rank != who) return;
  if (how == "abort") std::abort();
  if (how == "kill") raise(SIGKILL);
  if (how == "mpi_abort") MPI_Abort(MPI_COMM_WORLD, 7);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "calls";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (how == "counted") {
    rooted();
    scans();
    neighbors();
    persistent();
  } else {
    allreduces(100);
    first_calls();
  }
  end(how, argc > 2 ? std::atoi(argv[2]) : 0);
  MPI_Finalize();
  return 0;
}
