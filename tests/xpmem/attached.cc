// SPDX-License-Identifier: BSD-3-Clause
// What a program may do with buffers that other ranks see through XPMEM, and with its descriptors.
// The memory of malloc() is that of a stand-in for XPMEM's library, which is preloaded.
#include <dlfcn.h>

#include "mpi/cases.h"
#include "mpi/direct_memory.h"

namespace {

using namespace test;

constexpr std::size_t kCount = 100000;

// An all-reduce of buffers that are whole pages.
class Reduction {
 public:
  Reduction() { call_.use(in_.at(), out_.at()); }

  // Returns true if it went direct.
  bool run() {
    call_.begin();
    const bool direct = std::strcmp(path(), "direct") == 0;
    call_.check();
    return direct;
  }
  // Tries come seldom after others have failed.
  bool goes_direct_in_the_end() {
    for (std::uint64_t call = 0; call < 200; ++call) {
      call_.fill(call);
      if (run()) return true;
    }
    return false;
  }
  void protect_input(int how) const {
    CHECK(mprotect(in_.at(), in_.bytes(), how) == 0, "errno %d", errno);
  }

 private:
  static constexpr std::size_t kBytes = (kCount * sizeof(int) + kPage - 1) / kPage * kPage;
  const Memory in_{Origin::aligned, kBytes, pools()[0]}, out_{Origin::aligned, kBytes, pools()[1]};
  Call call_{{.what = What::allreduce, .counts = {kCount}}};
};

// Memory is freed and allocated again, mostly at the same addresses.
void reuse_memory() {
  for (int round = 0; round < 50; ++round) {
    Reduction reduction;
    CHECK(reduction.run(), "round %d: path '%s'", round, path());
  }
}

// One rank's input may only be read, as under a program that follows its writes.
void protect_memory() {
  Reduction reduction;
  if (rank == ranks - 1) reduction.protect_input(PROT_READ);
  for (int call = 0; call < 3; ++call) CHECK(!reduction.run(), "path '%s'", path());
  if (rank == ranks - 1) reduction.protect_input(PROT_READ | PROT_WRITE);
  CHECK(reduction.goes_direct_in_the_end(), "path '%s'", path());
}

// One rank closes descriptors that it has not opened. XPMEM ends there, and its windows with it.
void close_descriptor() {
  Reduction reduction;
  CHECK(reduction.goes_direct_in_the_end(), "path '%s'", path());
  void* const close_it = dlsym(RTLD_DEFAULT, "stand_in_close");
  CHECK(close_it, "the stand-in is not preloaded");
  if (rank == ranks - 1 && close_it) reinterpret_cast<void (*)()>(close_it)();
  CHECK(!reduction.goes_direct_in_the_end(), "path '%s'", path());
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  reuse_memory();
  protect_memory();
  close_descriptor();
  return finish();
}
