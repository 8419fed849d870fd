// SPDX-License-Identifier: BSD-3-Clause
// sumac-check-<family>: a small MPI program that 'sumac check' runs to find out whether everything
// works. Rank 0 prints one JSON object. Exit status: 0 if the checks were made, even if they found
// problems, which are in the object; 1 when the program itself failed.
#include <mpi.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "call.h"
#include "json.h"
#include "results.h"
#include "verify.h"
#include "world.h"

namespace sumac::bench {

namespace {

constexpr std::uint64_t kWord = 0x73756d616373756d;

struct Place {
  std::uint64_t address;
  pid_t pid;
};

std::string read_word(const Place& place) {
  std::uint64_t word = 0;
  const iovec here{&word, sizeof word};
  const iovec there{reinterpret_cast<void*>(place.address), sizeof word};
  if (process_vm_readv(place.pid, &here, 1, &there, 1, 0) < 0) return std::strerror(errno);
  return word == kWord ? "ok" : "another process was read (separate process namespaces?)";
}

// Collective. Finds out whether one process may read another's memory: rank 0 reads a word of rank
// 1. Returns, on rank 0, "ok" or why it could not.
std::string cross_attach(const World& world) {
  if (world.ranks < 2) return "needs two ranks";
  if (world.hosts > 1) return "ranks on several hosts";
  const volatile std::uint64_t word = kWord;
  std::string result;
  Place place{reinterpret_cast<std::uint64_t>(&word), getpid()};
  if (world.rank == 1) MPI_Send(&place, sizeof place, MPI_BYTE, 0, 0, world.control);
  if (world.rank == 0) {
    MPI_Recv(&place, sizeof place, MPI_BYTE, 1, 0, world.control, MPI_STATUS_IGNORE);
    result = read_word(place);
  }
  world.native.barrier(world.control);
  return result;
}

constexpr std::size_t kCounts[] = {2, 4096, 262144};  // floats: 8 B, 16 KiB, 1 MiB

std::vector<std::string> hosts(const World& world) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length;
  MPI_Get_processor_name(name, &length);
  std::vector<char> names(sizeof name * static_cast<std::size_t>(world.ranks));
  MPI_Gather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, 0, world.control);
  std::vector<std::string> result;
  for (int rank = 0; rank < world.ranks; rank++)
    result.emplace_back(&names[sizeof name * static_cast<std::size_t>(rank)]);
  return result;
}

// Collective. Runs each collective at each size.
std::vector<Attempt> try_collectives(const World& world, const Buffers& buffers) {
  std::vector<Attempt> attempts;
  const auto attempt = [&](Collective collective, std::size_t count) {
    const Case test{collective, DType::f32, Op::sum, 0, false, count};
    RepeatedCall call(world.called, test, buffers, world.rank, world.comm);
    const long wrong = count_wrong(call, test, buffers, world);
    call.run();
    attempts.push_back({test, last_path(), wrong});
  };
  const auto ranks = static_cast<std::size_t>(world.ranks);
  for (const CollectiveInfo& info : kCollectives)
    for (const std::size_t count : kCounts)
      if (info.has_data && is_of_ranks(info.collective))
        attempt(info.collective, std::max(count / ranks, std::size_t{1}) * ranks);
  attempt(Collective::barrier, 0);
  return attempts;
}

double shared_memory_free() {
  struct statvfs fs;
  if (statvfs("/dev/shm", &fs) != 0) return -1;
  return static_cast<double>(fs.f_bavail) * static_cast<double>(fs.f_frsize);
}

void run() {
  const World world;
  const Buffers buffers((kCounts[2] + static_cast<std::size_t>(world.ranks)) * sizeof(float));
  const std::vector<Attempt> attempts = try_collectives(world, buffers);
  const std::vector<std::string> names = hosts(world);
  const std::string attach = cross_attach(world);
  const Surroundings here = surroundings(world);
  const long active = world.sum(here.sumac.active);
  if (world.rank != 0) return;
  const std::string text = to_json({here, names, active, attempts, shared_memory_free(), attach});
  std::printf("%s\n", text.c_str());
}

}  // namespace
}  // namespace sumac::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    sumac::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sumac: error[check]: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
