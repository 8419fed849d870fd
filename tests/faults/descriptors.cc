// SPDX-License-Identifier: BSD-3-Clause
// A rank has no file descriptor left, or few, when communicators are set up.
// descriptors RANK FEW: FEW are left on that rank; -1: on all
#include <fcntl.h>
#include <sys/resource.h>

#include <vector>

#include "lacks.h"

namespace {

using namespace test;

std::vector<int> taken;

// Leaves `few` free ones.
void leave(int few) {
  const rlimit limit = {256, 256};
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "a limit");
  for (int file = 0; (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken.push_back(file);
  for (; few > 0 && !taken.empty(); --few) {
    close(taken.back());
    taken.pop_back();
  }
}

void give_back() {
  for (const int file : taken) close(file);
  taken.clear();
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (argc < 3) return 2;
  const int who = std::atoi(argv[1]), few = std::atoi(argv[2]);
  if (who < 0 || who == rank) leave(few);
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
  return finish();
}
