// SPDX-License-Identifier: BSD-3-Clause
// Buffers in shared memory that the MPI has given to the program (MPI_Win_allocate_shared), and in
// that of MPI_Alloc_mem: they are used directly, alone and together with ordinary ones, until their
// window is freed. Another window may then lie at the same addresses.
// direct_windows ROUNDS [SEED]; at least half of the large calls on ranks of a window must be
// direct.
#include <random>
#include <vector>

#include "check.h"

namespace {

using namespace test;

constexpr std::size_t kMost = 80000;  // elements of a buffer

// Where the buffers of a call are. Drawn alike on all ranks but for `other`.
enum class Where { window, own_part_of_each, alloc_mem, heap, other };

// A window of all ranks of the communicator. Each rank's part has room for two buffers and more.
class Window {
 public:
  Window(MPI_Comm comm, bool apart) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    MPI_Info info = MPI_INFO_NULL;
    if (apart) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    void* base = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(kBytes), sizeof(int), info, comm, &base, &win_);
    if (apart) MPI_Info_free(&info);
  }
  ~Window() { MPI_Win_free(&win_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // A buffer in the part of the member that comes so many after this rank.
  int* part(int after, bool second, std::size_t shift) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* at = nullptr;
    MPI_Win_shared_query(win_, (rank_ + after) % size_, &bytes, &unit, &at);
    return static_cast<int*>(at) + (second ? kBytes / sizeof(int) / 2 : 0) + shift;
  }

 private:
  static constexpr std::size_t kBytes = 2 * (kMost + 2048) * sizeof(int);
  MPI_Comm comm_;
  MPI_Win win_ = MPI_WIN_NULL;
  int rank_ = 0, size_ = 1;
};

int value(std::size_t i, int of, unsigned seed) {
  return static_cast<int>((i * 7 + static_cast<unsigned>(of) * 131 + seed) % 100003);
}

class Calls {
 public:
  Calls(MPI_Comm comm, bool all_in_window) : comm_(comm), all_in_window_(all_in_window) {
    MPI_Comm_rank(comm, &me_);
    MPI_Comm_size(comm, &size_);
  }

