// SPDX-License-Identifier: BSD-3-Clause
// The pool of shared blocks is tested with ranks that are Arena objects of one process.
#include "transport/shm/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "transport/shm/group.h"

namespace sumac {
namespace {

constexpr std::size_t kBudget = 64 << 20;
const std::uint64_t kMembers[] = {11, 22, 33, 44};

bool can_be_opened(const Ticket& ticket) {
  return open_segment(ticket.key, ticket.bytes).memory != nullptr;
}

// Lets all ranks take the block. Returns rank 0's view of it.
std::byte* join(Arena (&arenas)[4], const Ticket& ticket, int ranks) {
  std::byte* first = nullptr;
  for (int r = 0; r < ranks; ++r) {
    std::byte* block = arenas[r].accept(ticket, r);
    EXPECT_NE(block, nullptr);
    if (r == 0) first = block;
  }
  for (int r = 0; r < ranks; ++r) arenas[r].confirm(ticket);
  return first;
}

TEST(Arena, BlockIsSharedOwnerOnlyAndNameless) {
  Arena arenas[4];
  const Ticket ticket = arenas[0].offer(4, 1, kMembers, kBudget);
  ASSERT_EQ(ticket.offer, Offer::fresh);
  struct stat status;
  ASSERT_EQ(fstat(ticket.key.file.descriptor, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_nlink, 0u);
  std::byte* views[4];
  for (int r = 0; r < 4; ++r) {
    views[r] = arenas[r].accept(ticket, r);
    ASSERT_NE(views[r], nullptr);
  }
  EXPECT_TRUE(can_be_opened(ticket));
  arenas[0].confirm(ticket);
  EXPECT_FALSE(can_be_opened(ticket));
  views[0][ticket.bytes - 1] = std::byte{7};
  EXPECT_EQ(views[3][ticket.bytes - 1], std::byte{7});
}

TEST(Arena, ThousandsOfCommunicatorsLiveOnOneBlock) {
  Arena arenas[4];
  std::uint64_t id = 0;
  for (int i = 0; i < 3000; ++i) {
    const Ticket ticket = arenas[0].offer(4, 1, kMembers, kBudget);
    if (i == 0) id = ticket.id;
    ASSERT_EQ(ticket.offer, i == 0 ? Offer::fresh : Offer::again);
    ASSERT_EQ(ticket.id, id);
    std::byte* block = join(arenas, ticket, 4);
    for (int r = 0; r < 4; ++r) Arena::release(block);
  }
}

TEST(Arena, BlockIsUsedAgainOnlyWhenAllHaveLeft) {
  Arena arenas[4];
  const Ticket first = arenas[0].offer(2, 1, kMembers, kBudget);
  std::byte* block = join(arenas, first, 2);
  Arena::release(block);
  const Ticket second = arenas[0].offer(2, 1, kMembers, kBudget);
  EXPECT_EQ(second.offer, Offer::fresh);
  join(arenas, second, 2);
  Arena::release(block);
  EXPECT_EQ(arenas[0].offer(2, 1, kMembers, kBudget).id, first.id);
}

TEST(Arena, OtherMembersGetAnotherBlock) {
  Arena arenas[4];
  const Ticket first = arenas[0].offer(2, 1, kMembers, kBudget);
  std::byte* block = join(arenas, first, 2);
  for (int r = 0; r < 2; ++r) Arena::release(block);
  const std::uint64_t others[] = {11, 55};
  const Ticket second = arenas[0].offer(2, 1, others, kBudget);
  EXPECT_EQ(second.offer, Offer::fresh);
  arenas[0].abandon(second);
}

Layout with_usual_ring(Layout layout) {
  layout.ring = Layout().ring;
  layout.turns = 1;
  return layout;
}

// Returns bytes for each rank that suffice for one block of the usual rings, not for two.
std::size_t enough_for_one(const Ticket& ticket) {
  const Layout usual = with_usual_ring(ticket.layout);
  return usual.block_bytes() / static_cast<std::size_t>(usual.ranks) * 3 / 2;
}

// A few communicators get rings that exceed the processors' caches, or that have more slots. The
// others get what they need.
TEST(Arena, LongRingsTakeNothingFromTheBudget) {
  for (const Slots slots : {Slots::in_turn, Slots::deep}) {
    Arena arena;
    const Layout longest = arena.offer(2, 1, kMembers, kBudget, slots).layout;
    const auto length = [](const Layout& layout) { return layout.payload_bytes(); };
    const std::size_t usual = with_usual_ring(longest).payload_bytes();
    std::size_t taken = 0, small = 0;
    for (int i = 0; i < 40; ++i) {
      const Ticket ticket = arena.offer(2, 1, kMembers, kBudget, slots);
      ASSERT_EQ(ticket.offer, Offer::fresh);
      small += length(ticket.layout) == usual;
      if (length(ticket.layout) > usual) {
        EXPECT_EQ(small, 0u);
        EXPECT_EQ(length(ticket.layout), length(longest));
        taken += (ticket.bytes - with_usual_ring(ticket.layout).block_bytes()) / 2;
      }
    }
    EXPECT_LE(taken, kBudget / 16);
    EXPECT_TRUE(length(longest) == usual || small > 0);
    EXPECT_EQ(longest.ring, slots == Slots::deep ? kMostSlots : Layout().ring);
    int more = 0, all = 0;
    while (arena.offer(2, 1, kMembers, kBudget).offer == Offer::fresh) ++more;
    Arena without;
    while (without.offer(2, 1, kMembers, kBudget).offer == Offer::fresh) ++all;
    EXPECT_EQ(41 + more, all);
  }
}

TEST(Arena, BudgetIsKeptByDroppingUnusedBlocks) {
  Arena arenas[4];
  const Ticket pair = arenas[0].offer(2, 1, kMembers, kBudget);
  const std::size_t budget = enough_for_one(pair);
  std::byte* block = join(arenas, pair, 2);
  EXPECT_EQ(arenas[0].offer(4, 1, kMembers, budget).offer, Offer::over_budget);
  for (int r = 0; r < 2; ++r) Arena::release(block);
  const Ticket four = arenas[0].offer(4, 1, kMembers, budget);
  EXPECT_EQ(four.offer, Offer::fresh);
  arenas[0].abandon(four);
}

// Counts the mappings of shared blocks in this process.
long count_mappings() {
  std::ifstream maps("/proc/self/maps");
  long count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("/memfd:group.sumac") != std::string::npos;
  }
  return count;
}

long page_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Returns how many bytes of a block have memory.
std::size_t bytes_with_memory(const Ticket& ticket) {
  struct stat status = {};
  EXPECT_EQ(fstat(ticket.key.file.descriptor, &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

// A rank's first lines take no page faults in the first calls. What nobody has used takes no
// memory.
TEST(Arena, FirstLinesOfABlockHaveMemoryFromTheBeginning) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own memory takes several faults for each page";
#endif
  Arena arenas[4];
  const Ticket ticket = arenas[0].offer(2, 2, kMembers, kBudget);
  std::byte* const block = arenas[0].accept(ticket, 0);
  ASSERT_NE(block, nullptr);
  const Layout& layout = ticket.layout;
  EXPECT_LT(bytes_with_memory(ticket),
            2 * (layout.rings_offset() + Layout::further_lines_offset() + 2 * kPage));
  constexpr int kPopulate = 22;  // MADV_POPULATE_READ
  if (madvise(block, kPage, kPopulate) != 0) GTEST_SKIP() << "this kernel cannot map in one go";
  const long before = page_faults();
  long pages = 0;
  for (int lane = 0; lane < layout.lanes; ++lane) {
    std::byte* const own = block + layout.lane_offset(lane) + layout.rings_offset();
    for (std::size_t at = 0; at < Layout::further_lines_offset(); at += kPage, ++pages) {
      volatile std::byte& byte = own[at];
      byte = std::byte{1};
    }
  }
  long most = pages / 8;
#ifdef __SANITIZE_ADDRESS__
  most *= 2;  // its own memory takes a fault for each eight pages
#endif
  EXPECT_LE(page_faults() - before, most);
}

// However an operation's bytes come, a rank has at most twice the memory that it has used, and more
// than 64 KiB only if it has used them.
TEST(Arena, PayloadsGetMemoryAsTheyAreUsed) {
  for (const std::size_t room : {1 << 10, 4 << 10, 32 << 10, 128 << 10}) {
    for (const std::uint64_t positions : {1, 5, 100}) {
      Arena arena;
      const Ticket ticket = arena.offer(2, 1, kMembers, kBudget, Slots::in_turn);
      ShmGroup group(arena.accept(ticket, 0), ticket.layout, 0);
      const std::size_t before = bytes_with_memory(ticket);
      group.take(positions);
      EXPECT_EQ(bytes_with_memory(ticket), before) << "first lines alone were used";
      for (std::size_t used = 0; used < 3 * ticket.layout.payload_bytes();) {
        group.take(positions, {.room = room});
        used += positions * room;
        const std::size_t backed = bytes_with_memory(ticket) - before;
        EXPECT_LE(backed, std::max<std::size_t>(2 * used, 64 << 10));
        EXPECT_LE(backed, ticket.layout.payload_bytes());
        if (backed > 0) {  // the kernel can do that
          EXPECT_GE(backed, std::min(used, ticket.layout.payload_bytes()));
        }
      }
    }
  }
}

// The block of two ranks that have become idle, as each of them remembers it.
struct IdleBlock {
  explicit IdleBlock(Arena (&arenas)[4], std::size_t budget = kBudget)
      : ticket(arenas[0].offer(2, 1, kMembers, budget)) {
    for (int r = 0; r < 2; ++r) views[r] = arenas[r].accept(ticket, r);
    for (int r = 0; r < 2; ++r) arenas[r].confirm(ticket);
  }
  Ticket ticket;
  std::byte* views[2];
  BlockUse uses[2];
};

TEST(Arena, IdleBlockIsTakenAgainAsItWas) {
  Arena arenas[4];
  IdleBlock idle(arenas);
  std::byte& last = idle.views[0][idle.ticket.bytes - 1];
  last = std::byte{7};
  idle.uses[0] = arenas[0].release_idle(idle.views[0]);
  EXPECT_FALSE(arenas[0].take_again(idle.uses[0])) << "rank 1 still uses it";
  idle.uses[1] = arenas[1].release_idle(idle.views[1]);
  for (int r = 0; r < 2; ++r) EXPECT_TRUE(arenas[r].take_again(idle.uses[r]));
  EXPECT_FALSE(arenas[0].take_again(idle.uses[0])) << "it is in use";
  EXPECT_EQ(last, std::byte{7});
}

// Idle blocks are spared while they are few; then the first of them serves others.
TEST(Arena, OthersGetAnIdleBlockOnlyIfThereAreMany) {
  Arena arenas[4];
  std::vector<IdleBlock> idle;
  for (;;) {
    idle.emplace_back(arenas);
    if (idle.back().ticket.offer == Offer::again) break;
    ASSERT_LT(idle.size(), 100u);
    for (int r = 0; r < 2; ++r) {
      idle.back().uses[r] = arenas[r].release_idle(idle.back().views[r]);
    }
  }
  EXPECT_GT(idle.size(), 2u);
  EXPECT_EQ(idle.back().ticket.id, idle.front().ticket.id);
  EXPECT_FALSE(arenas[0].take_again(idle[0].uses[0]));
  EXPECT_TRUE(arenas[0].take_again(idle[1].uses[0]));
  arenas[0].give_up(idle[1].uses[0], true);
  arenas[0].give_up(idle[2].uses[0], false);
  for (const std::size_t given_up : {1, 2}) {
    EXPECT_EQ(arenas[0].offer(2, 1, kMembers, kBudget).id, idle[given_up].ticket.id);
  }
}

TEST(Arena, IdleBlocksKeepNobodyFromTheBudget) {
  Arena arenas[4];
  IdleBlock idle(arenas);
  for (int r = 0; r < 2; ++r) idle.uses[r] = arenas[r].release_idle(idle.views[r]);
  const std::size_t budget = enough_for_one(idle.ticket);
  EXPECT_EQ(arenas[0].offer(4, 1, kMembers, budget).offer, Offer::fresh);
  for (int r = 0; r < 2; ++r) EXPECT_FALSE(arenas[r].take_again(idle.uses[r]));
}

TEST(Arena, MembersUnmapWhatTheirLeaderHasDropped) {
  const long before = count_mappings();
  Arena arenas[4];
  const Ticket pair = arenas[0].offer(2, 1, kMembers, kBudget);
  std::byte* block = join(arenas, pair, 2);
  EXPECT_EQ(count_mappings(), before + 2);
  for (int r = 0; r < 2; ++r) Arena::release(block);
  // This block takes the place of `pair`.
  const Ticket four = arenas[0].offer(4, 1, kMembers, enough_for_one(pair));
  ASSERT_EQ(four.offer, Offer::fresh);
  EXPECT_EQ(count_mappings(), before + 2);
  block = join(arenas, four, 4);
  EXPECT_EQ(count_mappings(), before + 4);
}

TEST(Arena, AbandonedBlockLeavesNothing) {
  Arena arenas[4];
  const Ticket ticket = arenas[0].offer(4, 1, kMembers, kBudget);
  ASSERT_NE(arenas[1].accept(ticket, 1), nullptr);
  for (int r = 1; r >= 0; --r) arenas[r].abandon(ticket);
  EXPECT_FALSE(can_be_opened(ticket));
  EXPECT_EQ(arenas[2].accept(ticket, 2), nullptr);
}

TEST(Arena, RefusedOrForeignTicketIsNotAccepted) {
  Arena arena;
  EXPECT_EQ(arena.accept(Ticket(), 0), nullptr);
}

}  // namespace
}  // namespace sumac
