// SPDX-License-Identifier: BSD-3-Clause
// The algorithms in two steps divide a group into runs of neighbouring ranks: a rank meets the
// ranks of its run, and then one rank of each other run.
#pragma once

#include "algorithms/arguments.h"
#include "transport/shm/group.h"

namespace sumac {

class Runs {
 public:
  Runs(FoldOrder order, int rank)
      : order_(order), own_(rank / order.run), place_(rank % order.run) {}

  int count() const { return order_.runs(); }
  // Return the number of ranks in this rank's run, and its members.
  int members() const { return order_.length_of(own_); }
  int member(int i) const { return order_.first_of(own_) + i; }
  // Returns the rank of another run that this rank meets, and this rank itself for its own run. The
  // last run may have fewer ranks, so several meet the same there.
  int partner(int run) const { return order_.first_of(run) + place_ % order_.length_of(run); }

 private:
  FoldOrder order_;
  int own_, place_;
};

}  // namespace sumac
