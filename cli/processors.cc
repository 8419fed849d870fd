// SPDX-License-Identifier: BSD-3-Clause
// sumac __lines and sumac __copies: times between the processors that this process may use, as
// JSON. Ranks measure the same when a communicator is set up (src/team/measure.h).
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/measured.h"
#include "machine/line.h"
#include "transport/shm/copy_times.h"

namespace {

constexpr int kTries = 3;  // a busy processor answers late
constexpr std::uint64_t kPatience = 100'000'000;

void bind_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

cpu_set_t usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof usable, &usable);
  return usable;
}

// The first usable one after `cpu`; -1: there is none.
int next_processor(const cpu_set_t& usable, int cpu) {
  do {
    ++cpu;
  } while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &usable));
  return cpu < CPU_SETSIZE ? cpu : -1;
}

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

// How long a cache line takes there and back from the first processor to each of the others.
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

namespace {

struct Memory {
  sumac::CopyCells writer, reader;
  alignas(sumac::kFalseSharingRange) std::byte slots[sumac::kCopyPieces][sumac::kCopyPiece];
  sumac::CopyTimes times;
};

bool read_from(const void* pid, std::uintptr_t address, void* to, std::size_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(*static_cast<const pid_t*>(pid), &here, 1, &there, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

// A process may read its children's memory; these may read its own if it lets them.
sumac::CopyTimes times_to(int cpu, Memory& memory, std::uint64_t number) {
  const std::uint64_t deadline = sumac::clock_ns() + kPatience;
  sumac::CopyPlaces places{&memory.writer, &memory.reader, {}};
  for (std::size_t i = 0; i < sumac::kCopyPieces; ++i) places.slots[i] = memory.slots[i];
  memory.times = {};
  const pid_t reader = getpid(), writer = fork();
  if (writer < 0) return {};
  if (writer == 0) {
    bind_to(cpu);
    const sumac::LineTiming timing{deadline, sumac::now_ns};
    memory.times = sumac::write_copies(places, {read_from, &reader}, number, timing);
    _exit(0);
  }
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(writer), 0, 0, 0);
  sumac::read_copies(places, {read_from, &writer}, number, deadline);
  waitpid(writer, nullptr, 0);
  return memory.times;
}

}  // namespace

// How long 224 KiB take from the first processor to the second, through slots and by cross-memory
// attach.
extern "C" int command_copies(void) {
  const cpu_set_t usable = usable_processors();
  const int first = next_processor(usable, -1), second = next_processor(usable, first);
  void* const memory =
      mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  sumac::CopyTimes times;
  if (second >= 0) {
    bind_to(first);
    std::uint64_t number = 1;
    for (int i = 0; i < kTries && times.slots() < 0; ++i, number += sumac::kCopyNumbers) {
      times = times_to(second, *static_cast<Memory*>(memory), number);
    }
  }
  if (times.slots() < 0) {
    std::printf("[]\n");
  } else {
    const char* name = name_of(sumac::attach_of(times.slots(), times.attached));
    std::printf("[\n  {\"name\": \"%s\", \"bytes\": %zu, \"cached_ns\": %.0f, ", name,
                sumac::kCopiedBytes, times.cached);
    std::printf("\"streamed_ns\": %.0f, \"attached_ns\": %.0f}\n]\n", times.streamed,
                times.attached);
  }
  return 0;
}
