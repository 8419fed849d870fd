// SPDX-License-Identifier: BSD-3-Clause
#include "overlap.h"

#include <cmath>
#include <deque>

#include "compute.h"
#include "measure.h"

namespace sumac::bench {
namespace {

// What is timed: the call alone, the computation alone, or the computation within the call.
struct Part {
  bool call, compute;
  int tests;
};

Block block(RepeatedCall& call, const Computation& computation, Part part, const Setting& setting) {
  return [&call, &computation, part, &setting](int calls, float* us) {
    const auto once = [&] {
      bool over = !part.call;
      if (part.call) call.start();
      if (part.compute)
        computation.run(part.tests + 1, [&] {
          if (!over) over = call.test();
        });
      if (!over) call.wait();
    };
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time(once);
    }
  };
}

std::vector<Part> parts(int tests) {
  std::vector<Part> result{{true, false, 0}, {false, true, 0}, {true, true, 0}};
  if (tests > 0) result.insert(result.end(), {{false, true, tests}, {true, true, tests}});
  return result;
}

Overlap figures(const Samples& pure, const Samples& compute, const Samples& overall) {
  const Figures p = summarize(pure), c = summarize(compute), o = summarize(overall);
  return {p.p50, c.p50, o.p50, overlap_percent(p.by_round, c.by_round, o.by_round)};
}

}  // namespace

std::vector<Overlaps> measure_overlap(const std::vector<RepeatedCall*>& calls,
                                      const std::vector<double>& alone, const Setting& setting,
                                      const Options& options) {
  const std::vector<Part> each = parts(options.tests);
  std::deque<Computation> computations;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < calls.size(); i++) {
    const double us = setting.world.from_rank_0(alone[i]);
    computations.emplace_back(options.compute, static_cast<std::int64_t>(std::llround(us * 1000)));
    for (const Part part : each)
      blocks.push_back(block(*calls[i], computations.back(), part, setting));
  }
  const std::vector<Samples> samples = in_rounds(blocks, options, setting.world);
  std::vector<Overlaps> result;
  for (std::size_t i = 0; i < samples.size(); i += each.size()) {
    result.push_back({figures(samples[i], samples[i + 1], samples[i + 2]), {}});
    if (options.tests > 0)
      result.back().tests = figures(samples[i], samples[i + 3], samples[i + 4]);
  }
  return result;
}

}  // namespace sumac::bench
