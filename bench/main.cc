// SPDX-License-Identifier: BSD-3-Clause
// sumac-bench-<family>: measures an MPI's own collectives and Sumac's in one process. 'sumac bench'
// starts it as `mpiexec -n N sumac exec sumac-bench-<family> COLLECTIVE ...`; without Sumac loaded
// it measures the MPI alone. Exit status: 0 done, 1 failed, 2 usage, 3 no such call here, 4 wrong
// results.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "call.h"
#include "contenders.h"
#include "json.h"
#include "local.h"
#include "measure.h"
#include "options.h"
#include "overlap.h"
#include "results.h"
#include "verify.h"
#include "world.h"

namespace sumac::bench {

namespace {

// How Sumac served the call. A nonblocking call that Sumac does not intercept leaves the last path
// unchanged: this is recognised by making it after two calls with different paths.
std::string path_of(RepeatedCall& call, const Buffers& buffers, const World& world) {
  if (call.kind() == Kind::blocking) {
    call.run();
    return last_path();
  }
  std::string path;
  std::set<std::string> paths_before;
  bool left = true;
  for (const Collective collective : {Collective::barrier, Collective::allreduce}) {
    const Case test{collective, DType::f32, Op::sum, 0, true, 1};
    RepeatedCall(world.called, test, buffers, world.rank, world.comm).run();
    const std::string before = last_path();
    call.run();
    path = last_path();
    left = left && path == before;
    paths_before.insert(before);
  }
  return left && paths_before.size() > 1 ? "mpi: not a call that Sumac takes" : path;
}

// The contenders of one size, the MPI first, and their results.
struct Field {
  Calls calls;
  std::vector<Result*> results;

  void add(const Contender& contender, Result& result, const Case& test, const Buffers& buffers,
           const World& world) {
    Case own = test;
    own.kind = contender.kind;
    calls.push_back(
        std::make_unique<RepeatedCall>(contender.functions, own, buffers, world.rank, world.comm));
    results.push_back(&result);
  }
};

void find_overlap(const Field& field, const Setting& setting, const Options& options) {
  std::vector<RepeatedCall*> calls;
  std::vector<Result*> results;
  std::vector<double> alone;
  for (std::size_t i = 0; i < field.calls.size(); i++) {
    if (field.calls[i]->kind() == Kind::blocking) continue;
    calls.push_back(field.calls[i].get());
    results.push_back(field.results[i]);
    alone.push_back(summarize(results.back()->times.whole).p50);
  }
  const std::vector<Overlaps> overlaps = measure_overlap(calls, alone, setting, options);
  for (std::size_t i = 0; i < overlaps.size(); i++) results[i]->overlap = overlaps[i];
}

// Collective. Checks and times one message size. Only rank 0 gets the samples.
Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             const Contenders& contenders) {
  Row row{options.test(count), {}, {}, {}, ""};
  Field field;
  field.add(contenders.native, row.native, row.test, buffers, world);
  if (contenders.sumac) field.add(*contenders.sumac, row.sumac.emplace(), row.test, buffers, world);
  if (contenders.blocking)
    field.add(*contenders.blocking, row.blocking.emplace(), row.test, buffers, world);
  const auto check = [&] {
    for (std::size_t i = 0; i < field.calls.size(); i++)
      field.results[i]->wrong = count_wrong(*field.calls[i], row.test, buffers, world);
    if (row.sumac) row.algorithm = path_of(*field.calls[1], buffers, world);
  };
  if (options.cold == 0) check();
  const Setting setting{row.test, buffers, world};
  const std::vector<Times> times = measure(field.calls, setting, options);
  for (std::size_t i = 0; i < times.size(); i++) field.results[i]->times = times[i];
  if (options.cold > 0) check();
  if (options.overlap) find_overlap(field, setting, options);
  return row;
}

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
  return !is_of_ranks(options.collective) ? run_local(options, world)
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
