// SPDX-License-Identifier: BSD-3-Clause
// These messages go over the MPI's point-to-point communication, on a communicator of their own, so
// that no receive of the program's, whatever its wildcards, can take one.
#pragma once

#include <vector>

#include "interpose/mpi/handle_types.h"
#include "transport/p2p/messages.h"

namespace sumac {

class MpiMessages final : public Messages {
 public:
  // Takes the communicator over.
  explicit MpiMessages(MpiComm all);
  // Frees the communicator. No message may be under way.
  ~MpiMessages() override;
  MpiMessages(const MpiMessages&) = delete;
  MpiMessages& operator=(const MpiMessages&) = delete;

  void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) override;
  void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) override;
  bool poll() override;
  bool busy() const override { return !requests_.empty(); }

  void add_peers(std::vector<int>& peers) const override;

  // Sets whether communicators are freed, or left for MPI_Finalize.
  static void set_freeing(bool may);

  // Returns the number of objects of this process: see kMostMessengers.
  static int live();

 private:
  struct Pending {
    Counter* completed;
    int peer;
  };
  void add(MpiRequest request, Counter& completed, int peer, int error);

  MpiComm all_;
  HandleArray<MpiRequest> requests_;
  std::vector<Pending> pending_;  // for the request in the same place
  std::vector<int> completed_;
};

// Makes a communicator of the same ranks (color 0), or of those with that color, which reports
// errors to its caller and carries none of the attributes of `comm`. Collective. The result is
// MPI_COMM_NULL if the MPI could make none, or the color is MPI_UNDEFINED. Returns false on
// failure, without a call of any error handler of the program's; but with MPICH a communicator
// without a handler of its own reports the error as usual.
bool make_inner(MpiComm comm, int color, int rank, MpiComm& inner);

}  // namespace sumac
