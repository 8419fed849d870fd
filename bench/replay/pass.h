// SPDX-License-Identifier: BSD-3-Clause
// One pass over the events of a record.
#pragma once

#include "player.h"

namespace sumac::replay {

class Player::Pass {
 public:
  // `checks`: the inputs of each call are filled before it, and results are hashed after it.
  Pass(const Player& player, const Functions& functions, bool gaps, bool checks);
  void run();

  std::vector<Spent> spent;  // by shape
  std::vector<Result> results;

 private:
  struct Held {  // a request
    MPI_Request request = MPI_REQUEST_NULL;
    int shape = kNone;
    bool persistent = false, active = false;
  };

  const Ready* ready_of(int shape) const;
  void block(int shape);
  void begin(const Event& event);
  void start(const Event& event);
  void wait(const std::uint32_t* requests, std::size_t count);
  void free(std::uint32_t request);
  void finish();
  void make_call(const Ready& ready, MPI_Request* request);
  void add(int shape, std::uint64_t calls, std::uint64_t ns);
  void fill(const Ready& ready);
  bool is_busy(const Piece& piece) const;
  void note_result(int shape);

  const Player& player_;
  const Functions& functions_;
  const bool gaps_, checks_;
  std::vector<Held> held_;
  std::size_t event_ = 0;
};

}  // namespace sumac::replay
