// SPDX-License-Identifier: BSD-3-Clause
// In tests of Sumac's requests, this is what is below and beside them: a communicator of this rank
// and a peer, which is in the same thread and makes the same calls some time later, and an MPI that
// has only requests.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "interpose/requests/requests.h"
#include "testing/one_process.h"

namespace sumac {

// This is the sum of a number of each rank.
struct Sum {
  std::int32_t own = 0, of_peer = 0, result = 0;
  bool is_right() const { return result == own + of_peer; }
};

// The peer goes on whenever this rank polls.
class ServedRanks {
 public:
  explicit ServedRanks(unsigned seed);
  ~ServedRanks();
  ServedRanks(const ServedRanks&) = delete;
  ServedRanks& operator=(const ServedRanks&) = delete;

  Communicator& communicator() { return communicator_; }
  // Begins the sum, and returns its request.
  MpiRequest begin(Sum& sum);
  // Makes an inactive request of the sum.
  MpiRequest initialise(Sum& sum);
  // This rank has started the operation.
  void started(CollectiveRequest& request);
  // The peer does something, if it has anything to do.
  void step();
  // Says which error the program was last told of on the communicator, and forgets it.
  int take_error();

  // The functions of MPI's as the program calls them.
  static MpiFunctions& calls();

 private:
  void start_one();
  struct Persistent {
    explicit Persistent(Sum& its_sum) : sum(its_sum), block(2, 8, 1024) {}
    Sum& sum;
    testing::TestBlock block;
    OwnRanks own;
    ShmGroup of_peer;
    const Work* last = nullptr;  // the peer's last work
  };
  // The peer makes the same call, perhaps when this rank has long ended it.
  struct CallOfPeer {
    explicit CallOfPeer(std::int32_t number) : own(number) {}
    const std::int32_t own;
    std::int32_t result = 0;
    Persistent* persistent = nullptr;
    Work work;
  };

  std::minstd_rand random_;
  testing::TestBlock block_;
  Communicator communicator_;
  ShmGroup group_of_peer_;
  Engine engine_of_peer_;
  WorkQueue queue_of_peer_;
  std::deque<Persistent> persistent_;
  std::deque<CallOfPeer> calls_of_peer_;
  std::deque<CallOfPeer*> begun_;     // the peer has yet to begin these, in order
  std::vector<CallOfPeer*> started_;  // and these in any order
};

}  // namespace sumac
