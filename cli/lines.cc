// SPDX-License-Identifier: BSD-3-Clause
// sumac __lines: how long a cache line takes there and back from the first processor that this
// process may use to each of the others, as JSON. Ranks measure the same when a communicator is set
// up (src/team/measure.h).
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/distance.h"
#include "machine/line.h"
#include "processors.h"

namespace {

constexpr int kTries = 3;  // a busy processor answers late
constexpr std::uint64_t kPatience = 100'000'000;

struct Cells {
  sumac::LineCell there, back;
};

// Nanoseconds, or a negative number. The process is bound to the other processor.
double time_to(int cpu, Cells& cells, std::uint64_t number) {
  const std::uint64_t deadline = sumac::clock_ns() + kPatience;
  std::fflush(stdout);
  const pid_t other = fork();
  if (other < 0) return -1;
  if (other == 0) {
    bind_to(cpu);
    sumac::return_line(cells.there, cells.back, number, deadline);
    _exit(0);
  }
  const double ns = sumac::send_line(cells.there, cells.back, number, {deadline, sumac::now_ns});
  waitpid(other, nullptr, 0);
  return ns;
}

double time_in_tries(int cpu, Cells& cells) {
  static std::uint64_t number = 1;
  double ns = -1;
  for (int i = 0; i < kTries && ns < 0; ++i, number += sumac::LineTrips().all()) {
    ns = time_to(cpu, cells, number);
  }
  return ns;
}

void print_row(const char* comma, int cpu, double ns) {
  const sumac::Distance distance = ns < 0 ? sumac::Distance::unknown : sumac::distance_of(ns);
  std::printf("%s\n  {\"name\": \"%s\", \"cpu\": %d, \"ns\": ", comma, name_of(distance), cpu);
  if (ns < 0) {
    std::printf("null}");
  } else {
    std::printf("%.0f}", ns);
  }
}

}  // namespace

extern "C" int command_lines(void) {
  const cpu_set_t usable = usable_processors();
  const int first = next_processor(usable, -1);
  void* const memory =
      mmap(nullptr, sizeof(Cells), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || first < 0) return 1;
  bind_to(first);
  std::printf("[");
  const char* comma = "";
  for (int cpu = next_processor(usable, first); cpu >= 0; cpu = next_processor(usable, cpu)) {
    print_row(comma, cpu, time_in_tries(cpu, *static_cast<Cells*>(memory)));
    comma = ",";
  }
  std::printf("\n]\n");
  return 0;
}
