// SPDX-License-Identifier: BSD-3-Clause
// How long waits last beside others that want the processors, and how soon a rank that waits serves
// its peers: in blocks that Sumac serves, and in turn with them in blocks that are the MPI's own.
// Of two ranks, each has a processor of its own.
// waits quiet|stranger|strangers|idle_strangers|threads|one_sided|messages [BLOCKS]
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using namespace test;

// Far more than what the machine's noise does, and far less than what a lost time slice or a sleep
// does: hundreds of times the MPI's time.
constexpr double kMost = 3;

void set_paused(bool paused) { in_sumac<int (*)()>(paused ? "sumac_pause" : "sumac_resume")(); }

// Binds this rank, or the process `pid`, to the rank's processor. False where there are too few.
bool bind(pid_t pid, const cpu_set_t& all) {
  int left = rank;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(pid, sizeof one, &one) == 0;
  }
  return false;
}

void compute_until(const std::atomic<bool>& ends) {
  volatile double x = 0;
  while (!ends.load(std::memory_order_relaxed)) x = x * 0.999 + 1;
}

// Another program that computes.
class Stranger {
 public:
  explicit Stranger(int niceness) {
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(niceness) == -1 && niceness != -1) _exit(1);
    const std::atomic<bool> never{false};
    compute_until(never);
  }
  ~Stranger() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// Seconds a round of a reduce and a broadcast take, and some work, until rank 0 says that the block
// ends.
double time_of_round(bool paused) {
  constexpr double kBlock = 0.12;
  constexpr int kWork = 500;
  set_paused(paused);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  double in[2] = {1, 2}, out[2] = {0, 0};
  volatile double x = 0;
  long rounds = 0;
  do {
    for (int i = 0; i < kWork; ++i) x = x * 0.999 + i;
    MPI_Reduce(in, out, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) out[1] = MPI_Wtime() - begun;
    MPI_Bcast(out, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    ++rounds;
  } while (out[1] < kBlock);
  CHECK(was_taken() != paused, "path '%s'", path());
  if (paused) set_paused(false);
  return (MPI_Wtime() - begun) / static_cast<double>(rounds);
}

constexpr int kReads = 10;
MPI_Win window;

// Rank 0 reads rank 1's memory while rank 1 waits in a barrier.
double time_of_reading(bool paused) {
  constexpr int kTries = 5;
  set_paused(paused);
  MPI_Barrier(MPI_COMM_WORLD);
  double least = 1e9;
  if (rank == 0) usleep(100'000);
  for (int i = 0; rank == 0 && i < kTries; ++i) {
    const double begun = MPI_Wtime();
    for (int k = 0; k < kReads; ++k) {
      double got = -1;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
      MPI_Get(&got, 1, MPI_DOUBLE, 1, k, 1, MPI_DOUBLE, window);
      MPI_Win_unlock(1, window);
      CHECK(got == 0);
    }
    least = std::min(least, (MPI_Wtime() - begun) / kReads);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (paused) set_paused(false);
  return least;
}

// Rank 0 receives what rank 1 had begun to send before it waited in a barrier.
double time_of_receiving(bool paused) {
  constexpr int kInts = 1 << 20;
  static std::vector<int> data(kInts, rank);
  set_paused(paused);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  double took = 0;
  if (rank == 1) MPI_Isend(data.data(), kInts, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    usleep(100'000);
    const double begun = MPI_Wtime();
    MPI_Recv(data.data(), kInts, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took = MPI_Wtime() - begun;
    CHECK(data.front() == 1 && data.back() == 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (paused) set_paused(false);
  return took;
}

// Of one side: what its blocks took.
struct Taken {
  double rates = 0, times = 0, least = 1e9;

  void add(double time) {
    rates += 1 / time;
    times += time;
    least = std::min(least, time);
  }
};

// Compares what blocks in turn take: the least, or the mean of their rates. (The mean of their
// times, printed beside it, is that of the one block whose ranks never had their processors at the
// same time.)
void compare(const std::string& what, double (*time)(bool paused), bool least, int blocks) {
  Taken sides[2];
  for (int block = 0; block < 2 * blocks; ++block) {
    const int paused = block % 2;
    sides[paused].add(time(paused != 0));
  }
  const auto us_of = [&](const Taken& taken) {
    return 1e6 * (least ? taken.least : blocks / taken.rates);
  };
  const double served = us_of(sides[0]), native = us_of(sides[1]);
  if (rank != 0) return;
  std::printf("%s: the MPI %.1f us, Sumac %.1f us (means of times %.1f, %.1f)\n", what.c_str(),
              native, served, 1e6 * sides[1].times / blocks, 1e6 * sides[0].times / blocks);
  CHECK(served < kMost * native, "%s: %.1f us, the MPI %.1f us", what.c_str(), served, native);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "quiet";
  const int blocks = argc > 2 ? std::stoi(argv[2]) : 8;
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  start(argc, argv, MPI_THREAD_SINGLE);
  if (!on_all(bind(0, all))) return end_skipped("too few processors");
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  std::vector<std::unique_ptr<Stranger>> strangers;
  if (what == "strangers" || what == "idle_strangers" || (what == "stranger" && rank == 0)) {
    strangers.push_back(std::make_unique<Stranger>(what == "idle_strangers" ? 19 : 0));
    CHECK(bind(strangers.back()->pid(), all));
  }
  std::atomic<bool> ends{false};
  std::thread computes;
  if (what == "threads") computes = std::thread([&] { compute_until(ends); });
  step("%s", what.c_str());
  if (what == "one_sided") {
    double memory[kReads] = {};
    MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    compare(what, time_of_reading, true, blocks);
    MPI_Win_free(&window);
  } else if (what == "messages") {
    compare(what, time_of_receiving, true, blocks);
  } else {
    compare(what, time_of_round, false, blocks);
  }
  ends = true;
  if (computes.joinable()) computes.join();
  strangers.clear();
  return finish();
}
