// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a team reach each other out of band: before there is anything of Sumac's between
// them. The back end does it by the MPI's own functions, tests by threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/p2p/messages.h"

namespace sumac {

// One rank's view. Calls that are collective are made by all ranks of the team in the same order.
class Oob {
 public:
  virtual ~Oob() = default;

  // Collective: `bytes` of each rank, in the order of ranks.
  virtual void all_gather(const void* own, void* all, std::size_t bytes) = 0;
  // Collective: the bits that are set on all ranks.
  virtual void all_and(std::uint64_t* words, std::size_t count) = 0;
  // Collective: what rank 0 has.
  virtual void broadcast(void* data, std::size_t bytes) = 0;
  // Collective: messages between these ranks that no other message can be taken for; `leaders`, in
  // ascending order, are the ranks for which they also serve native_allreduce(). False on failure
  // here; what is made all the same is to live until all ranks know.
  virtual bool make_messages(const std::vector<int>& leaders, std::shared_ptr<Messages>& made) = 0;

  // Lets whatever carries messages make progress.
  virtual void drive() = 0;
  // Ends the job, for an error that has been logged. May return in tests.
  virtual void end_job() = 0;
};

}  // namespace sumac
