// SPDX-License-Identifier: BSD-3-Clause
// This is the pool of shared blocks. The first rank of a group (its leader) owns the group's block:
// it makes one, or offers again one of its own that no group uses any more and that all members
// already have mapped. So thousands of communicators come and go with the memory of a few, and no
// allocator has to live in shared memory, where a killed rank could leave it locked.
//
//   leader: offer() -> ticket to all -> every rank: accept() -> all agree -> confirm() or abandon()
//
// A block of a team that has become idle is released as well, but its leader uses it for others
// only when it has no other left: that team may be taken up again, and then takes the block as it
// is.
//
// A new block may have a board behind it (board.h), which is its members' until the process ends.
// Such a block is used again like others, but never dropped.
//
// Several threads may call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "transport/shm/layout.h"
#include "transport/shm/segment.h"

namespace sumac {

enum class Offer : std::uint32_t { fresh, again, refused, over_budget };

// The leader sends this to the members, as plain bytes.
struct Ticket {
  std::uint64_t id = 0;  // random number of the block
  SegmentKey key;        // key of a new block
  std::uint64_t bytes = 0;
  Layout layout;
  std::uint64_t board = 0;  // where the block's board begins; 0: it has none, or has had it before
  Offer offer = Offer::refused;
};

// One use of a block, as the rank that had it remembers it.
struct BlockUse {
  std::byte* block = nullptr;
  std::uint64_t number = 0;  // unique among the blocks that this process leads; 0: another leads it
};

class Arena {
 public:
  Arena() = default;
  // Tests use it for slots of another size than the usual, and for a process that can neither make
  // blocks nor map them.
  Arena(std::size_t slot_bytes, bool has_memory)
      : slot_bytes_(slot_bytes), has_memory_(has_memory) {}
  // Unmaps everything. Nobody may use the blocks any more.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // The leader calls it to offer a block of `lanes` lanes to the processes `members` (their unique
  // words). The blocks of this leader together take at most `budget` bytes for each rank, and the
  // long rings of the first few of them (Slots::in_turn, deep) up to a sixteenth more. If
  // `wants_board` and the block is new, it has a board, unless this leader has many by now.
  Ticket offer(int ranks, int lanes, const std::uint64_t* members, std::size_t budget,
               Slots slots = Slots::full, Control control = Control::slot,
               bool wants_board = false);

  // Every rank calls it to map the block, and to give its first lines memory. Returns null on
  // failure.
  std::byte* accept(const Ticket& ticket, int rank);

  // Every rank calls it once all have accepted. The leader closes the descriptor, so that nobody
  // else can map the block.
  void confirm(const Ticket& ticket);

  // Every rank calls it if not all ranks could accept. It gives the block up.
  void abandon(const Ticket& ticket);

  // Every rank calls it when its communicator has ended, and gives the block back. No other rank
  // need be told.
  static void release(std::byte* block);

  // Every rank calls it in place of release() if its team may be taken up again.
  BlockUse release_idle(std::byte* block);
  // Returns true if the block is as it was when it was released: all ranks have released it, and
  // its leader has given it to nobody else. It is in use again then, which the leader alone can
  // tell; other ranks tell whether they still have it mapped.
  bool take_again(const BlockUse& use);
  // Makes the block that take_again() has taken, here alone, idle again.
  void put_back(const BlockUse& use);
  // Gives up the idle block; `taken` says that take_again() has taken it, here alone.
  void give_up(const BlockUse& use, bool taken);

 private:
  struct Mapping {
    std::uint64_t id;
    Segment segment;
  };
  struct Block {
    std::uint64_t id;
    Segment segment;
    Layout layout;
    std::size_t share;  // bytes of the block per rank, counted against the budget
    std::size_t more;   // bytes of its long rings for each rank, counted apart
    std::vector<std::uint64_t> members;
    std::uint64_t use;  // number of its present use, or its last
    std::size_t board;  // where its board begins; 0: it has none
    bool in_use = true;
    bool idle = false;  // it was released by a team that may be taken up again

    std::size_t usable() const { return board > 0 ? board : segment.bytes; }
  };
  // The blocks of so many idle teams are spared while there is room for other blocks.
  static constexpr int kMostIdle = 8;
  // A leader has so many boards, since the blocks with them stay.
  static constexpr int kMostBoards = 8;

  Layout choose_layout(int ranks, int lanes, Slots slots, Control control) const;
  void collect_released();
  // Offers an unused block again: one of no idle team, or of the idle team that came first.
  bool reuse(const Layout& layout, const std::uint64_t* members, Ticket& ticket, bool idle = false);
  bool spares_idle(std::size_t share, std::size_t budget) const;
  bool may_have_board() const;
  Block* owned(const std::byte* block);
  // reserved() returns the bytes that the blocks of this leader take for each rank with the usual
  // rings; long_rings() returns the bytes beyond.
  std::size_t reserved() const;
  std::size_t long_rings() const;
  bool make_room(std::size_t share, std::size_t budget);
  // Unmaps blocks that other leaders have dropped.
  void collect_dropped();
  std::byte* mapped(std::uint64_t id) const;
  void unmap(std::uint64_t id);

  const std::size_t slot_bytes_ = Layout().slot_bytes;
  const bool has_memory_ = true;
  std::mutex mutex_;
  std::uint64_t uses_ = 0;
  std::vector<Block> owned_;
  std::vector<Mapping> mapped_;
};

}  // namespace sumac
