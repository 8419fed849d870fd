// SPDX-License-Identifier: BSD-3-Clause
// What a program may do with buffers that other ranks see through XPMEM, and with its descriptors.
// The memory of malloc() is that of a stand-in for XPMEM's library, which is preloaded.
#include <dlfcn.h>
#include <sys/mman.h>

#include <numeric>
#include <string>

#include "mpi/check.h"
#include "mpi/groups.h"

namespace {

using namespace test;

constexpr std::size_t kPage = 4096, kCount = 100000;

// Memory of whole pages.
class Buffer {
 public:
  Buffer() {
    void* found = nullptr;
    if (posix_memalign(&found, kPage, kBytes) != 0) std::abort();
    at_ = static_cast<int*>(found);
  }
  ~Buffer() { std::free(at_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  int* at() const { return at_; }
  void protect(int how) const { CHECK(mprotect(at_, kBytes, how) == 0, "errno %d", errno); }

 private:
  static constexpr std::size_t kBytes = (kCount * sizeof(int) + kPage - 1) / kPage * kPage;
  int* at_;
};

int round_number = 0;

void fill(const Buffer& in) { std::iota(in.at(), in.at() + kCount, ++round_number * (rank + 1)); }

// An all-reduce of what fill() has written. Returns true if it went direct.
bool reduce(const Buffer& in, const Buffer& out) {
  std::fill_n(out.at(), kCount, -1);
  MPI_Allreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const std::string way = path();
  const int base = round_number * ranks * (ranks + 1) / 2;
  int wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    wrong += out.at()[i] != base + ranks * static_cast<int>(i);
  }
  CHECK(wrong == 0, "%d of %zu are wrong, path '%s'", wrong, kCount, way.c_str());
  return way == "direct";
}

// Tries come seldom after others have failed.
bool reduces_direct_in_the_end(const Buffer& in, const Buffer& out) {
  for (int call = 0; call < 200; ++call) {
    fill(in);
    if (reduce(in, out)) return true;
  }
  return false;
}

// Memory is freed and allocated again, mostly at the same addresses.
void reuse_memory() {
  for (int round = 0; round < 50; ++round) {
    const Buffer in, out;
    fill(in);
    CHECK(reduce(in, out), "round %d: path '%s'", round, path());
  }
}

// One rank's input may only be read, as under a program that follows its writes.
void protect_memory() {
  const Buffer in, out;
  fill(in);
  if (rank == ranks - 1) in.protect(PROT_READ);
  for (int call = 0; call < 3; ++call) CHECK(!reduce(in, out), "path '%s'", path());
  if (rank == ranks - 1) in.protect(PROT_READ | PROT_WRITE);
  CHECK(reduces_direct_in_the_end(in, out), "path '%s'", path());
}

// One rank closes descriptors that it has not opened. XPMEM ends there, and its windows with it.
void close_descriptor() {
  const Buffer in, out;
  CHECK(reduces_direct_in_the_end(in, out), "path '%s'", path());
  void* const close_it = dlsym(RTLD_DEFAULT, "stand_in_close");
  CHECK(close_it, "the stand-in is not preloaded");
  if (rank == ranks - 1 && close_it) reinterpret_cast<void (*)()>(close_it)();
  CHECK(!reduces_direct_in_the_end(in, out), "path '%s'", path());
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
