// SPDX-License-Identifier: BSD-3-Clause
// Ranks are threads. Each gathers what all others have written in that round, whatever its size and
// however far they run apart.
#include "transport/shm/board.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace sumac {
namespace {

std::vector<std::byte> memory_of_board(int ranks) {
  return std::vector<std::byte>(Board::bytes_for(ranks) + kFalseSharingRange);
}

std::byte* aligned(std::vector<std::byte>& memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (round_up(address, kFalseSharingRange) - address);
}

std::byte value_of(int rank, std::size_t gather, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(rank) * 41 + gather * 7 + i);
}

void gather_and_check(Board& board, int rank, const std::vector<std::size_t>& sizes) {
  const WaitPolicy policy;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    const std::size_t bytes = sizes[g];
    const bool in_place = g % 2 == 0;
    std::vector<std::byte> all(bytes * static_cast<std::size_t>(board.ranks())), own(bytes);
    std::byte* const from =
        in_place ? all.data() + bytes * static_cast<std::size_t>(rank) : own.data();
    for (std::size_t i = 0; i < bytes; ++i) from[i] = value_of(rank, g, i);
    board.all_gather(from, all.data(), bytes, policy);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto of_rank = static_cast<int>(i / bytes);
      ASSERT_EQ(all[i], value_of(of_rank, g, i % bytes)) << "gather " << g << " byte " << i;
    }
    if (rank == static_cast<int>(g) % board.ranks()) std::this_thread::yield();
  }
}

TEST(Board, GathersWhatAllHaveWritten) {
  for (const int ranks : {2, 3, 5, 7, 13}) {
    std::mt19937 random(static_cast<unsigned>(ranks));
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 40; ++i) {
      constexpr std::size_t kSizes[] = {0, 1, 8, 56, 57, 1015, 1016, 1017, 2033, 5000};
      sizes.push_back(kSizes[random() % std::size(kSizes)]);
    }
    std::vector<std::byte> memory = memory_of_board(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        Board board(aligned(memory), ranks, r);
        gather_and_check(board, r, sizes);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace sumac
