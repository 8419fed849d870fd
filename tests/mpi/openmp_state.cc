// SPDX-License-Identifier: BSD-3-Clause
// Sumac must not change the program's OpenMP state: the values of threadprivate variables between
// its regions, its settings, and its ability to run regions in a forked child.
// openmp_state local|allreduce [settings]
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>

#include <string_view>
#include <vector>

#include "check.h"

namespace {

using namespace test;

constexpr int kMostThreads = 5;
constexpr int kCount = 300'001;  // elements: large enough for Sumac to use threads
int kept = -1;
#pragma omp threadprivate(kept)

void reduce(std::string_view kind) {
  const std::vector<float> in(kCount, 1);
  std::vector<float> out(kCount, 2);
  if (kind == "local") {
    MPI_Reduce_local(in.data(), out.data(), kCount, MPI_FLOAT, MPI_SUM);
  } else {
    MPI_Allreduce(in.data(), out.data(), kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  CHECK_TAKEN();
  const float expected = kind == "local" ? 3 : static_cast<float>(ranks);
  for (const int at : {0, kCount / 2, kCount - 1}) {
    CHECK(out[static_cast<std::size_t>(at)] == expected, "element %d", at);
  }
}

void keep(int threads, int first) {
#pragma omp parallel num_threads(threads)
  kept = first + omp_get_thread_num();
}

void expect_kept(int threads, int first) {
  int seen[kMostThreads] = {}, team = 0;
#pragma omp parallel num_threads(threads)
  {
    seen[omp_get_thread_num()] = kept;
#pragma omp single
    team = omp_get_num_threads();
  }
  CHECK(team == threads, "%d threads, not %d", team, threads);
  for (int t = 0; t < threads; ++t) {
    CHECK(seen[t] == first + t, "thread %d of %d has %d, not %d", t, threads, seen[t], first + t);
  }
}

// Before the second region the default number of threads is changed, because Sumac may use that
// number.
void check_threadprivate(std::string_view kind) {
  omp_set_dynamic(0);
  const int before = omp_get_max_threads();
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    for (int wanted = 1; wanted <= kMostThreads; ++wanted) {
      step("threadprivate: regions of %d, %d wanted", threads, wanted);
      const int first = 100 * threads + 10 * wanted;
      keep(threads, first);
      omp_set_num_threads(wanted);
      reduce(kind);
      reduce(kind);
      omp_set_num_threads(before);
      expect_kept(threads, first);
#pragma omp parallel num_threads(threads)
      {
#pragma omp master
        reduce(kind);
#pragma omp barrier
      }
      expect_kept(threads, first);
    }
  }
}

struct Settings {
  int max_threads = omp_get_max_threads(), dynamic = omp_get_dynamic(), level = omp_get_level(),
      active = omp_get_active_level(), most_active = omp_get_max_active_levels(),
      limit = omp_get_thread_limit(), processors = omp_get_num_procs(),
      binding = static_cast<int>(omp_get_proc_bind());
  cpu_set_t affinity;

  Settings() { sched_getaffinity(0, sizeof affinity, &affinity); }
  bool operator==(const Settings& other) const {
    return max_threads == other.max_threads && dynamic == other.dynamic && level == other.level &&
           active == other.active && most_active == other.most_active && limit == other.limit &&
           processors == other.processors && binding == other.binding &&
           CPU_EQUAL(&affinity, &other.affinity);
  }
};

void check_settings(std::string_view kind) {
  const int own = omp_get_max_threads();
  omp_set_num_threads(3);
  const Settings before;
  reduce(kind);
  CHECK(Settings() == before, "called outside of regions");
#pragma omp parallel num_threads(2)
  {
#pragma omp master
      {const Settings inside;
  reduce(kind);
  CHECK(Settings() == inside, "called inside of a region");
}
#pragma omp barrier
}  // namespace
CHECK(Settings() == before, "after a region");
omp_set_num_threads(own);
}

// Must run before the program's own first region: with some run-time libraries no region works in a
// child after that, with or without Sumac.
void check_fork(std::string_view kind) {
  for (int times = 0; times < 3; ++times) {
    reduce(kind);
    step("a region in child %d", times);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
      threads = 1;
      _exit(threads == 3 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child ended with %#x", status);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv, MPI_THREAD_FUNNELED);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const bool all = argc == 2;
  warm_up(MPI_COMM_WORLD);
  if (all) check_fork(argv[1]);
  check_settings(argv[1]);
  if (all) check_threadprivate(argv[1]);
  return finish();
}
