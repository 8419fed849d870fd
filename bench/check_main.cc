// SPDX-License-Identifier: BSD-3-Clause
// sumac-check-<family>: a small MPI program that 'sumac check' starts to see whether everything
// works. Rank 0 prints one JSON object. Exit status: 0 also when something was found wrong, which
// the object tells; 1 when the program itself failed.
#include <mpi.h>
#include <sys/statvfs.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "call.h"
#include "cross_attach.h"
#include "verify.h"
#include "world.h"

namespace sumac::bench {
namespace {

using Json = nlohmann::ordered_json;

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

// Runs each collective at each size; returns an object for each on all ranks.
Json try_collectives(const World& world, const Buffers& buffers) {
  Json results = Json::array();
  const auto attempt = [&](Collective collective, std::size_t count) {
    const Case test{collective, DType::f32, Op::sum, 0, false, count};
    Call call(world.called, test, buffers, world.rank, world.comm);
    const long wrong = count_wrong(call, test, buffers, world);
    call.run();
    results.push_back({{"collective", name_of(collective)},
                       {"bytes", test.bytes()},
                       {"algorithm", last_path()},
                       {"wrong", wrong}});
  };
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast})
    for (const std::size_t count : kCounts) attempt(collective, count);
  attempt(Collective::barrier, 0);
  return results;
}

double shared_memory_free() {
  struct statvfs fs;
  if (statvfs("/dev/shm", &fs) != 0) return -1;
  return static_cast<double>(fs.f_bavail) * static_cast<double>(fs.f_frsize);
}

void run() {
  const World world;
  const Buffers buffers(kCounts[2] * sizeof(float));
  const Json results = try_collectives(world, buffers);
  const std::vector<std::string> names = hosts(world);
  const std::string attach = cross_attach(world);
  const Presence sumac = presence();
  const long active = world.sum(sumac.active);
  if (world.rank != 0) return;
  long wrong = 0;
  for (const Json& result : results) wrong += result["wrong"].get<long>();
  const Json text = {{"kind", "check"},
                     {"family", SUMAC_BENCH_FAMILY},
                     {"mpi", library_version()},
                     {"ranks", world.ranks},
                     {"hosts", names},
                     {"loaded", sumac.loaded},
                     {"active_ranks", active},
                     {"description", sumac.description},
                     {"collectives", results},
                     {"shm_free", shared_memory_free()},
                     {"cross_memory_attach", attach},
                     {"wrong", wrong}};
  std::printf("%s\n", text.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
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
