// SPDX-License-Identifier: BSD-3-Clause
// Buffers that the kernel does not reach for another process, while the program does: protected
// memory whose protection a handler of faults lifts, and secret memory; or a process of which the
// kernel finds no memory, since its first thread has ended; or cross-memory attach is refused from
// some call on, which worked when the communicator was set up. Results are right, from the first
// such call on.
//   protected COLLECTIVE KIND WHAT RANK [in_place]
//     WHAT: written (receive buffers are write-protected), read (send buffers are inaccessible),
//     secret (all buffers), thread, refused (attach);  RANK: whose; -1: all ranks'
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <semaphore.h>

#include "../environment/refuse.h"
#include "calls.h"

namespace {

using namespace test;

constexpr std::uintptr_t kPage = 4096;
bool secret = false;  // what is allocated from now on

// Whole pages.
template <class T>
struct Pages {
  using value_type = T;
  Pages() = default;
  template <class U>
  Pages(const Pages<U>&) {}
  static std::size_t bytes(std::size_t n) { return (n * sizeof(T) + kPage - 1) / kPage * kPage; }
  T* allocate(std::size_t n) {
    int file = -1;
#ifdef SYS_memfd_secret
    if (secret) file = static_cast<int>(syscall(SYS_memfd_secret, 0));
    if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes(n))) != 0) std::abort();
#endif
    constexpr int kBoth = PROT_READ | PROT_WRITE;
    void* memory = MAP_FAILED;
    if (file >= 0) memory = mmap(nullptr, bytes(n), kBoth, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {  // the system has none that is secret, or not so much
      memory = mmap(nullptr, bytes(n), kBoth, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (memory == MAP_FAILED) std::abort();
    if (file >= 0) close(file);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { munmap(memory, bytes(n)); }
  bool operator==(const Pages&) const { return true; }
};
using Numbers = std::vector<int, Pages<int>>;

const void* watched = nullptr;
std::size_t watched_bytes = 0;
volatile sig_atomic_t faults = 0;

void lift_protection(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (address - reinterpret_cast<std::uintptr_t>(watched) >= watched_bytes) std::abort();
  faults = faults + 1;
  mprotect(reinterpret_cast<void*>(address / kPage * kPage), kPage, PROT_READ | PROT_WRITE);
}

void protect(Numbers& numbers, int protection) {
  watched = numbers.data();
  watched_bytes = Pages<int>::bytes(numbers.size());
  mprotect(numbers.data(), watched_bytes, protection);
}

char** arguments;
int num_arguments;
sem_t first_may_end;

int run() {
  start(num_arguments, arguments);
  if (num_arguments < 5) return 2;
  const std::string what = arguments[3];
  const int who = std::atoi(arguments[4]);
  const bool mine = who < 0 || who == rank;
  secret = what == "secret" && mine;
  CallOn<Numbers> call{arguments[1], arguments[2], 200000};
  call.in_place = num_arguments > 5;
  call.open();
  warm_up(MPI_COMM_WORLD);
  const bool receives_in = call.collective == "bcast" && rank != call.root;
  const bool gives_in = !call.in_place && !receives_in;
  for (int i = 0; i < 16; ++i) {
    if (i == 3 && rank == 0) std::printf("served by %s\n", path());
    if (i == 3 && mine && what == "thread") {
      sem_post(&first_may_end);
      usleep(200000);
    }
    if (i == 3 && what == "refused") {
      native().Barrier(MPI_COMM_WORLD);
      if (mine) CHECK(refuse_attach() == 0, "a filter");
    }
    if (i == 12 && rank == 0 && what == "thread") usleep(1500000);  // others see who still lives
    call.fill(i);
    if (i >= 3 && mine && what == "written") protect(receives_in ? call.in : call.out, PROT_READ);
    if (i >= 3 && mine && what == "read" && gives_in) protect(call.in, PROT_NONE);
    call.run_filled();
    if (!call.in.empty())
      mprotect(call.in.data(), Pages<int>::bytes(call.in.size()), PROT_READ | PROT_WRITE);
    CHECK(call.is_right(i), "call %d", i);
  }
  if (what == "written" || what == "read")
    std::printf("rank %d: %d faults\n", rank, static_cast<int>(faults));
  return finish();
}

}  // namespace

int main(int argc, char** argv) {
  arguments = argv;
  num_arguments = argc;
  struct sigaction action = {};
  action.sa_sigaction = lift_protection;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sem_init(&first_may_end, 0, 0);
  pthread_t thread;
  pthread_create(
      &thread, nullptr, [](void*) -> void* { std::exit(run()); }, nullptr);
  while (sem_wait(&first_may_end) != 0) continue;
  pthread_exit(nullptr);
}
