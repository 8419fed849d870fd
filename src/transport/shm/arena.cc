// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/random.h"
#include "transport/shm/board.h"

namespace sumac {
namespace {

std::size_t bytes_a_rank(const Layout& layout) {
  return layout.block_bytes() / static_cast<std::size_t>(layout.ranks);
}

// Returns the layout with a ring of the usual length. Small slots make up for their size by their
// number.
Layout with_usual_ring(Layout layout) {
  const std::size_t one = std::bit_ceil(std::max<std::size_t>(layout.slot_bytes, 1));
  const std::size_t enough = std::min(kLeastPayloads / one, kMostSlots);
  layout.ring = std::min(layout.ring, std::max(Layout().ring, enough));
  layout.turns = 1;
  return layout;
}

// Returns the bytes that long rings take for each rank beyond the usual ones.
std::size_t bytes_beyond_usual(const Layout& layout) {
  return bytes_a_rank(layout) - bytes_a_rank(with_usual_ring(layout));
}

constexpr std::size_t kShareOfLongRings = 16;  // they get a sixteenth of the budget

bool includes(const std::vector<std::uint64_t>& all, const std::uint64_t* some, int count) {
  return std::all_of(some, some + count, [&](std::uint64_t member) {
    return std::find(all.begin(), all.end(), member) != all.end();
  });
}

std::atomic<std::uint32_t>& detached(std::byte* block) {
  return reinterpret_cast<BlockHeader*>(block)->detached;
}

// Gives this rank's first lines memory, with its results and its control line. Further lines and
// payloads get some when they are used (ShmGroup::back_lines, back_payloads).
void back_first_lines(std::byte* block, const Layout& layout, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  for (int i = 0; i < layout.lanes; ++i) {
    std::byte* const lane = block + layout.lane_offset(i);
    back_memory(lane + layout.control_offset() + r * sizeof(RankControl), sizeof(RankControl));
    back_memory(lane + layout.rings_offset() + r * layout.rank_stride(),
                Layout::further_lines_offset());
  }
}

// Returns the memory of the block to the system, except its first page, in which the members read
// that it was dropped.
void drop(const Segment& segment) {
  auto& header = *reinterpret_cast<BlockHeader*>(segment.memory);
  header.dropped.store(1, std::memory_order_release);
  discard_segment({segment.memory + kPage, segment.bytes - kPage});
}

}  // namespace

Arena::~Arena() {
  for (const Mapping& mapping : mapped_) munmap(mapping.segment.memory, mapping.segment.bytes);
}

// Returns how many payloads a slot takes in turn. A rank then reads, in one pass through the
// others' rings, twice what its second-level cache holds: each line has left that cache before it
// is written again, which costs half as much as recalling it. (That half was gained for 64 KiB
// between two cores of a Zen 4.) Many ranks need room for wide chunks.
std::size_t turns_for(const Layout& layout) {
  constexpr std::size_t kUnknown = 1 << 20, kMost = 8;
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::size_t wanted = 2 * (cache > 0 ? static_cast<std::size_t>(cache) : kUnknown);
  const std::size_t others = static_cast<std::size_t>(std::max(1, layout.ranks - 1));
  const std::size_t least = Layout::wanted_width(layout.ranks);
  return std::bit_floor(
      std::clamp<std::size_t>(wanted / (others * layout.ring * layout.slot_bytes), least, kMost));
}

Layout Arena::choose_layout(int ranks, int lanes, Slots slots, Control control) const {
  Layout layout;
  layout.ranks = ranks;
  layout.lanes = lanes;
  layout.slot_bytes = slot_bytes_;
  layout.control = control;
  if (slots == Slots::lines_only) {
    layout.ring = 4;
    layout.slot_bytes = 0;
    layout.further_lines = kFewFurtherLines;
    return layout;
  }
  if (slots == Slots::in_turn) layout.turns = turns_for(layout);
  if (slots == Slots::deep) layout.ring = kMostSlots;
  return layout;
}

Ticket Arena::offer(int ranks, int lanes, const std::uint64_t* members, std::size_t budget,
                    Slots slots, Control control, bool wants_board) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Layout layout = choose_layout(ranks, lanes, slots, control);
  Ticket ticket;
  collect_released();
  if (reuse(layout, members, ticket)) return ticket;
  // Communicators beyond the first few get the rings that they need, not those that are faster.
  const std::size_t wanted = bytes_beyond_usual(layout);
  if (wanted > 0 && long_rings() + wanted > budget / kShareOfLongRings) {
    layout = with_usual_ring(layout);
    if (reuse(layout, members, ticket)) return ticket;
  }
  const std::size_t share = bytes_a_rank(with_usual_ring(layout));
  const std::size_t more = bytes_beyond_usual(layout);
  if (!spares_idle(share, budget) && reuse(layout, members, ticket, true)) return ticket;
  if (!make_room(share, budget)) {
    ticket.offer = Offer::over_budget;
    return ticket;
  }
  if (wants_board && may_have_board()) ticket.board = layout.block_bytes();
  ticket.bytes = layout.block_bytes();
  if (ticket.board > 0) ticket.bytes += round_up(Board::bytes_for(ranks), kPage);
  const Segment segment = has_memory_ ? create_segment(ticket.bytes, ticket.key) : Segment();
  if (!segment.memory) return ticket;
  ticket.id = random_word();
  ticket.layout = layout;
  ticket.offer = Offer::fresh;
  owned_.push_back(
      {ticket.id, segment, layout, share, more, {members, members + ranks}, ++uses_, ticket.board});
  mapped_.push_back({ticket.id, segment});
  return ticket;
}

bool Arena::may_have_board() const {
  const auto have =
      std::count_if(owned_.begin(), owned_.end(), [](const Block& b) { return b.board > 0; });
  return have < kMostBoards;
}

