// SPDX-License-Identifier: BSD-3-Clause
// Communicators made while something is lacking, or while others are at work: they work, whoever
// serves them, and all ranks agree on who does.
// lacks shm_full PAGES        /dev/shm, which must be the job's own, is full when communicators are
//                             set up: with no page left, with one, with two, ..., so that memory
//                             ends at each step, up to PAGES, then steps of a third up to 16 MiB.
//                             Those that were there before go on: their memory was reserved.
// lacks descriptors RANK FEW  RANK (-1: each) has FEW file descriptors left
// lacks file_limit            the limit of the sizes of files (ulimit -f) sinks to nothing: no
//                             signal ends the program, and what is written at the end fails
//                             without harm
// lacks many COMMUNICATORS    as many are alive at once, or as the MPI has
// lacks nothing FILE          collectives until the file is there, or for 30 s; each rank prints
//                             its process
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "../mpi/exercise.h"

namespace {

using namespace test;

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

constexpr const char* kFiller = "/dev/shm/filler";
constexpr long kPage = 4096;

long free_pages() {
  struct statvfs status = {};
  if (statvfs("/dev/shm", &status) != 0) return -1;
  return static_cast<long>(status.f_bavail) * static_cast<long>(status.f_frsize) / kPage;
}

// Rank 0 leaves so many pages free, or as many as there are.
void leave_pages(long pages) {
  native().Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    unlink(kFiller);
    const int file = open(kFiller, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const long fill = std::max(0L, free_pages() - pages);
    CHECK(fill == 0 || posix_fallocate(file, 0, fill * kPage) == 0, "%ld pages", fill);
    close(file);
  }
  native().Barrier(MPI_COMM_WORLD);
}

void fill_shm(long every) {
  MPI_Comm kept;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  CHECK(warm_up(MPI_COMM_WORLD) && warm_up(kept), "nothing is served");
  int served = 0, left = 0;
  for (long pages = 0; pages < (16L << 20) / kPage; pages += pages < every ? 1 : pages / 3) {
    step("%ld pages", pages);
    leave_pages(pages);
    const bool taken = use_new(static_cast<int>(pages));
    ++(taken ? served : left);
    if (!taken) CHECK_HANDED_DOWN("shared memory is full or refused");
    for (MPI_Comm comm : {MPI_COMM_WORLD, kept}) {
      use(comm, static_cast<int>(pages));
      CHECK_TAKEN();
      use_much(comm, 1);
    }
  }
  leave_pages(1L << 30);
  CHECK(use_new(5), "not served though there is room again: '%s'", path());
  native().Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(kFiller);
  CHECK(served > 0 && left > 0, "%d served, %d left to the MPI", served, left);
  if (rank == 0) std::printf("%d communicators served, %d left to the MPI\n", served, left);
  MPI_Comm_free(&kept);
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

void lack_descriptors(int who, int few) {
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

void sink_file_limit() {
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
    if (!taken) CHECK_HANDED_DOWN("shared memory is full or refused");
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

void make_many(std::size_t wanted) {
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

void go_on(const char* file) {
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
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return i < argc ? std::atol(argv[i]) : 0; };
  if (what == "shm_full") fill_shm(number(2));
  if (what == "descriptors") {
    lack_descriptors(static_cast<int>(number(2)), static_cast<int>(number(3)));
  }
  if (what == "file_limit") sink_file_limit();
  if (what == "many") make_many(static_cast<std::size_t>(number(2)));
  if (what == "nothing" && argc > 2) go_on(argv[2]);
  return finish();
}
