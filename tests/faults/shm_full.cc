// SPDX-License-Identifier: BSD-3-Clause
// /dev/shm is full when communicators are set up: with no page left, with one, with two, ..., so
// that memory ends at each step. Those for which it does not suffice are left to the MPI; those
// that were there before go on, since their memory was reserved.
// shm_full PAGES: up to so many, then steps of a third up to 16 MiB. /dev/shm must be the job's
// own.
#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "lacks.h"

namespace {

using namespace test;

constexpr const char* kFiller = "/dev/shm/filler";
constexpr long kPage = 4096;

long free_pages() {
  struct statvfs status = {};
  if (statvfs("/dev/shm", &status) != 0) return -1;
  return static_cast<long>(status.f_bavail) * static_cast<long>(status.f_frsize) / kPage;
}

// Rank 0 leaves so many pages free, or as many as there are.
void leave(long pages) {
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

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const long every = argc > 1 ? std::atol(argv[1]) : 64;
  MPI_Comm kept;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  CHECK(warm_up(MPI_COMM_WORLD) && warm_up(kept), "nothing is served");
  int served = 0, left = 0;
  for (long pages = 0; pages < (16L << 20) / kPage; pages += pages < every ? 1 : pages / 3) {
    step("%ld pages", pages);
    leave(pages);
    const bool taken = use_new(static_cast<int>(pages));
    ++(taken ? served : left);
    if (!taken) CHECK_HANDED_DOWN("shared memory is full or refused");
    for (MPI_Comm comm : {MPI_COMM_WORLD, kept}) {
      use(comm, static_cast<int>(pages));
      CHECK_TAKEN();
      use_much(comm, 1);
    }
  }
  leave(1L << 30);
  CHECK(use_new(5), "not served though there is room again: '%s'", path());
  native().Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(kFiller);
  CHECK(served > 0 && left > 0, "%d served, %d left to the MPI", served, left);
  if (rank == 0) std::printf("%d communicators served, %d left to the MPI\n", served, left);
  MPI_Comm_free(&kept);
  return finish();
}
