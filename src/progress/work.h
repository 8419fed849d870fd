// SPDX-License-Identifier: BSD-3-Clause
// One collective as one rank of a communicator carries it out, in one group or over levels: run to
// its end by a blocking call, or begun and then advanced now and then.
#pragma once

#include <atomic>
#include <cstdint>

#include "levels/levels_run.h"
#include "transport/shm/group.h"

namespace sumac {

// What a communicator's ranks remember of transfers that were refused.
struct RefusalsMet {
  std::atomic<bool> here{false};  // by this rank, or to it, as far as it knows
  // All ranks know, from the end of the same blocking call on.
  bool agreed = false;
};

// Where a communicator's collectives of one kind are carried out.
struct Ranks {
  ShmGroup* group = nullptr;        // all of them, where one group is enough
  LevelsRun* levels = nullptr;      // else their hierarchy
  PeerMemory* memory = nullptr;     // of the group, where it can be reached
  RefusalsMet* refusals = nullptr;  // what these ranks remember, if anything
  bool streams = false;             // stores into others' memory go past the caches (Measured)
};

// Starts a call on one group. `direct`: what is tried first, which learns how that ended.
Task start_in_group(Strand& strand, ShmGroup& group, const ChosenCall& call,
                    const SingleCopy& peers, DirectTry& direct);

// Not movable: coroutines hold references to it.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // Of the call going on, or of the last one: for reports, which another thread may make.
  Algorithm algorithm() const { return algorithm_; }
  std::size_t bytes() const { return bytes_; }
  // What was tried first, and whether that went.
  const DirectTry& direct() const { return direct_; }

  // Runs the call to its end, with nothing else under way on these ranks.
  void run(const ChosenCall& call, const DirectTry& direct, const Ranks& ranks,
           const WaitPolicy& policy);

  // Sets the call that begin() begins, and the ranks that carry it out. `overlaps`: other
  // operations may begin before it has ended.
  void set(const ChosenCall& call, const DirectTry& direct, const Ranks& ranks, bool overlaps) {
    kept_ = call;
    direct_ = direct;
    ranks_ = ranks;
    overlaps_ = overlaps;
  }
  bool over_levels() const { return ranks_.levels != nullptr; }
  // Takes its place behind what was begun before, the same on all ranks, and runs as far as
  // conditions allow.
  void begin();
  // Returns true when it got past a condition. `has_time`: the caller would only wait otherwise.
  bool progress(bool has_time = true);
  bool going() const { return going_; }
  // Runs an operation of a group (not over levels) that was begun to its end, waiting in place.
  void finish(const WaitPolicy& policy);

  const Strand& strand() const { return strand_; }
  // After its end: all ranks know that a transfer of it, or of an earlier call, was refused.
  bool refusals_agreed() const { return refusals_.agreed(); }
  const Ranks& ranks() const { return ranks_; }

 private:
  void announce();
  Task start() { return start_in_group(strand_, *ranks_.group, *call_, peers_, direct_); }
  void borrow();
  void give_back();
  void end_if_done();

  ChosenCall kept_;
  const ChosenCall* call_ = &kept_;  // in run(), the caller's
  Algorithm algorithm_ = Algorithm::native;
  std::size_t bytes_ = 0;
  DirectTry direct_;
  Ranks ranks_;
  Strand strand_;
  SingleCopy peers_;
  Refusals refusals_;
  LevelsOperation* operation_ = nullptr;
  bool overlaps_ = false, going_ = false;

 public:
  // Set when the queue no longer uses the work.
  std::atomic<bool> ended{true};
  Work* next = nullptr;  // the queue's
  bool apart = false;    // the queue's: on ranks of its own
};

// Scratch memory of single-copy operations, shared by the communicators of this process.
inline constexpr std::size_t kScratchBytes = 1 << 20;
std::byte* borrow_scratch();
void return_scratch(std::byte* scratch);

}  // namespace sumac
