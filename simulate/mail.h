// SPDX-License-Identifier: BSD-3-Clause
// The messages of a simulated rank, over SMPI's point-to-point. All that are under way wait in one
// place, since simulated time passes for a rank as a whole: when nothing can go on without another
// message, the rank blocks until any of them has arrived. So times do not depend on how often it
// polls.
#pragma once

#include <mpi.h>

#include <deque>
#include <unordered_map>
#include <vector>

#include "transport/p2p/messages.h"

namespace sumac::simulated {

class SmpiMessages;

// Of one rank: the requests of all its SmpiMessages.
class Mail {
 public:
  // `overhead`: what SMPI lets a message that is not synchronous take of its receiver, in seconds.
  explicit Mail(double overhead) : overhead_(overhead) {}
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  struct Pending {
    Counter* completed;
    SmpiMessages* owner;
    int towards = -1;  // the peer of a message in turn
    // A received message whose overhead SMPI does not charge, since it was sent synchronously.
    bool takes_overhead = false;
  };
  void add(MPI_Request request, const Pending& pending);
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

  const double overhead_;
  std::vector<MPI_Request> requests_;
  std::vector<Pending> pending_;  // of the request in the same place
  std::vector<int> found_;
};

// SMPI lets all messages of a rank share its links, so that chunks sent one after another to the
// same peer would all arrive when the last one does. A connection of a real network carries them in
// turn. So a message of kInTurn bytes or more begins when the one before it to the same peer has
// arrived, which costs a latency more than in a real network; smaller ones take little of a link,
// and wait only behind such. A message whose receive is not posted yet makes none wait: it takes
// nothing of a link, and its peer may need those behind it first.
class SmpiMessages final : public Messages {
 public:
  // Collective. The messages' tags are above kFirstTag, and no other messages' of the communicator:
  // SMPI keeps a table of all ranks for each rank's handle of a communicator of their own.
  SmpiMessages(Mail& mail, MPI_Comm comm);
  ~SmpiMessages() override = default;
  SmpiMessages(const SmpiMessages&) = delete;
  SmpiMessages& operator=(const SmpiMessages&) = delete;

  void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) override;
  void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) override;
  // Tells whether anything has completed since it was asked last; looks at no message.
  bool poll() override;
  bool busy() const override { return under_way_ > 0; }

  static constexpr int kFirstTag = 2, kTagsOfEach = 1024;

 private:
  friend class Mail;
  static constexpr std::size_t kInTurn = 16 << 10;
  // From here on SMPI takes no overhead of a receiver (send-is-detached-thresh).
  static constexpr std::size_t kSynchronous = 64 << 10;
  struct Sending {
    const std::byte* from;
    std::size_t bytes;
    int tag;
    Counter* sent;
  };
  // To one peer.
  struct Connection {
    std::deque<Sending> waiting;
    bool busy = false;  // a message in turn is on its way
  };
  void start(const Sending& sending, int peer, bool in_turn);
  void advance(int peer);
  int tag_of(const Stream& stream) const;
  // Receives posted by `to` for messages of `from`, less the sends begun.
  long& balance(int from, int to, int tag) const;

  Mail& mail_;
  MPI_Comm comm_;
  int number_ = 0, rank_ = 0;  // of these messages, among all; of this rank in the communicator
  int under_way_ = 0;
  bool moved_ = false;
  std::unordered_map<int, Connection> connections_;  // by peer: those with messages in turn
};

}  // namespace sumac::simulated