bool Arena::spares_idle(std::size_t share, std::size_t budget) const {
  const auto idle =
      std::count_if(owned_.begin(), owned_.end(), [](const Block& b) { return b.idle; });
  return idle < kMostIdle && reserved() + share <= budget;
}

bool Arena::reuse(const Layout& layout, const std::uint64_t* members, Ticket& ticket, bool idle) {
  for (Block& block : owned_) {
    if (block.in_use || block.idle != idle || block.usable() < layout.block_bytes() ||
        !includes(block.members, members, layout.ranks)) {
      continue;
    }
    clear_block(block.segment.memory, layout);
    block.layout = layout;
    block.use = ++uses_;
    block.in_use = true;
    block.idle = false;
    ticket.id = block.id;
    ticket.bytes = block.segment.bytes;
    ticket.layout = layout;
    ticket.offer = Offer::again;
    return true;
  }
  return false;
}

void Arena::collect_released() {
  for (Block& block : owned_) {
    const auto users = static_cast<std::uint32_t>(block.layout.ranks);
    if (block.in_use && detached(block.segment.memory).load(std::memory_order_acquire) == users) {
      block.in_use = false;
    }
  }
}

std::size_t Arena::reserved() const {
  std::size_t sum = 0;
  for (const Block& block : owned_) sum += block.share;
  return sum;
}

std::size_t Arena::long_rings() const {
  std::size_t sum = 0;
  for (const Block& block : owned_) sum += block.more;
  return sum;
}

// Drops unused blocks until a new one fits the budget.
bool Arena::make_room(std::size_t share, std::size_t budget) {
  for (std::size_t i = 0; i < owned_.size() && reserved() + share > budget;) {
    if (owned_[i].in_use || owned_[i].board > 0) {
      ++i;
      continue;
    }
    drop(owned_[i].segment);
    unmap(owned_[i].id);
    owned_.erase(owned_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return reserved() + share <= budget;
}

std::byte* Arena::accept(const Ticket& ticket, int rank) {
  const bool fresh = ticket.offer == Offer::fresh;
  if (!has_memory_ || (!fresh && ticket.offer != Offer::again)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  collect_dropped();
  Segment segment{mapped(ticket.id), ticket.bytes};
  if (!segment.memory) {
    segment = open_segment(ticket.key, ticket.bytes);
    if (!segment.memory) return nullptr;
    mapped_.push_back({ticket.id, segment});
  }
  if (fresh) back_first_lines(segment.memory, ticket.layout, rank);
  return segment.memory;
}

void Arena::confirm(const Ticket& ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_it = [&](const Block& b) { return b.id == ticket.id; };
  const bool leads = std::any_of(owned_.begin(), owned_.end(), is_it);
  if (leads && ticket.offer == Offer::fresh) close_segment(ticket.key);
}

void Arena::abandon(const Ticket& ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_it = [&](const Block& b) { return b.id == ticket.id; };
  const auto block = std::find_if(owned_.begin(), owned_.end(), is_it);
  if (ticket.offer == Offer::again) {
    // Members that could accept keep the block mapped; the leader does not offer it again.
    if (block != owned_.end()) {
      block->members.clear();
      block->in_use = false;
    }
    return;
  }
  if (block != owned_.end()) {
    close_segment(ticket.key);
    owned_.erase(block);
  }
  unmap(ticket.id);
}

void Arena::release(std::byte* block) { detached(block).fetch_add(1, std::memory_order_acq_rel); }

BlockUse Arena::release_idle(std::byte* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  BlockUse use{block};
  if (Block* own = owned(block)) {
    own->idle = true;
    use.number = own->use;
  }
  release(block);
  return use;
}

bool Arena::take_again(const BlockUse& use) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (use.number == 0) {
    collect_dropped();
    return std::any_of(mapped_.begin(), mapped_.end(),
                       [&](const Mapping& m) { return m.segment.memory == use.block; });
  }
  collect_released();
  Block* own = owned(use.block);
  if (!own || own->in_use || own->use != use.number) return false;
  own->in_use = true;
  own->idle = false;
  detached(use.block).store(0, std::memory_order_release);
  return true;
}

void Arena::put_back(const BlockUse& use) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Block* own = use.number == 0 ? nullptr : owned(use.block);
  if (!own || own->use != use.number) return;
  own->idle = true;
  own->in_use = false;
}

void Arena::give_up(const BlockUse& use, bool taken) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Block* own = use.number == 0 ? nullptr : owned(use.block);
  if (!own || own->use != use.number) return;
  own->idle = false;
  if (taken) own->in_use = false;
}

Arena::Block* Arena::owned(const std::byte* block) {
  const auto found = std::find_if(owned_.begin(), owned_.end(),
                                  [&](const Block& b) { return b.segment.memory == block; });
  return found == owned_.end() ? nullptr : &*found;
}

void Arena::collect_dropped() {
  std::erase_if(mapped_, [](const Mapping& mapping) {
    const auto& header = *reinterpret_cast<const BlockHeader*>(mapping.segment.memory);
    if (header.dropped.load(std::memory_order_acquire) == 0) return false;
    munmap(mapping.segment.memory, mapping.segment.bytes);
    return true;
  });
}

std::byte* Arena::mapped(std::uint64_t id) const {
  for (const Mapping& mapping : mapped_) {
    if (mapping.id == id) return mapping.segment.memory;
  }
  return nullptr;
}

void Arena::unmap(std::uint64_t id) {
  for (std::size_t i = 0; i < mapped_.size(); ++i) {
    if (mapped_[i].id != id) continue;
    munmap(mapped_[i].segment.memory, mapped_[i].segment.bytes);
    mapped_.erase(mapped_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

}  // namespace sumac
