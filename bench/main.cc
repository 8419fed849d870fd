// SPDX-License-Identifier: BSD-3-Clause
// sumac-bench-<family>: measures an MPI's own collectives and Sumac's in one process. 'sumac bench'
// starts it as `mpiexec -n N sumac exec sumac-bench-<family> COLLECTIVE ...`; without Sumac loaded
// it measures the MPI alone. Exit status: 0 done, 1 failed, 2 usage, 3 no such call here, 4 wrong
// results.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "call.h"
#include "contenders.h"
#include "json.h"
#include "local.h"
#include "objection.h"
#include "options.h"
#include "pack.h"
#include "set_up.h"
#include "size.h"
#include "world.h"

namespace sumac::bench {
namespace {

constexpr int kUnavailable = 3;
constexpr int kWrongResults = 4;
// Sumac sets itself up, and some MPIs change their algorithm, within the first calls.
constexpr int kFirstCalls = 10;

void first_calls(const Contender& contender, const Options& options, const World& world,
                 const Buffers& buffers) {
  Case small = options.test(static_cast<std::size_t>(world.ranks));
  small.kind = contender.kind;
  RepeatedCall call(contender.functions, small, buffers, world.rank, world.comm);
  for (int i = 0; i < kFirstCalls; i++) {
    call.run();
    contender.functions.barrier(world.comm);
  }
}

// Returns the number of wrong elements.
long run_collective(const Options& options, const World& world) {
  const std::vector<std::size_t> sizes = counts(options, world.ranks);
  const Buffers buffers((sizes.empty() ? 0 : sizes.back()) * size_of(options.type));
  const SetUp began = set_up(world);
  for (const Functions& functions : {world.called, world.native})
    first_calls({functions, Kind::blocking}, options, world, buffers);
  Surroundings here = surroundings(world);
  here.set_up = began;
  const bool active = world.sum(here.sumac.active) == world.ranks;
  const Contenders contenders = line_up(options, world, buffers, active);
  first_calls(contenders.native, options, world, buffers);
  if (contenders.sumac) first_calls(*contenders.sumac, options, world, buffers);
  std::unique_ptr<Report> report;
  if (world.rank == 0) report = std::make_unique<Report>(options.json_file);
  if (report)
    report->header(options, here, contenders.native.kind, contenders.sumac_lacks, sizes.size());
  long wrong = 0;
  for (const std::size_t count : sizes) {
    const Row row = run_size(options, world, buffers, count, contenders);
    wrong += row.wrong();
    if (report) report->row(row);
  }
  if (report) report->summary();
  return wrong;
}

long measure(const Options& options, const World& world) {
  if (options.pack) return run_pack(options, world);
  return options.collective == Collective::reduce_local ? run_local(options, world)
                                                        : run_collective(options, world);
}

int start(int argc, char** argv) {
  const World world;
  Options options;
  std::string message;
  int status = parse(argc, argv, options, message);
  if (status < 0) {
    message = objection(options, world.ranks, library_version());
    status = 2;
    try {
      if (message.empty()) return measure(options, world) > 0 ? kWrongResults : 0;
      message = "sumac: error[bad-value]: " + message + "\n";
    } catch (const Unavailable& none) {
      message = "sumac: error[missing-function]: " + none.what + "\n";
      status = kUnavailable;
    }
  }
  if (world.rank == 0) std::fputs(message.c_str(), status == 0 ? stdout : stderr);
  return status;
}

}  // namespace
}  // namespace sumac::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = sumac::bench::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sumac: error[bench]: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
