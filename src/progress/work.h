// SPDX-License-Identifier: BSD-3-Clause
// A work is one collective as one rank of a communicator carries it out, in one group or over
// levels. A blocking call runs it to its end; otherwise it is begun and then advanced now and then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "levels/levels_run.h"
#include "progress/slices.h"
#include "transport/shm/group.h"

namespace sumac {

// A communicator's ranks remember this of transfers that were refused.
struct RefusalsMet {
  std::atomic<bool> here{false};  // this rank's transfers, or those to it, as far as it knows
  // True if all ranks know it, from the end of the same blocking call on.
  bool agreed = false;
};

// A communicator's collectives of one kind are carried out here.
struct Ranks {
  ShmGroup* group = nullptr;        // all of them, if one group is enough
  LevelsRun* levels = nullptr;      // otherwise their hierarchy
  PeerMemory* memory = nullptr;     // the group's, if it can be reached
  RefusalsMet* refusals = nullptr;  // these ranks' memory of refusals, or null
  bool streams = false;             // stores into others' memory go past the caches (Measured)
};

// Returns what the ranks tell each other of the call.
Announcement announcement_of(const ChosenCall& call);

// Starts a call on one group. `direct` is tried first, and learns how that ended.
Task start_in_group(Strand& strand, ShmGroup& group, const ChosenCall& call,
                    const SingleCopy& peers, DirectTry& direct);

// A work must not move, since coroutines hold references to it.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // These describe the call going on, or the last one. Another thread may ask, for reports.
  Algorithm algorithm() const { return algorithm_; }
  std::size_t bytes() const { return bytes_; }
  // Returns what was tried first, and whether that went.
  const DirectTry& direct() const { return direct_; }

  // Runs the call to its end, with nothing else under way on these ranks.
  void run(const ChosenCall& call, const DirectTry& direct, const Ranks& ranks,
           const WaitPolicy& policy);

  // Sets the call that begin() begins, and the ranks that carry it out. `overlaps` says that other
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
  // Returns true if it got past a condition. `has_time` says that the caller would only wait
  // otherwise.
  bool progress(bool has_time = true);
  bool going() const { return going_; }
  // Runs an operation of a group (not over levels) that was begun to its end, waiting in place.
  void finish(const WaitPolicy& policy);

  const Strand& strand() const { return strand_; }
  // Returns true if all ranks know that a transfer of this call, which has ended, or of an earlier
  // one was refused.
  bool refusals_agreed() const { return refusals_.agreed(); }
  const Ranks& ranks() const { return ranks_; }

 private:
  void announce();
  void run_strands(const WaitPolicy& policy);
  Task start() { return start_in_group(strand_, *ranks_.group, *call_, peers_, direct_); }
  void borrow();
  void give_back();
  bool begin_over_levels();
  void end_if_done();

  ChosenCall kept_;
  const ChosenCall* call_ = &kept_;  // the caller's while in run()
  Algorithm algorithm_ = Algorithm::native;
  std::size_t bytes_ = 0;
  DirectTry direct_;
  Ranks ranks_;
  Strand strand_;
  SingleCopy peers_;
  Refusals refusals_;
  LevelsOperation* operation_ = nullptr;
  std::unique_ptr<Slices> slices_;  // null unless it is over levels and cut
  bool overlaps_ = false, going_ = false;

 public:
  // Set when the queue no longer uses the work.
  std::atomic<bool> ended{true};
  Work* next = nullptr;  // for the queue
  bool apart = false;    // for the queue: the work is on ranks of its own
};

// Single-copy operations use this scratch memory, which the communicators of this process share.
inline constexpr std::size_t kScratchBytes = 1 << 20;
std::byte* borrow_scratch();
void return_scratch(std::byte* scratch);

}  // namespace sumac