  void allreduce(int* in, int* out, std::size_t n, unsigned seed) {
    fill(in, n, me_, seed);
    MPI_Allreduce(in, out, static_cast<int>(n), MPI_INT, MPI_SUM, comm_);
    served();
    check_sum(out, n, seed);
  }
  void reduce(int* in, int* out, std::size_t n, unsigned seed) {
    const int root = static_cast<int>(seed) % size_;
    fill(in, n, me_, seed);
    MPI_Reduce(in, out, static_cast<int>(n), MPI_INT, MPI_SUM, root, comm_);
    served();
    if (me_ == root) check_sum(out, n, seed);
  }
  void bcast(int* buffer, std::size_t n, unsigned seed) {
    const int root = static_cast<int>(seed) % size_;
    fill(buffer, n, me_, seed);
    MPI_Request request;
    const bool blocking = seed % 3 != 0;
    if (blocking) {
      MPI_Bcast(buffer, static_cast<int>(n), MPI_INT, root, comm_);
      served();
    } else {
      MPI_Ibcast(buffer, static_cast<int>(n), MPI_INT, root, comm_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right &= buffer[i] == value(i, root, seed);
    CHECK(right, "bcast of %zu, seed %u, '%s'", n, seed, path());
  }
  void allgather(int* in, int* out, std::size_t n, unsigned seed) {
    const std::size_t each = n / static_cast<std::size_t>(size_);
    fill(in, each, me_, seed);
    MPI_Allgather(in, static_cast<int>(each), MPI_INT, out, static_cast<int>(each), MPI_INT, comm_);
    served();
    bool right = true;
    for (int r = 0; r < size_; ++r) {
      const int* const part = out + static_cast<std::size_t>(r) * each;
      for (std::size_t i = 0; i < each; ++i) right &= part[i] == value(i, r, seed);
    }
    CHECK(right, "allgather of %zu, seed %u, '%s'", n, seed, path());
  }
  void reduce_scatter(int* in, int* out, std::size_t n, unsigned seed) {
    const std::size_t each = n / static_cast<std::size_t>(size_);
    fill(in, each * static_cast<std::size_t>(size_), me_, seed);
    MPI_Reduce_scatter_block(in, out, static_cast<int>(each), MPI_INT, MPI_SUM, comm_);
    served();
    bool right = true;
    for (std::size_t i = 0; i < each; ++i) {
      right &= out[i] == sum(i + each * static_cast<std::size_t>(me_), seed);
    }
    CHECK(right, "reduce-scatter of %zu, seed %u, '%s'", n, seed, path());
  }

  long made = 0, direct = 0;

 private:
  static void fill(int* buffer, std::size_t n, int of, unsigned seed) {
    for (std::size_t i = 0; i < n; ++i) buffer[i] = value(i, of, seed);
  }
  int sum(std::size_t i, unsigned seed) const {
    int all = 0;
    for (int r = 0; r < size_; ++r) all += value(i, r, seed);
    return all;
  }
  void check_sum(const int* out, std::size_t n, unsigned seed) const {
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right &= out[i] == sum(i, seed);
    CHECK(right, "sum of %zu, seed %u, '%s'", n, seed, path());
  }
  void served() {
    if (!all_in_window_) return;
    ++made;
    direct += std::strcmp(path(), "direct") == 0;
  }

  MPI_Comm comm_;
  bool all_in_window_;
  int me_ = 0, size_ = 1;
};

// What MPI_Alloc_mem gives.
struct AllocMem {
  AllocMem() { MPI_Alloc_mem(kMost * sizeof(int), MPI_INFO_NULL, &at); }
  ~AllocMem() { MPI_Free_mem(at); }
  AllocMem(const AllocMem&) = delete;
  AllocMem& operator=(const AllocMem&) = delete;
  int* at = nullptr;
};

void run_round(std::mt19937& shared, std::mt19937& own, Calls& world, Calls& part, MPI_Comm pair) {
  const bool over_all = shared() % 2 == 0;
  const Window window(over_all ? MPI_COMM_WORLD : pair, shared() % 2 == 0);
  const AllocMem allocated;
  std::vector<int> heap(kMost);
  // A call of all ranks on a window of some of them copies what it does not see.
  Calls& calls = shared() % 2 ? world : part;
  for (int i = 0; i < 6; ++i) {
    const unsigned seed = static_cast<unsigned>(shared() % 100000);
    const std::size_t n = 40000 + shared() % 40000, shift = own() % 2 ? 0 : own() % 2048;
    const int after =
        static_cast<int>(shared() % 3);  // a neighbour's part is used by one rank alone
    int* in = window.part(after, false, shift);
    int* out = window.part(after, true, shift);
    switch (shared() % 5) {
      case 0:
        break;
      case 1:
        in = allocated.at;
        break;
      case 2:
        out = heap.data();
        break;
      case 3:
        if (own() % 2) in = heap.data();
        break;
      case 4:
        if (own() % 2) out = allocated.at;
        break;
    }
    step("seed %u of %zu", seed, n);
    switch (shared() % 5) {
      case 0:
        calls.allreduce(in, out, n, seed);
        break;
      case 1:
        calls.reduce(in, out, n, seed);
        break;
      case 2:
        calls.bcast(in, n, seed);
        break;
      case 3:
        calls.allgather(in, out, n, seed);
        break;
      case 4:
        calls.reduce_scatter(in, out, n, seed);
        break;
    }
    // Parts of a window are written by whoever uses them next.
    native().Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  std::mt19937 shared(seed), own(seed * 64 + static_cast<unsigned>(rank));
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < (ranks + 1) / 2, rank, &some);
  warm_up(MPI_COMM_WORLD);
  warm_up(some);
  Calls world(MPI_COMM_WORLD, true), part(some, true);
  for (int i = 0; i < rounds; ++i) run_round(shared, own, world, part, some);
  const long made = world.made, direct = world.direct;
  if (rank == 0) std::printf("%ld of %ld calls of all ranks went direct\n", direct, made);
  CHECK(2 * direct >= made, "%ld of %ld", direct, made);
  MPI_Comm_free(&some);
  return finish();
}
