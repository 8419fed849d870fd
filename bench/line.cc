// SPDX-License-Identifier: BSD-3-Clause
#include "line.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "timing.h"

namespace sumac::bench {
namespace {

// The least of several batches counts: an interrupt lengthens few of them.
constexpr int kBatches = 6;
constexpr int kTrips = 40;
constexpr int kSpins = 1 << 14;  // then the core is offered to others
constexpr char kPattern[] = "/dev/shm/sumac-bench-XXXXXX";

// 128 bytes apart: processors fetch lines in pairs.
struct alignas(128) Cell {
  std::atomic<unsigned> value;
};

void wait_for(const Cell& cell, unsigned value) {
  for (int spins = 0; cell.value.load(std::memory_order_acquire) != value; spins++)
    if (spins > kSpins) sched_yield();
}

void* map(const char* path, std::size_t bytes) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Makes a file of zeros with a name of its own. Leaves the path empty where that fails.
void make_file(char* path, std::size_t bytes) {
  const int file = mkostemp(path, O_CLOEXEC);
  if (file < 0) {
    path[0] = 0;
    return;
  }
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
    unlink(path);
    path[0] = 0;
  }
  close(file);
}

}  // namespace

struct Line::Cells {
  Cell there, back;
};

Line::Line(MPI_Comm node, const Functions& native) {
  MPI_Comm_rank(node, &rank_);
  MPI_Comm_size(node, &ranks_);
  if (ranks_ == 1 || ranks_ > sysconf(_SC_NPROCESSORS_ONLN)) return;
  const std::size_t bytes = sizeof(Cells) * static_cast<std::size_t>(ranks_);
  char path[sizeof kPattern];
  std::copy(std::begin(kPattern), std::end(kPattern), path);
  if (rank_ == 0) make_file(path, bytes);
  native.bcast(path, sizeof path, MPI_CHAR, 0, node);
  void* const memory = path[0] ? map(path, bytes) : nullptr;
  const int mine = memory ? 1 : 0;
  int all = 0;
  native.allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, node);
  if (rank_ == 0 && path[0]) unlink(path);
  if (all)
    cells_ = static_cast<Cells*>(memory);
  else if (memory)
    munmap(memory, bytes);
}

Line::~Line() {
  if (cells_) munmap(cells_, sizeof(Cells) * static_cast<std::size_t>(ranks_));
}

double Line::there_and_back() {
  if (!cells_) return 0;
  if (rank_ > 0) {
    answer();
    return 0;
  }
  double slowest = 0;
  const unsigned start = trips_;
  for (int peer = 1; peer < ranks_; peer++) {
    trips_ = start;
    slowest = std::max(slowest, to(peer));
  }
  return slowest;
}

double Line::to(int peer) {
  Cells& cells = cells_[peer];
  std::int64_t least = INT64_MAX;
  for (int batch = 0; batch < kBatches; batch++) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < kTrips; i++) {
      cells.there.value.store(++trips_, std::memory_order_release);
      wait_for(cells.back, trips_);
    }
    least = std::min(least, now_ns() - start);
  }
  return static_cast<double>(least) / kTrips;
}

void Line::answer() {
  Cells& cells = cells_[rank_];
  for (int i = 0; i < kBatches * kTrips; i++) {
    wait_for(cells.there, ++trips_);
    cells.back.value.store(trips_, std::memory_order_release);
  }
}

}  // namespace sumac::bench
