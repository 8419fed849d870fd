// SPDX-License-Identifier: BSD-3-Clause
// A program that changes what surrounds Sumac in its process: the locale, from the environment, the
// working directory, and descriptors that it did not open, which it closes and uses again.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <string>
#include <vector>

#include "exercise.h"

namespace {

using namespace test;

void use_much(MPI_Comm comm) {
  constexpr int kCount = 1 << 20;
  static std::vector<double> in(kCount), out(kCount);
  for (std::size_t i = 0; i < kCount; i += 1000) in[i] = rank + static_cast<double>(i);
  MPI_Allreduce(in.data(), out.data(), kCount, MPI_DOUBLE, MPI_SUM, comm);
  CHECK(out[1000] == ranks * (ranks - 1) / 2 + 1000.0 * ranks, "%g, '%s'", out[1000], path());
}

std::string target_of(int descriptor) {
  char target[256] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), target, sizeof target - 1);
  return length > 0 ? target : "";
}

// Closes Sumac's descriptors, and gives their numbers to other files.
std::vector<int> reuse_descriptors() {
  std::vector<int> reused;
  const int other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int i = 3; i < 256; ++i) {
    const std::string target = target_of(i);
    const bool is_sumacs = target.find("memfd:sumac") != target.npos || target.ends_with("/maps") ||
                           target.ends_with("/map_files");
    if (is_sumacs && dup2(other, i) == i) reused.push_back(i);
  }
  return reused;
}

bool all_are_there(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) {
    if (target_of(descriptor) != "/dev/zero") return false;
  }
  return true;
}

void test_descriptors() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 20; ++i) use_much(comm);
  const std::vector<int> reused = reuse_descriptors();
  if (rank == 0) std::printf("%zu descriptors used again\n", reused.size());
  for (int i = 0; i < 20; ++i) use_much(comm);
  const pid_t child = fork();
  if (child == 0) _exit(all_are_there(reused) ? 0 : 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "in a child: %d", status);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 5; ++i) use(MPI_COMM_WORLD, i);
  CHECK(all_are_there(reused), "Sumac has closed a descriptor of the program's");
}

}  // namespace

int main(int argc, char** argv) {
  const char* locale = std::setlocale(LC_ALL, "");
  start(argc, argv);
  if (rank == 0) std::printf("locale %s, %.1f\n", locale ? locale : "unknown", 1.5);
  CHECK(chdir("/") == 0, "cannot leave the folder");
  for (int i = 0; i < 30; ++i) use_much(MPI_COMM_WORLD);
  test_descriptors();
  return finish();
}
