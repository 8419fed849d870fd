// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/group.h"

#include <algorithm>
#include <bit>
#include <new>

#include "kernels/strided_copy.h"
#include "transport/shm/segment.h"

namespace sumac {
namespace {

void clear_flags(std::byte* lane, const Layout& layout) {
  if (layout.control == Control::slot) return;  // the flags are in the lines
  const FlagPlaces flags = layout.flag_places();
  for (std::size_t f = 0; f < kPositions * flags.by_slot; f += flags.by_rank) {
    new (lane + flags.first + f) Counter{};
  }
}

// Clears the flags. The data in lines are left as they are.
void clear_memory(std::byte* memory, const Layout& layout) {
  for (std::size_t i = 0; i < kPositions; ++i) new (memory + i * sizeof(Line)) Counter{};
  for (std::size_t i = 0; i < kResultPlaces; ++i) {
    new (memory + Layout::results_offset() + i * sizeof(ResultFlags)) ResultFlags{};
  }
  for (std::size_t i = 0; i < layout.further_lines; ++i) {
    new (memory + Layout::further_lines_offset() + i * sizeof(Line)) Counter{};
  }
}

void clear_lane(std::byte* lane, const Layout& layout) {
  new (lane) BlockHeader{};
  clear_flags(lane, layout);
  for (int rank = 0; rank < layout.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    new (lane + layout.control_offset() + r * sizeof(RankControl)) RankControl{};
    clear_memory(lane + layout.rings_offset() + r * layout.rank_stride(), layout);
  }
}

}  // namespace

void clear_block(std::byte* block, const Layout& layout) {
  for (int i = 0; i < layout.lanes; ++i) clear_lane(block + layout.lane_offset(i), layout);
}

void ShmGroup::back_lines() {
  back_memory(memory(rank_) + Layout::further_lines_offset(), layout_.further_lines * sizeof(Line));
  lines_backed_ = true;
}

// The memory grows with the traffic, in steps that double: a group that makes few large calls then
// pays for few pages, and one that makes many of them for all pages soon.
void ShmGroup::back_payloads() {
  constexpr std::size_t kFirst = 64 << 10;
  const std::size_t all = layout_.payload_bytes();
  const std::uint64_t taken = std::bit_ceil(places_.payloads_taken());
  const std::size_t wanted = std::min<std::uint64_t>(all, std::max<std::uint64_t>(taken, kFirst));
  back_memory(payloads(rank_) + backed_, wanted - backed_);
  backed_ = wanted == all ? UINT64_MAX : wanted;
}

Wait ShmGroup::slot_free_slow(std::uint64_t position) {
  const std::uint64_t needed = places_.needed_for(position);
  if (needed <= finished_by_all_) return Wait();
  std::uint64_t least = finished_;
  for (int rank = 0; rank < size(); ++rank) {
    if (rank != rank_) least = std::min(least, control(rank).done.load(std::memory_order_acquire));
  }
  finished_by_all_ = least;
  if (needed <= least) return Wait();
  // This rank itself may be behind, in an earlier operation that overlaps this one.
  const int count = finished_ < needed ? size() : size() - 1;
  return {control(0).done, sizeof(RankControl), size(), rank_ + 1, count, needed};
}

Way ShmGroup::way_of(std::uint64_t position) {
  const RankControl& other = control(1 - rank_);
  return hand_over_.way(place_in_passes(position), [&](Way of, std::uint64_t period) {
    const auto& word = other.read_cost[static_cast<std::size_t>(of)];
    return PassCost(word.load(std::memory_order_relaxed)).of(period);
  });
}

void ShmGroup::store_measured(std::uint64_t position, std::byte* to, const std::byte* from,
                              std::size_t bytes) {
  const Way way = way_of(position);
  const auto copy = [&] {
    if (way == Way::cached) {
      std::memcpy(to, from, bytes);
    } else {
      stream_copy(to, from, bytes);
      end_streaming();
    }
  };
  Way measured;
  if (!hand_over_.schedule().measured(place_in_passes(position), measured)) return copy();
  const std::uint64_t begun = cpu_ticks();
  copy();
  hand_over_.note_stored(place_in_passes(position), way, cpu_ticks() - begun, bytes);
}

void ShmGroup::note_read(std::uint64_t position, Way way, std::uint64_t ticks,
                         std::size_t bytes) const {
  auto& word = control(rank_).read_cost[static_cast<std::size_t>(way)];
  PassCost cost(word.load(std::memory_order_relaxed));
  cost.note(hand_over_.schedule().period(place_in_passes(position)), ticks, bytes);
  word.store(cost.word(), std::memory_order_relaxed);
}

std::uint64_t ShmGroup::flag_of_earlier(std::uint64_t position) const {
  std::size_t back = 0;
  const auto marked = [&] { return marked_[(num_marked_ - back) % kAnnouncedCalls]; };
  while (marked().first > position && back + 1 < kAnnouncedCalls) ++back;
  return (position + 1) << CallHash::kMarkBits | marked().mark;
}

bool ShmGroup::announced(int rank, std::uint64_t number, Announcement& call) const {
  if (!block_) return false;
  const RankControl& of = control(rank);
  if (number == 0) {
    for (const AnnouncedCall& entry : of.calls) {
      number = std::max(number, entry.number.load(std::memory_order_relaxed));
    }
    if (number == 0) return false;
  }
  const AnnouncedCall& entry = of.calls[(number - 1) % kAnnouncedCalls];
  if (entry.number.load(std::memory_order_acquire) != number) return false;
  call.what = entry.what.load(std::memory_order_relaxed);
  call.bytes = entry.bytes.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.number.load(std::memory_order_relaxed) == number;
}

bool ShmGroup::differs(int rank, std::uint64_t& number) const {
  if (!block_) return false;
  const std::uint64_t last = num_announced_;
  const std::uint64_t known = std::min<std::uint64_t>(last, kAnnouncedCalls);
  for (number = last - known + 1; number <= last; ++number) {
    Announcement mine, theirs;
    const bool both = announced(rank_, number, mine) && announced(rank, number, theirs);
    if (both && mine != theirs) return true;
  }
  number = 0;
  // The other rank is inside the positions that this rank's operation has taken, so it is in an
  // operation that has not as many.
  const std::uint64_t mine = control(rank_).begun.load(std::memory_order_relaxed);
  const std::uint64_t theirs = control(rank).begun.load(std::memory_order_relaxed);
  return theirs != mine && theirs - mine < next_ - mine;
}

int ShmGroup::find_different(std::uint64_t& number) const {
  for (int rank = 0; block_ && rank < size(); ++rank) {
    if (rank != rank_ && differs(rank, number)) return rank;
  }
  return -1;
}

bool ShmGroup::is_first_to_tell() const {
  return !block_ || reinterpret_cast<BlockHeader*>(block_)->told.exchange(1) == 0;
}

bool ShmGroup::has_begun(int rank) const {
  Announcement theirs;
  return num_announced_ > 0 && announced(rank, num_announced_, theirs);
}

bool ShmGroup::is_through(int rank) const {
  return block_ &&
         static_cast<std::int64_t>(control(rank).done.load(std::memory_order_acquire) - next_) >= 0;
}

// Positions finish no farther out of order than early_ has bits: a position is used again only when
// all ranks, this one included, have finished the one kPositions before it.
void ShmGroup::finish_out_of_order(std::uint64_t position) {
  early_.set(position - finished_);
  ++num_early_;
  const std::uint64_t before = finished_;
  for (; early_[0]; early_ >>= 1) {
    ++finished_;
    --num_early_;
  }
  if (finished_ != before) publish(control(rank_).done, finished_);
}

int ShmGroup::owner_of(const Counter* counter) const {
  const auto* place = reinterpret_cast<const std::byte*>(counter);
  if (place < block_ || place >= block_ + layout_.lane_bytes()) return -1;
  const auto offset = static_cast<std::size_t>(place - block_);
  if (offset >= layout_.rings_offset()) {
    return static_cast<int>((offset - layout_.rings_offset()) / layout_.rank_stride());
  }
  if (offset >= layout_.flags_offset()) {
    const std::size_t within = (offset - flags_.first) % flags_.to_result;
    return static_cast<int>(within / flags_.by_rank);
  }
  return static_cast<int>((offset - layout_.control_offset()) / sizeof(RankControl));
}

}  // namespace sumac
