// SPDX-License-Identifier: BSD-3-Clause
// This is one rank's handle on the shared memory of a group of ranks.
//
// Positions. Every use of a slot is numbered, the same on all ranks: a collective takes as many
// positions as it has chunks, at the moment it is called, with the lines and payloads that it uses
// of each (places.h), and ranks go through them in order. The protocol, whatever the algorithm:
//   1. before writing its slot for p a rank waits for slot_free(p);
//   2. it writes, then publishes in(p) - and out(p) for a result it puts there later;
//   3. it reads others' slots for p only after their in(p) or out(p);
//   4. it calls finish(p) when it will not read any slot for p again.
// There is no entry barrier and seldom a wait at 1: a rank that need not wait for others may be
// kPositions small operations ahead of them. If several operations are under way at the same time,
// a later one may finish first: others are told of a position only when all before it are finished
// too.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/cpu.h"
#include "base/fold_order.h"
#include "strands/counter.h"
#include "transport/shm/hand_over.h"
#include "transport/shm/layout.h"
#include "transport/shm/places.h"

namespace sumac {

// A hash of all calls that a rank has announced. It is equal on ranks that have announced the same.
class CallHash {
 public:
  void add(const Announcement& call) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull;
    all_ = (all_ ^ (call.what + call.bytes * kOdd)) * kOdd;
  }
  static constexpr int kMarkBits = 16;
  // Returns the bits of the hash that flags carry.
  std::uint64_t mark() const { return all_ >> (64 - kMarkBits); }

 private:
  std::uint64_t all_ = 0;
};

class ShmGroup {
 public:
  ShmGroup() = default;
  // Uses lane `lane` of the block that the arena returned.
  ShmGroup(std::byte* block, const Layout& layout, int rank, int lane = 0)
      : block_(block + layout.lane_offset(lane)),
        layout_(layout),
        memory_(block_ + layout.rings_offset()),
        payloads_(memory_ + layout.payloads_offset()),
        rank_stride_(layout.rank_stride()),
        flags_(layout.flag_places()),
        first_flag_(block_ + flags_.first),
        flag_stride_(has_lines() ? rank_stride_ : flags_.by_rank),
        sure_(layout.sure_positions()),
        places_(layout),
        hand_over_(PassSchedule(std::max<std::size_t>(layout.payload_bytes(), 1))),
        rank_(rank),
        order_(FoldOrder::of_group(layout.ranks)),
        marked_(kAnnouncedCalls) {}

  bool has_memory() const { return block_; }
  int rank() const { return rank_; }
  int size() const { return layout_.ranks; }
  // Returns the order in which this group folds its ranks.
  FoldOrder fold_order() const { return order_; }
  // Folds one rank after another, however many there are (SUMAC_REPRODUCIBLE).
  void fold_by_rank() { order_ = FoldOrder(size()); }
  std::size_t slot_bytes() const { return layout_.slot_bytes; }
  std::size_t divided_payload() const { return layout_.divided_payload(); }
  std::size_t widest_payload() const { return layout_.widest_payload(); }
  std::size_t ring() const { return layout_.ring; }

  // Takes the next `count` positions for one operation, which uses the same of each. Returns the
  // first.
  std::uint64_t take(std::uint64_t count, const Use& use = {}) {
    const std::uint64_t first = next_;
    places_.take(first, count, use);
    if (use.lines > 1 && !lines_backed_) [[unlikely]]
      back_lines();
    if (places_.payloads_taken() > backed_) [[unlikely]]
      back_payloads();
    if (takes_more_ && overlapped_ == next_) overlapped_ += count;
    takes_more_ = false;
    next_ += count;
    return first;
  }

  // Takes the first position for an operation that learns from the other ranks how many it needs.
  // The next take() must be the same operation's; no other operation may take any in between.
  std::uint64_t take_first(const Use& use) {
    const std::uint64_t first = take(1, use);
    takes_more_ = true;
    return first;
  }
  bool takes_more() const { return takes_more_; }

