// SPDX-License-Identifier: BSD-3-Clause
// A team needs this of its MPI: out-of-band communication and progress.
#pragma once

#include "interpose/mpi/world.h"
#include "team/context.h"
#include "team/oob.h"

namespace sumac {

struct Communicator;

class MpiOob final : public Oob {
 public:
  explicit MpiOob(Communicator& communicator) : communicator_(communicator) {}
  void all_gather(const void* own, void* all, std::size_t bytes) override;
  void gather(const void* own, void* all, std::size_t bytes) override;
  bool all_gather_among(const RankList& members, const void* own, void* all,
                        std::size_t bytes) override;
  void all_and(std::uint64_t* words, std::size_t count) override;
  void all_max(std::uint64_t* words, std::size_t count) override;
  void broadcast(void* data, std::size_t bytes) override;
  bool make_messages(std::shared_ptr<Messages>& made) override;
  // Drives the MPI's progress, since all may wait for a peer's rendezvous send to this rank, and
  // with it everything else that is under way.
  void drive() override;
  std::string name() override;
  void end_job() override;

 private:
  Communicator& communicator_;
};

// Returns what the teams of this process share.
const Context& team_context();

// Drives the MPI's progress alone.
void probe_mpi(const Communicator& communicator);

// WaitPolicy calls this: it does report_late() for every communicator on which something is under
// way. The context is not used.
void report_late_anywhere(void*, double seconds);

}  // namespace sumac
