// SPDX-License-Identifier: BSD-3-Clause
// A team's ranks communicate out of band before Sumac has shared memory or messages for them. The
// back end uses the MPI's own functions, tests use threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/rank_list.h"
#include "transport/p2p/messages.h"

namespace sumac {

// This is one rank's view. All ranks of the team make the collective calls in the same order.
class Oob {
 public:
  virtual ~Oob() = default;

  // Collective: gathers `bytes` bytes of each rank, in the order of ranks.
  virtual void all_gather(const void* own, void* all, std::size_t bytes) = 0;
  // Collective: gathers `bytes` bytes of each rank at rank 0; `all` is used there only.
  virtual void gather(const void* own, void* all, std::size_t bytes) = 0;
  // Collective: gathers `bytes` bytes of each of `members`, in their order. This rank is one of
  // them; each rank of the team is in one such group, whose ranks all name the same. Returns false,
  // on all members, if there is no way to do so.
  virtual bool all_gather_among(const RankList& members, const void* own, void* all,
                                std::size_t bytes) = 0;
  // Collective: leaves the bits that are set on all ranks.
  virtual void all_and(std::uint64_t* words, std::size_t count) = 0;
  // Collective: leaves the greatest of all ranks' words, one by one.
  virtual void all_max(std::uint64_t* words, std::size_t count) = 0;
  // Collective: copies rank 0's data to all.
  virtual void broadcast(void* data, std::size_t bytes) = 0;
  // Collective: makes messages between these ranks that cannot be taken for any other message.
  // Returns false on a local failure; `messages` must then live until all ranks know.
  virtual bool make_messages(std::shared_ptr<Messages>& made) = 0;

  // Drives the progress of whatever carries messages.
  virtual void drive() = 0;
  // Returns the communicator's name for people, or an empty text if it has none.
  virtual std::string name() { return ""; }
  // Ends the job, after an error has been logged. May return in tests.
  virtual void end_job() = 0;
};

}  // namespace sumac
