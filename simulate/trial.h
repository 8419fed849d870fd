// SPDX-License-Identifier: BSD-3-Clause
// One case on one rank: its data, the call, how long it took and whether the result is right.
#pragma once

#include <vector>

#include "simulate/charge.h"
#include "simulate/job.h"

namespace sumac::simulated {

// What the ranks show each other outside of simulated time. They are in one process, whose globals
// they share, and one of them runs at a time.
struct Board {
  explicit Board(std::size_t ranks) : ready(ranks), ended(ranks), wrong(ranks) {}
  std::vector<double> ready, ended;  // by rank: moments
  std::vector<char> wrong;           // by rank
};

struct Outcome {
  double seconds = 0;  // from the moment at which all ranks begin to the last one's end
  int wrong = 0;       // ranks with a wrong result
};

class Trial {
 public:
  // `communicator` may be null where the case is SMPI's.
  Trial(const Case& what, Communicator* communicator, Board& board);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  // Collective. Makes the call once.
  Outcome run();
  // How Sumac does it.
  std::string plan() const;

 private:
  double begin_together();
  bool goes_to_mpi() const;
  CallArguments arguments();
  void compute(MPI_Request* request) const;
  void call_sumac();
  void call_mpi();
  void fill();
  bool is_right() const;
  double sum_of_ranks() const;

  const Case& case_;
  Communicator* const communicator_;
  Board& board_;
  int rank_ = 0, size_ = 1;
  Choice choice_;
  MPI_Op sum_;
  std::vector<double> in_, out_;
};

}  // namespace sumac::simulated
