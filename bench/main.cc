// SPDX-License-Identifier: BSD-3-Clause
// sumac-bench-<family>: measures an MPI's own collectives and Sumac's side by side. Started by
// 'sumac bench' as `mpiexec -n N sumac exec sumac-bench-<family> COLLECTIVE ...`; without Sumac in
// front it measures the MPI alone. Exit status: 0 done, 1 failed, 2 usage, 4 wrong results.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "collectives.h"
#include "json.h"
#include "measure.h"
#include "options.h"
#include "verify.h"
#include "world.h"

namespace sumac::bench {
namespace {

constexpr int kWrongResults = 4;
// Sumac prepares itself, and some MPIs change their algorithm, within the first calls.
constexpr int kFirstCalls = 10;

void first_calls(const Options& options, const World& world, const Buffers& buffers) {
  const Case small{options.collective, options.type, options.op, options.root, options.in_place, 1};
  for (const Functions& contender : {world.called, world.native})
    for (int i = 0; i < kFirstCalls; i++) {
      issue(contender, small, buffers, world.rank, world.comm);
      contender.barrier(world.comm);
    }
}

// Checks and times one size. The samples are there on rank 0 only.
Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             bool active) {
  Row row{{options.collective, options.type, options.op, options.root, options.in_place, count},
          {},
          {},
          0,
          0,
          ""};
  row.wrong_native = count_wrong(world.native, row.test, buffers, world);
  if (active) {
    row.wrong_sumac = count_wrong(world.called, row.test, buffers, world);
    issue(world.called, row.test, buffers, world.rank, world.comm);
    row.algorithm = last_path();
  }
  std::vector<Functions> contenders{world.native};
  if (active) contenders.push_back(world.called);
  std::vector<Samples> samples = measure(contenders, row.test, options, buffers, world);
  row.native = std::move(samples[0]);
  if (active) row.sumac = std::move(samples[1]);
  return row;
}

int run(const Options& options, const World& world) {
  const std::vector<std::size_t> sizes = counts(options);
  const Buffers buffers((sizes.empty() ? 0 : sizes.back()) * size_of(options.type));
  first_calls(options, world, buffers);
  const Presence sumac = presence();
  const bool active = world.sum(sumac.active) == world.ranks;
  std::unique_ptr<Report> report;
  if (world.rank == 0) report = std::make_unique<Report>(options.json_file);
  if (report) report->header(options, world, sumac, sizes.size());
  long wrong = 0;
  for (const std::size_t count : sizes) {
    const Row row = run_size(options, world, buffers, count, active);
    wrong += active ? row.wrong_sumac : row.wrong_native;
    if (report) report->row(row);
  }
  if (report) report->summary();
  return wrong > 0 ? kWrongResults : 0;
}

int start(int argc, char** argv) {
  const World world;
  Options options;
  std::string message;
  int status = parse(argc, argv, options, message);
  if (status < 0) {
    message = objection(options, world.ranks, library_version());
    if (message.empty()) return run(options, world);
    message = "sumac: error[bad-value]: " + message + "\n";
    status = 2;
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
