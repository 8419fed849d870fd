// SPDX-License-Identifier: BSD-3-Clause
// A program whose promoted buffers others look at.
// inspected core FOLDER   rank 0 ends by abort() in that folder, so that the kernel writes a core
//                         file; it prints "buffer ADDRESS BYTES" before
// inspected debugger      rank 0 starts gdb on itself, which reads its buffer and writes to it
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <string>

#include "../mpi/check.h"
#include "../mpi/direct_memory.h"

namespace {

using namespace test;

constexpr std::size_t kCount = 1 << 18;

int element(std::size_t i, int of_rank) {
  return static_cast<int>(static_cast<std::uint32_t>(i) * 2654435761U >> 8) + of_rank;
}

struct Buffers {
  int *in, *out;
};

void fill(const Buffers& buffers) {
  for (std::size_t i = 0; i < kCount; ++i) buffers.in[i] = element(i, rank);
}

// All-reduces the maximum, which is that of the last rank.
void reduce(const Buffers& buffers) {
  MPI_Allreduce(buffers.in, buffers.out, kCount, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  bool right = true;
  for (std::size_t i = 0; i < kCount; ++i) right &= buffers.out[i] == element(i, ranks - 1);
  CHECK(right, "path '%s'", path());
}

void dump_core(const Buffers& buffers, const char* folder) {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (rank == 0) {
    if (chdir(folder) != 0) std::abort();
    if (setrlimit(RLIMIT_CORE, &limit) != 0) skip("core files are limited");
    for (const int number : {SIGABRT, SIGALRM}) signal(number, SIG_DFL);
    std::printf("buffer %p %zu\n", static_cast<void*>(buffers.in), kCount * sizeof(int));
    std::fflush(stdout);
    std::abort();
  }
  pause();  // until the launcher ends the job
}

// Returns what gdb says.
std::string debug(const int* first) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  char command[512];
  std::snprintf(command, sizeof command,
                "env -u LD_PRELOAD gdb -nx -batch -p %d -ex 'print *(int*)%p' "
                "-ex 'print *(int*)%p = 77' -ex detach 2>&1",
                getpid(), static_cast<const void*>(first), static_cast<const void*>(first));
  std::string said;
  std::FILE* const output = popen(command, "r");
  for (char line[512]; std::fgets(line, sizeof line, output);) said += line;
  pclose(output);
  return said;
}

void be_debugged(const Buffers& buffers) {
  int skipped = 0;
  if (rank == 0) {
    int* const place = &buffers.in[kCount / 2];
    const std::string said = debug(place);
    skipped = said.find("$1 = ") == std::string::npos;
    if (skipped) {
      skip("gdb cannot be attached");
      std::printf("%s\n", said.c_str());
    } else {
      const std::string first = "$1 = " + std::to_string(element(kCount / 2, 0)) + "\n";
      CHECK(said.find(first) != std::string::npos, "%s: %s", first.c_str(), said.c_str());
      CHECK(*place == 77, "%d", *place);
    }
  }
  fill(buffers);
  for (int i = 0; i < 10; ++i) reduce(buffers);
  CHECK(std::strcmp(path(), "direct") == 0, "path '%s'", path());
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const Buffers buffers{reinterpret_cast<int*>(map_anonymous(nullptr, kCount * sizeof(int))),
                        reinterpret_cast<int*>(map_anonymous(nullptr, kCount * sizeof(int)))};
  fill(buffers);
  bool direct = false;
  for (int i = 0; i < 20 && !direct; ++i) {
    reduce(buffers);
    direct = std::strcmp(path(), "direct") == 0;
  }
  if (!direct) {
    skip("nothing is promoted here");
  } else if (argc > 2 && std::string(argv[1]) == "core") {
    dump_core(buffers, argv[2]);
  } else {
    be_debugged(buffers);
  }
  return finish();
}