  // Announces the next operation, before it takes its positions. Its flags, and those of all later
  // operations, then differ from those of a rank that has announced anything else: each sees the
  // other as if it had not arrived. This writes memory that other ranks read only when they wait
  // long.
  void announce(const Announcement& call) {
    control(rank_).begun.store(next_, std::memory_order_relaxed);
    list(call);
    if (!marks_calls_) return;
    calls_.add(call);
    mark(calls_.mark());
  }
  // Does the same for an operation that takes no positions here, because levels carry it out.
  void announce_elsewhere(const Announcement& call) {
    list(call);
    calls_.add(call);
  }
  // On a level's group, list() is called when an operation begins, and the flags are marked when
  // its turn has come.
  void list(const Announcement& call) {
    AnnouncedCall& entry = control(rank_).calls[num_announced_ % kAnnouncedCalls];
    entry.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.what.store(call.what, std::memory_order_relaxed);
    entry.bytes.store(call.bytes, std::memory_order_relaxed);
    entry.number.store(++num_announced_, std::memory_order_release);
  }
  void mark(std::uint64_t mark) {
    announced_first_ = next_;
    mark_ = mark;
    marked_[++num_marked_ % kAnnouncedCalls] = {next_, mark};
  }
  // Leaves announcements out of the flags, for a group in which nothing is announced.
  void mark_no_calls() { marks_calls_ = false; }
  // Returns true if `rank` has announced another operation than this rank, or is in another one at
  // the same positions; false if it is merely behind or ahead. `number` becomes the operation's, or
  // 0 if that is not known any more.
  bool differs(int rank, std::uint64_t& number) const;
  // Returns the first rank that differs, or -1.
  int find_different(std::uint64_t& number) const;
  // Returns the operation of this number, or the last one for 0. Returns false if it is not known
  // any more.
  bool announced(int rank, std::uint64_t number, Announcement& call) const;
  // Returns true for the first rank that asks: if several find the same, only one reports it.
  bool is_first_to_tell() const;
  // Returns the value of a flag for a position. It is greater for a later one.
  std::uint64_t flag_of(std::uint64_t position) const {
    if (position < announced_first_) [[unlikely]]
      return flag_of_earlier(position);
    return (position + 1) << CallHash::kMarkBits | mark_;
  }
  // Returns true if `rank` has begun the operation that this rank has begun last.
  bool has_begun(int rank) const;
  // Returns true if `rank` has finished everything that this rank has begun, so that there is
  // nothing to wait for.
  bool is_through(int rank) const;

  // Returns true if small data travel in lines with flags of their own. Otherwise they are
  // contiguous, behind the one flag in().
  bool has_lines() const { return layout_.control == Control::slot; }
  Line& line(int rank, std::uint64_t position, int index) const {
    const Places::Run& run = places_.run_of(position);
    const std::size_t place = run.lines > 1
                                  ? Layout::further_lines_offset() + run.line_place * sizeof(Line)
                                  : place_of_first_line(position);
    return reinterpret_cast<Line*>(memory(rank) + place)[index];
  }
  // Returns the place of small data (at most kLinesData) that are contiguous: either the layout has
  // no lines, or they fit one.
  std::byte* small(int rank, std::uint64_t position) const {
    Line& first = line(rank, position, 0);
    const bool as_lines = has_lines() || places_.run_of(position).lines == 1;
    return as_lines ? first.data : reinterpret_cast<std::byte*>(&first);
  }
  // Returns the place of contiguous data of any size, behind the flag in() or out(), for an
  // operation that has at most `most` bytes there, the same on all ranks.
  std::byte* cell(int rank, std::uint64_t position, std::size_t most) const {
    return most <= kLineData ? small(rank, position) : payload(rank, position);
  }
  // Returns the payload. The operation may use as much of it as it said when it took the position.
  std::byte* payload(int rank, std::uint64_t position) const {
    return payloads(rank) + places_.payload_place(position);
  }
  // Returns the memory of all payloads of a rank.
  std::byte* payloads(int rank) const {
    return payloads_ + static_cast<std::size_t>(rank) * rank_stride_;
  }

