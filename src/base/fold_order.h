// SPDX-License-Identifier: BSD-3-Clause
// This is the order in which a group folds its ranks' elements. It depends on the number of ranks
// alone, so all algorithms of a group give the same bits, and calls may choose among them.
//
// Up to 16 ranks fold one after another: ((r0 op r1) op r2) ... Beyond that each run of 8
// neighbouring ranks folds so, and then the results of the runs do: a run's result can travel in
// place of 8 contributions, and it often belongs to ranks that share a cache. The numbers are
// frozen: others would change results.
#pragma once

#include <algorithm>

namespace sumac {

struct FoldOrder {
  static constexpr int kMostInOrder = 16;  // ranks that are folded one after another
  static constexpr int kRun = 8;           // neighbouring ranks of a run, if there are more

  // The ranks are folded one after another.
  constexpr FoldOrder(int all) : ranks(all), run(all) {}  // NOLINT(google-explicit-constructor)
  static constexpr FoldOrder of_group(int ranks) {
    FoldOrder order(ranks);
    if (ranks > kMostInOrder) order.run = kRun;
    return order;
  }

  bool has_runs() const { return run < ranks; }
  int runs() const { return (ranks + run - 1) / run; }
  int first_of(int its_run) const { return its_run * run; }
  int length_of(int its_run) const { return std::min(run, ranks - first_of(its_run)); }

  int ranks, run;
};

}  // namespace sumac
