// SPDX-License-Identifier: BSD-3-Clause
// Buffers in shared memory that the MPI has given to the program (MPI_Win_allocate_shared), and in
// that of MPI_Alloc_mem: they are used directly, alone and together with ordinary ones, until their
// window is freed. Another window may then lie at the same addresses.
// direct_windows ROUNDS [SEED [SHARE]]; of the large calls on ranks of a window at least SHARE per
// cent must be direct, by default half.
#include <random>
#include <vector>

#include "cases.h"
#include "direct_memory.h"

namespace {

using namespace test;

constexpr std::size_t kMost = 80000;  // elements of a buffer

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

// The calls of one communicator, and how many of them went direct.
class Calls {
 public:
  explicit Calls(MPI_Comm comm) : group_(group_of(comm)) {}

  void make(What what, int* in, int* out, std::size_t n, unsigned seed) {
    const auto p = static_cast<std::size_t>(group_.size());
    Case c{.what = what, .root = static_cast<int>(seed) % group_.size(), .seed = seed};
    c.counts = {scatters(what) || gathers(what) ? n / p : n};
    if (what == What::bcast && seed % 3 == 0) c.form = Form::nonblocking;
    Call call(c, group_);
    step("%s", call.text().c_str());
    call.use(in, what == What::bcast ? in : out);
    call.begin();
    if (c.form == Form::blocking) ++made, direct += std::strcmp(path(), "direct") == 0;
    call.wait();
    call.check();
  }

  long made = 0, direct = 0;

 private:
  const Group group_;
};

void run_round(std::mt19937& shared, std::mt19937& own, Calls& world, Calls& part, MPI_Comm pair) {
  const bool over_all = shared() % 2 == 0;
  const Window window(over_all ? MPI_COMM_WORLD : pair, shared() % 2 == 0);
  const Memory memory(Origin::alloc_mem, kMost * sizeof(int), pools()[0]);
  int* const allocated = reinterpret_cast<int*>(memory.at());
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
        in = allocated;
        break;
      case 2:
        out = heap.data();
        break;
      case 3:
        if (own() % 2) in = heap.data();
        break;
      case 4:
        if (own() % 2) out = allocated;
        break;
    }
    constexpr What kWhats[] = {What::allreduce, What::reduce, What::bcast, What::allgather,
                               What::reduce_scatter_block};
    calls.make(kWhats[shared() % 5], in, out, n, seed);
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
  Calls world(MPI_COMM_WORLD), part(some);
  for (int i = 0; i < rounds; ++i) run_round(shared, own, world, part, some);
  const long made = world.made, direct = world.direct;
  if (rank == 0) std::printf("%ld of %ld calls of all ranks went direct\n", direct, made);
  const long share = argc > 3 ? std::atol(argv[3]) : 50;
  CHECK(100 * direct >= share * made, "%ld of %ld", direct, made);
  MPI_Comm_free(&some);
  return finish();
}
