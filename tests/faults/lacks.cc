// SPDX-License-Identifier: BSD-3-Clause
// Something is lacking when communicators are made, or in use: they work, whoever serves them, and
// all ranks agree on who does.
//   many COMMUNICATORS  as many are alive at once, or as many as the MPI has
//   descriptors RANK FEW  so few are left on that rank; -1: on all
//   file_limit          the limit of the sizes of files (ulimit -f) sinks to nothing
//   attach_lost COLLECTIVE KIND RANK  cross-memory attach worked when the communicator was set up,
//                       and is refused from some call on, to that rank; -1: to all
//   goes_on FILE        nothing, until the file is there, or for 30 s; each rank prints its process
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../environment/refuse.h"
#include "../mpi/exercise.h"
#include "calls.h"

namespace {

using namespace test;

// Whether any of the ranks, or all, say so.
bool on_any(bool here) {
  int own = here, all = 0;
  native().Allreduce(&own, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  return all != 0;
}
bool on_all(bool here) { return !on_any(!here); }

// More than fits into a slot, so that Sumac uses what it has for large messages.
void use_much(MPI_Comm comm, int seed) {
  const std::size_t count = 100000;
  std::vector<int> in(count, rank + seed), out(count, -1);
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm);
  int p = 0;
  MPI_Comm_size(comm, &p);
  const int sum = p * (p - 1) / 2 + p * seed;
  CHECK(out.front() == sum && out[count / 2] == sum && out.back() == sum, "%d, not %d, '%s'",
        out[count / 2], sum, path());
}

// Makes a communicator of all ranks, uses it, frees it. Returns whether Sumac served it.
bool use_new(int seed) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) use(comm, seed + i);
  const bool served = was_taken();
  CHECK(on_all(served) || on_all(!served), "ranks do not agree: '%s'", path());
  use_much(comm, seed);
  MPI_Comm_free(&comm);
  return served;
}

void many(std::size_t wanted) {
  warm_up(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> alive;
  std::size_t served = 0;
  while (alive.size() < wanted) {
    step("communicator %zu", alive.size());
    MPI_Comm comm = MPI_COMM_NULL;
    const bool made = MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS;
    if (on_any(!made)) break;  // MPICH has 2048
    alive.push_back(comm);
    const int seed = static_cast<int>(alive.size());
    use(comm, seed);
    served += was_taken();
    if (seed % 97 == 0) CHECK(on_all(was_taken()) || on_all(!was_taken()), "'%s'", path());
  }
  if (rank == 0) std::printf("%zu alive, %zu served\n", alive.size(), served);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < alive.size(); ++i) {
      step("round %d, communicator %zu", round, i);
      use(alive[i], static_cast<int>(i) + round);
    }
  }
  for (std::size_t i = 0; i < alive.size(); i += 2) MPI_Comm_free(&alive[i]);
  for (std::size_t i = 1; i < alive.size(); i += 2) use(alive[i], 3);
  for (std::size_t i = 1; i < alive.size(); i += 2) MPI_Comm_free(&alive[i]);
  CHECK(alive.size() >= wanted || alive.size() > 1000, "only %zu could be made", alive.size());
}

std::vector<int> held;

// Leaves `few` free ones.
void leave_descriptors(int few) {
  const rlimit limit = {256, 256};
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "a limit");
  for (int file = 0; (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) held.push_back(file);
  for (; few > 0 && !held.empty(); --few) {
    close(held.back());
    held.pop_back();
  }
}

void give_back() {
  for (const int file : held) close(file);
  held.clear();
}

void descriptors(int who, int few) {
  if (who < 0 || who == rank) leave_descriptors(few);
  int served = 0;
  for (int i = 0; i < 4; ++i) {
    step("communicator %d", i);
    served += use_new(i);
  }
  use(MPI_COMM_WORLD, 1);
  use_much(MPI_COMM_WORLD, 1);
  give_back();
  CHECK(use_new(5), "not served though there are descriptors again: '%s'", path());
  if (rank == 0) std::printf("%d of 4 communicators served\n", served);
}

void set_limit(rlim_t bytes) {
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "%llu", static_cast<unsigned long long>(bytes));
}

// No signal ends the program, those are served for which shared memory can be had, and what Sumac
// writes at the end fails without harm.
void file_limit() {
  CHECK(warm_up(MPI_COMM_WORLD), "nothing is served: '%s'", path());
  std::vector<MPI_Comm> alive;  // so that no shared memory can be had again
  int served = 0;
  for (rlim_t bytes = 64 << 20;; bytes /= 2) {
    step("%llu bytes", static_cast<unsigned long long>(bytes));
    set_limit(bytes);
    alive.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &alive.back());
    for (int i = 0; i < 3; ++i) use(alive.back(), i);
    const bool taken = was_taken();
    CHECK(on_all(taken) || on_all(!taken), "ranks do not agree: '%s'", path());
    if (!taken) CHECK_HANDED_DOWN("shared memory is refused");
    served += taken;
    use_much(alive.back(), 1);
    use_much(MPI_COMM_WORLD, 2);
    CHECK_TAKEN();
    if (bytes == 0) break;
  }
  CHECK(served > 0 && served < static_cast<int>(alive.size()), "%d served", served);
  if (rank == 0) std::printf("%d of %zu communicators served\n", served, alive.size());
  for (MPI_Comm& comm : alive) MPI_Comm_free(&comm);
}

void attach_lost(const char* collective, const char* kind, int who) {
  Call call{collective, kind, 300000};
  call.open();
  warm_up(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) call.run(i);
  if (rank == 0) std::printf("served by %s\n", path());
  native().Barrier(MPI_COMM_WORLD);
  if (who < 0 || who == rank) CHECK(refuse_attach() == 0, "a filter");
  for (int i = 3; i < 30; ++i) {
    call.run(i);
    CHECK(call.is_right(i), "call %d", i);
  }
}

void goes_on(const char* file) {
  CHECK(warm_up(MPI_COMM_WORLD), "'%s'", path());
  std::printf("process %d\n", getpid());
  std::fflush(stdout);
  const time_t began = time(nullptr);
  for (int i = 0;; ++i) {
    step("round %d", i);
    use(MPI_COMM_WORLD, i);
    CHECK_TAKEN();
    if (i % 16 == 0) CHECK(use_new(i), "'%s'", path());
    usleep(1000);
    if (on_any(rank == 0 && (access(file, F_OK) == 0 || time(nullptr) - began > 30))) break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::string what = argc > 1 ? argv[1] : "";
  const int given = argc - 2;
  if (what == "many" && given == 1) {
    many(static_cast<std::size_t>(std::atol(argv[2])));
  } else if (what == "descriptors" && given == 2) {
    descriptors(std::atoi(argv[2]), std::atoi(argv[3]));
  } else if (what == "file_limit" && given == 0) {
    file_limit();
  } else if (what == "attach_lost" && given == 3) {
    attach_lost(argv[2], argv[3], std::atoi(argv[4]));
  } else if (what == "goes_on" && given == 1) {
    goes_on(argv[2]);
  } else {
    return 2;
  }
  return finish();
}