  // Copies into this rank's payload of `position`, by the way that is fastest for writer and
  // readers together.
  void store(std::uint64_t position, std::byte* to, const std::byte* from, std::size_t bytes) {
    if (may_stream(bytes)) {
      store_measured(position, to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  // Returns true if `bytes` bytes that a layout packs should be packed elsewhere and given to
  // store(), because that is about to go past the caches, or to measure. Otherwise they should be
  // packed into the payload.
  bool stores_better(std::uint64_t position, std::size_t bytes) {
    Way measured;
    return may_stream(bytes) &&
           (hand_over_.schedule().measured(place_in_passes(position), measured) ||
            way_of(position) == Way::streamed);
  }
  // Calls work(), which reads `bytes` bytes from others' payloads of `position`.
  template <class Work>
  void read(std::uint64_t position, std::size_t bytes, const Work& work) const {
    Way way;
    if (!may_stream(bytes) || !hand_over_.schedule().measured(place_in_passes(position), way))
      return work();
    const std::uint64_t begun = cpu_ticks();
    work();
    note_read(position, way, cpu_ticks() - begun, bytes);
  }

  void publish_in(std::uint64_t position) const {
    publish(in_flag(rank_, position), flag_of(position));
  }
  void publish_out(std::uint64_t position) const {
    publish(out_flag(rank_, position), flag_of(position));
  }
  void finish(std::uint64_t position) {
    if (position != finished_ || num_early_ != 0) return finish_out_of_order(position);
    publish(control(rank_).done, ++finished_);
  }

  Wait in(int rank, std::uint64_t position) const { return one(in_flag(rank, position), position); }
  Wait out(int rank, std::uint64_t position) const {
    return one(out_flag(rank, position), position);
  }
  // Waits for the flags of all ranks but this one.
  Wait others_in(std::uint64_t position) const { return others(in_flag(0, position), position); }
  Wait others_out(std::uint64_t position) const { return others(out_flag(0, position), position); }
  // Any rank may do a part of a rank's share of the work. These counters are in the slot of the
  // rank whose share it is.
  Counter& taken(int rank, std::uint64_t position) const { return results(rank, position).taken; }
  Counter& done(int rank, std::uint64_t position) const { return results(rank, position).done; }
  Wait all_done(std::uint64_t position, std::uint64_t target) const {
    return {results(0, position).done, rank_stride_, size(), rank_, size(), target};
  }

  // Notes that a transfer of a rank's share of the work has been refused. A rank that sees the
  // share done afterwards also sees this.
  void mark_refused(int rank, std::uint64_t position) const {
    results(rank, position).refused.store(refused_at(position), std::memory_order_relaxed);
  }
  bool is_refused(int rank, std::uint64_t position) const {
    return results(rank, position).refused.load(std::memory_order_relaxed) == refused_at(position);
  }
  // Returns true if a transfer of any share has been refused. Call it when all shares are done.
  bool any_refused(std::uint64_t position) const {
    for (int r = 0; r < size(); ++r) {
      if (is_refused(r, position)) [[unlikely]]
        return true;
    }
    return false;
  }
  // A rank's slot has two places for requests: one for its own, and one for those of another rank
  // that deals with this one alone.
  Relayed& relayed(int rank, std::uint64_t position, int place) const {
    return results(rank, position).relayed[place];
  }
  // Waits until the rounds of all others have come to `target`, or at most `beyond` further.
  Wait others_relayed(std::uint64_t position, std::uint64_t target, std::uint64_t beyond) const {
    const Counter& first = relayed(0, position, 0).round;
    return {first, rank_stride_, size(), rank_ + 1, size() - 1, target, beyond};
  }

  Wait slot_free(std::uint64_t position) {
    if (position < finished_by_all_ + sure_) return Wait();
    const bool first_line_free = position < finished_by_all_ + kPositions;
    if (first_line_free && places_.run_of(position).only_first_lines()) return Wait();
    return slot_free_slow(position);
  }
  // Waits until all other ranks have finished a position.
  Wait finished_by_others(std::uint64_t position) const {
    return {control(0).done, sizeof(RankControl), size(), rank_ + 1, size() - 1, position + 1};
  }

  // Waits for `count` lines of a rank, each of which has its own flag where has_lines().
  Wait lines_in(int rank, std::uint64_t position, int count, int first = 0) const {
    if (!has_lines()) return in(rank, position);
    return {line(rank, position, first).in,
            sizeof(Line),
            count,
            0,
            count,
            flag_of(position),
            Wait::kExact};
  }

  // Fetches the first lines of this rank's next slot, as many as the last message took, back from
  // the ranks that read them last. It is called while this rank waits anyway.
  void prefetch_next_slot(std::uint64_t position) const {
    const Places::Run& run = places_.run_of(position);
    const std::byte* from = memory(rank_) + place_of_first_line(position + 1);
    if (run.lines > 1) {
      from =
          memory(rank_) + Layout::further_lines_offset() + places_.next_line_place() * sizeof(Line);
    }
    for (int i = 0; i < recent_lines_; ++i) {
      prefetch_for_write(from + static_cast<std::size_t>(i) * kCacheLine);
    }
  }
  void note_lines(int count) { recent_lines_ = std::min(count, kLinesPrefetched); }

  // Notes that all ranks have finished every position before this one. A caller infers that from
  // other flags, which is valid as long as operations follow one another.
  void note_finished_before(std::uint64_t position) {
    const bool in_order = finished_by_all_ >= overlapped_;
    if (in_order && position > finished_by_all_) finished_by_all_ = position;
  }
  // The operation that took the last positions may still be under way during later ones: flags of
  // later operations then tell nothing about its positions.
  void let_overlap() { overlapped_ = next_; }

  // Returns the rank to which this counter of the group belongs, or -1. Reports of ranks that have
  // not arrived ask this.
  int owner_of(const Counter* counter) const;

 private:
  bool may_stream(std::size_t bytes) const {
    return kCanStream && layout_.ranks == 2 && bytes >= kLeastMeasured;
  }
  static std::uint64_t refused_at(std::uint64_t position) { return position + 1; }
  static constexpr int kLinesPrefetched = 12;  // cache misses that a core can have under way

  std::byte* memory(int rank) const {
    return memory_ + static_cast<std::size_t>(rank) * rank_stride_;
  }
  // Processors fetch lines in pairs. The first lines of a position and of the next are in two
  // pairs, so that a rank does not fetch, with the line that it reads, one that another is about to
  // write.
  static std::size_t place_of_first_line(std::uint64_t position) {
    static_assert(std::has_single_bit(kPositions));
    const std::size_t index = position % kPositions;
    return (index * 2 % kPositions + index * 2 / kPositions) * sizeof(Line);
  }
  ResultFlags& results(int rank, std::uint64_t position) const {
    return reinterpret_cast<ResultFlags*>(memory(rank) +
                                          Layout::results_offset())[position % kResultPlaces];
  }
  Counter& flag(int rank, std::uint64_t position, std::size_t more) const {
    return *reinterpret_cast<Counter*>(first_flag_ +
                                       static_cast<std::size_t>(rank) * flags_.by_rank +
                                       position % kPositions * flags_.by_slot + more);
  }
  Counter& in_flag(int rank, std::uint64_t position) const {
    return has_lines() ? line(rank, position, 0).in : flag(rank, position, 0);
  }
  Counter& out_flag(int rank, std::uint64_t position) const {
    return has_lines() ? results(rank, position).out : flag(rank, position, flags_.to_result);
  }
  // Returns how far payloads have gone through their memory, for the passes of HandOver.
  std::uint64_t place_in_passes(std::uint64_t position) const {
    return Places::from_of(places_.run_of(position), position);
  }
  RankControl& control(int rank) const {
    return reinterpret_cast<RankControl*>(block_ + layout_.control_offset())[rank];
  }
  Wait others(const Counter& first, std::uint64_t position) const {
    return {first, flag_stride_, size(), rank_ + 1, size() - 1, flag_of(position), Wait::kExact};
  }
  Wait one(const Counter& flag, std::uint64_t position) const {
    return {flag, 0, 1, 0, 1, flag_of(position), Wait::kExact};
  }
  std::uint64_t flag_of_earlier(std::uint64_t position) const;
  Wait slot_free_slow(std::uint64_t position);
  Way way_of(std::uint64_t position);
  void store_measured(std::uint64_t position, std::byte* to, const std::byte* from,
                      std::size_t bytes);
  void note_read(std::uint64_t position, Way way, std::uint64_t ticks, std::size_t bytes) const;
  void finish_out_of_order(std::uint64_t position);
  void back_lines();
  void back_payloads();

  std::byte* block_ = nullptr;
  Layout layout_;
  std::byte* memory_ = nullptr;  // memory of rank 0
  std::byte* payloads_ = nullptr;
  std::size_t rank_stride_ = 0;
  FlagPlaces flags_;
  std::byte* first_flag_ = nullptr;
  std::size_t flag_stride_ = 0;
  std::uint64_t sure_ = 0;
  Places places_;
  bool lines_backed_ = false;  // this rank's further lines have memory
  std::uint64_t backed_ = 0;   // bytes of this rank's payloads that have memory; UINT64_MAX: all
  HandOver hand_over_;
  int rank_ = 0;
  int recent_lines_ = 1;
  bool takes_more_ = false, marks_calls_ = true;
  FoldOrder order_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t finished_by_all_ = 0;  // a lower bound, as last seen
  std::uint64_t overlapped_ = 0;       // see let_overlap()
  std::uint64_t finished_ = 0;         // this rank has finished every position before this
  int num_early_ = 0;                  // number of bits set in early_: positions finished after it
  std::bitset<kPositions> early_;
  // These describe the announced operations: their number, a hash of them all, and the first
  // positions and marks of the last ones.
  CallHash calls_;
  std::uint64_t num_announced_ = 0, num_marked_ = 0, announced_first_ = 0, mark_ = 0;
  struct Marked {
    std::uint64_t first = 0, mark = 0;
  };
  std::vector<Marked> marked_;  // indexed by number modulo kAnnouncedCalls
};

}  // namespace sumac
