// SPDX-License-Identifier: BSD-3-Clause
// A program whose calls are known, for profiled_test.py to compare with its profile.
// profiled SCENARIO: calls, threads, none, killed, many, left.
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank, ranks;
std::vector<double> in(100000), out(100000);

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void blocking() {
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(in.data(), out.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  int five[5] = {};
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, five, 5, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 4; ++i) MPI_Bcast(out.data(), 104, MPI_CHAR, ranks - 1, MPI_COMM_WORLD);
}

void nonblocking() {
  for (int i = 0; i < 5; ++i) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Request requests[2];
    for (int j = 0; j < 2; ++j) {
      MPI_Iallreduce(&in[j], &out[100 * j], 10, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, &requests[j]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request request;
  MPI_Ibcast(out.data(), 7, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

void on_others() {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "half");
  int size;
  MPI_Comm_size(half, &size);
  std::vector<int> own(4), all(static_cast<std::size_t>(4 * size));
  for (int i = 0; i < 6; ++i) MPI_Allgather(own.data(), 4, MPI_INT, all.data(), 4, MPI_INT, half);
  MPI_Comm_free(&half);
  // The rank that is late is waited for by all others, in this call only.
  MPI_Comm late;
  MPI_Comm_dup(MPI_COMM_WORLD, &late);
  MPI_Comm_set_name(late, "late");
  MPI_Barrier(late);
  MPI_Barrier(late);
  if (rank == ranks - 1) sleep_ms(400);
  MPI_Barrier(late);
  MPI_Request request;
  MPI_Barrier(late);
  if (rank == 0) sleep_ms(300);
  MPI_Ibarrier(late, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&late);
}

void parts() {
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places = counts;
  int sent = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[static_cast<std::size_t>(r)] = 2;
    places[static_cast<std::size_t>(r)] = 2 * sent++;
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Alltoallv(in.data(), counts.data(), places.data(), MPI_DOUBLE, out.data(), counts.data(),
                  places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

void local() {
  MPI_Datatype column;
  MPI_Type_vector(8, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  char packed[64];
  for (int i = 0; i < 8; ++i) {
    int position = 0;
    MPI_Pack(in.data(), 1, column, packed, sizeof packed, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(packed, sizeof packed, &position, out.data(), 1, column, MPI_COMM_WORLD);
  }
  MPI_Type_free(&column);
  for (int i = 0; i < 3; ++i) MPI_Reduce_local(in.data(), out.data(), 50, MPI_DOUBLE, MPI_PROD);
}

// Collectives that Sumac only counts. The tests take MPI_Scatterv as an example of these: only its
// root knows the sizes, so the ranks share nothing by which they could choose an algorithm.
void counted() {
  std::vector<int> all(static_cast<std::size_t>(3 * ranks)), own(3);
  const std::vector<int> counts(static_cast<std::size_t>(ranks), 3), places(counts.size());
  for (int i = 0; i < 2; ++i) {
    MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, own.data(), 3, MPI_INT,
                 ranks - 1, MPI_COMM_WORLD);
  }
  MPI_Request request;
  MPI_Iscan(in.data(), out.data(), 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

using PersistentInit = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                               MPI_Request*);

void persistent() {
  // Not in this MPI's header, where it has it by an older name.
  const auto persistent_init =
      reinterpret_cast<PersistentInit>(dlsym(RTLD_DEFAULT, "MPI_Allreduce_init"));
  if (!persistent_init) return;
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    persistent_init(&in[i], &out[200 * i], 20 + i, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &requests[i]);
  }
  for (int i = 0; i < 7; ++i) {
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void threads() {
  constexpr int kThreads = 3;
  MPI_Comm comms[kThreads];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    // Ranks use them in different orders.
    all.emplace_back([&, t] {
      if ((rank + t) % kThreads == 0) sleep_ms(30);
      std::vector<int> from(100), to(100);
      for (int i = 0; i < 50; ++i) {
        MPI_Allreduce(from.data(), to.data(), 10 + t, MPI_INT, MPI_SUM, comms[t]);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void killed() {
  for (int i = 0; i < 200; ++i) {
    MPI_Allreduce(in.data(), out.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sleep_ms(12);
  }
  if (rank == ranks - 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

void many() {
  for (int i = 0; i < 3000; ++i) {
    MPI_Allreduce(in.data(), out.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

std::jmp_buf place;
void jump(MPI_Comm*, int*, ...) { std::longjmp(place, 1); }

// Calls that an error handler leaves: later ones are noted as before.
void left() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  static int i = 0;  // not changed by the jump
  for (; i < 4; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (setjmp(place) == 0) {
      MPI_Allreduce(in.data(), out.data(), 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Bcast(out.data(), 3, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "calls";
  int level = 0;
  MPI_Init_thread(&argc, &argv, scenario == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (scenario == "calls") {
    blocking();
    nonblocking();
    on_others();
    parts();
    counted();
    local();
    persistent();
  }
  if (scenario == "threads") threads();
  if (scenario == "killed") killed();
  if (scenario == "many") many();
  if (scenario == "left") left();
  MPI_Finalize();
  if (rank == 0) std::puts("passed: 1");
  return 0;
}
