// SPDX-License-Identifier: BSD-3-Clause
// Collectives in threads with small stacks: Sumac itself needs little of them.
// small_stacks KIB: the size of the stacks
#include <pthread.h>

#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

MPI_Comm comm;

void sums(std::size_t count) {
  std::vector<double> in(count, rank), out(count, -1);
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm);
  CHECK(out.back() == ranks * (ranks - 1) / 2, "%zu: %g, '%s'", count, out.back(), path());
  MPI_Reduce(in.data(), out.data(), static_cast<int>(count), MPI_DOUBLE, MPI_MAX, 0, comm);
  CHECK(rank != 0 || out.back() == ranks - 1, "%zu: %g, '%s'", count, out.back(), path());
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), static_cast<int>(count), MPI_DOUBLE, MPI_MIN, comm,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out.back() == 0, "%zu: %g", count, out.back());
}

void others(std::size_t count) {
  std::vector<int> in(count * static_cast<std::size_t>(ranks), rank), out(in.size(), -1);
  const int n = static_cast<int>(count);
  MPI_Alltoall(in.data(), n, MPI_INT, out.data(), n, MPI_INT, comm);
  CHECK(out.back() == ranks - 1, "%zu: %d, '%s'", count, out.back(), path());
  MPI_Allgather(in.data(), n, MPI_INT, out.data(), n, MPI_INT, comm);
  CHECK(out.back() == ranks - 1, "%zu: %d, '%s'", count, out.back(), path());
  MPI_Datatype every_other;
  MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  std::vector<int> data(2 * count, rank);
  MPI_Bcast(data.data(), 1, every_other, ranks - 1, comm);
  CHECK(data[2 * count - 2] == ranks - 1, "%zu: %d, '%s'", count, data[2 * count - 2], path());
  MPI_Type_free(&every_other);
  MPI_Barrier(comm);
}

void* all_calls(void*) {
  for (const std::size_t count : {1, 5, 20, 200, 2000, 200000}) {
    step("%zu elements", count);
    for (int i = 0; i < 3; ++i) sums(count);
    others(count);
  }
  use(comm, 1);
  CHECK_TAKEN();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv, MPI_THREAD_SERIALIZED);
  const std::size_t stack = argc > 1 ? std::strtoul(argv[1], nullptr, 10) << 10 : 1 << 20;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int thread = 0; thread < 3; ++thread) {  // the first one sets the communicator up
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t id;
    const bool made = pthread_attr_setstacksize(&attributes, stack) == 0 &&
                      pthread_create(&id, &attributes, all_calls, nullptr) == 0;
    if (CHECK(made, "a thread with %zu bytes", stack)) pthread_join(id, nullptr);
    pthread_attr_destroy(&attributes);
  }
  MPI_Comm_free(&comm);
  return finish();
}
