// SPDX-License-Identifier: BSD-3-Clause
// This class decides when it pays to promote a buffer.
//
// Idea: nobody knows how often a program will use a buffer again, as nobody knows on the first day
// whether to rent skis or to buy them. A buffer is promoted once the time that its uses so far
// would have saved has reached the time that promotion costs: at worst twice the time of the best
// choice in hindsight is spent. The cost is learnt from the promotions made.
// Uses at the same address may be uses of new memory each time, for which promotion never pays. New
// memory takes page faults. So a buffer that is due is promoted at one of its next kLooks uses, if
// the process has taken next to no page faults since the use before. Otherwise nothing is known;
// then it is promoted only while all such promotions have taken less than kBlindShare of the time
// of the calls, so that a program that uses every buffer once loses no more than that.
// A buffer that was refused is tried again when its uses have doubled. Where the program frees a
// buffer before its promotion has paid, and gets another one at the same address, the next
// promotion there must have earned twice as much, and so on up to kMostFactor times; half as much
// again after one that has paid.
//
// Cost: a few ns and one cache line a use. Memory: a fixed table, in which a buffer's place follows
// from its address. A newcomer whose place is taken wears the other's entry down and gets the place
// when that is used up, so that 10^6 buffers used once leave those that are used often where they
// are. Not safe for several threads at once, but for note_use() and is_private().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac::promotion {

class Usage {
 public:
  struct Prices {
    double cost_ns_per_page = 1500;  // cost of promotion before any was measured
    double cost_ns_each = 50'000;    // additional cost of each promotion
    bool eager = false;              // promote at the first use, without counting
    // Returns how many page faults the process has taken so far. If null, buffers that are due are
    // promoted at once.
    std::uint64_t (*page_faults)() = nullptr;
  };
  static constexpr double kBlindShare = 0.005;
  static constexpr std::uint32_t kLooks = 4;
  explicit Usage(const Prices& prices) : prices_(prices), cost_(prices.cost_ns_per_page) {}

  static constexpr std::uint32_t kMostFactor = 64;

  // Counts a use of a private buffer, which would have taken `gain_ns` less had the buffer been
  // promoted. Returns true if it should be promoted now.
  bool use(const void* address, std::size_t bytes, double gain_ns);
  // Returns true for a buffer that was private at its last use, and whose promotion was not noted
  // since.
  bool is_private(const void* address);
  // Counts a use of a promoted buffer. Any thread may call it; if two do at once, only one may
  // count.
  void note_use(const void* address);
  // Counts the time of a call that could have used promoted buffers. Any thread may call it.
  void call_took(std::uint64_t ns) { calls_ns_.fetch_add(ns, std::memory_order_relaxed); }
  // Report the outcome of a promotion: `bytes` were moved in `ns`, or it was refused.
  void promoted(const void* address, std::size_t bytes, std::uint64_t ns);
  void refused(const void* address);

  double cost_ns_per_page() const { return cost_; }

 private:
  struct Entry {
    std::atomic<std::uintptr_t> address{0};
    double saved_ns = 0;                // sum for its uses so far, had it been promoted
    double gain_ns = 0;                 // gain of its last use
    std::uint32_t uses = 0, worth = 0;  // worth: newcomers have to wear it down
    std::uint32_t try_at_use = 0;       // no promotion is tried before this use
    std::uint32_t factor = 1;           // saved_ns must reach so many times the cost
    std::uint32_t looks = 0;            // how often page faults were looked at since it is due
    bool blind = false;                 // it was promoted without knowledge of its memory
    std::uint64_t faults = 0;           // page faults at the last look
    std::atomic<std::uint32_t> paid_at_use{0};  // promoted uses that pay for it; 0: not promoted
    std::atomic<std::uint32_t> promoted_uses{0};

    // Gives the entry to another buffer.
    void renew(std::uintptr_t other);
    // Settles the account of a promotion that has ended: the memory is private again.
    void settle();
    void count_from_anew();
  };
  static constexpr std::size_t kEntries = 1024;
  Entry& entry_for(const void* address);  // this may be another buffer's
  Entry* entry_of(const void* address);
  double cost_of(std::size_t bytes) const;
  // Decides whether a buffer that is due is promoted now.
  bool decide(Entry& entry, std::size_t bytes);

  Prices prices_;
  double cost_;
  std::atomic<std::uint64_t> calls_ns_{0};
  double blind_ns_ = 0;  // time that blind promotions have taken
  std::array<Entry, kEntries> entries_ = {};
};

}  // namespace sumac::promotion
