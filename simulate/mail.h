// SPDX-License-Identifier: BSD-3-Clause
// The messages of a simulated rank, over SMPI's point-to-point. All that are under way wait in one
// place, since simulated time passes for a rank as a whole: when nothing can go on without another
// message, the rank blocks until any of them has arrived. So times do not depend on how often it
// polls.
#pragma once

#include <mpi.h>

#include <vector>

#include "transport/p2p/messages.h"

namespace sumac::simulated {

class SmpiMessages;

// Of one rank: the requests of all its SmpiMessages.
class Mail {
 public:
  Mail() = default;
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  void add(MPI_Request request, Counter& completed, SmpiMessages& owner);
  // Waits, in simulated time, until one has completed. Ends the job where none is under way: the
  // rank would wait for ever.
  void wait();
  // The same, or until a request of the program's has completed; returns true then.
  bool wait_also_for(MPI_Request& other, MPI_Status* status);
  // Completes what has arrived by now. Takes the simulated time of one MPI_Testsome.
  void look();
  bool empty() const { return requests_.empty(); }

 private:
  void complete(std::size_t index);

  struct Pending {
    Counter* completed;
    SmpiMessages* owner;
  };
  std::vector<MPI_Request> requests_;
  std::vector<Pending> pending_;  // of the request in the same place
  std::vector<int> found_;
};

class SmpiMessages final : public Messages {
 public:
  // Takes the communicator over.
  SmpiMessages(Mail& mail, MPI_Comm comm) : mail_(mail), comm_(comm) {}
  ~SmpiMessages() override;
  SmpiMessages(const SmpiMessages&) = delete;
  SmpiMessages& operator=(const SmpiMessages&) = delete;

  void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) override;
  void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) override;
  // Tells whether anything has completed since it was asked last; looks at no message.
  bool poll() override;
  bool busy() const override { return under_way_ > 0; }

 private:
  friend class Mail;
  Mail& mail_;
  MPI_Comm comm_;
  int under_way_ = 0;
  bool moved_ = false;
};

}  // namespace sumac::simulated
