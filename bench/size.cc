// SPDX-License-Identifier: BSD-3-Clause
#include "size.h"

#include <set>

#include "measure.h"
#include "overlap.h"
#include "presence.h"
#include "verify.h"

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

}  // namespace

Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             const Contenders& contenders) {
  Row row{options.test(count), {}, {}, {}, ""};
  Field field;
  field.add(contenders.native, row.native, row.test, buffers, world);
  if (contenders.sumac) field.add(*contenders.sumac, row.sumac.emplace(), row.test, buffers, world);
  if (contenders.blocking)
    field.add(*contenders.blocking, row.blocking.emplace(), row.test, buffers, world);
  for (std::size_t i = 0; i < field.calls.size(); i++)
    field.results[i]->wrong = count_wrong(*field.calls[i], row.test, buffers, world);
  if (row.sumac) row.algorithm = path_of(*field.calls[1], buffers, world);
  const Setting setting{row.test, buffers, world};
  const std::vector<Times> times = measure(field.calls, setting, options);
  for (std::size_t i = 0; i < times.size(); i++) field.results[i]->times = times[i];
  if (options.overlap) find_overlap(field, setting, options);
  return row;
}

}  // namespace sumac::bench
