// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share memory tell one another on a board what they need to agree on, without the MPI.
//
// Idea: each rank has two cells, which it uses in turn. In a round every rank writes one of its
// cells, and then reads those of all others. A rank that has finished a round has seen that all
// have written in it, so all have finished the round before, and nobody reads the cell any more
// that it writes in the next round. Cost: one line of each rank for each 56 bytes, which all others
// read. Needs: the ranks make the same rounds in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"
#include "strands/counter.h"
#include "strands/waiting.h"

namespace sumac {

class Board {
 public:
  // Each rank reads a line of all others in each round, which many ranks do no faster than the
  // MPI's own collectives.
  static constexpr int kMostRanks = 64;

  // The memory reads as zero before the first round, and is all ranks'.
  Board(std::byte* memory, int ranks, int rank);
  // Returns the bytes that the board of so many ranks takes.
  static constexpr std::size_t bytes_for(int ranks) {
    return static_cast<std::size_t>(ranks) * kCells * sizeof(Cell);
  }

  int ranks() const { return ranks_; }
  // Collective: gathers `bytes` bytes of each rank in the order of ranks, in as many rounds as that
  // takes. `all` may begin with or contain `own`.
  void all_gather(const void* own, void* all, std::size_t bytes, const WaitPolicy& policy);

 private:
  static constexpr std::size_t kCells = 2;
  struct alignas(kFalseSharingRange) Cell {
    Counter round;  // published last: the number of the round that the data belong to
    std::byte data[1024 - sizeof(Counter)];
  };

  Cell& cell(int rank) const {
    return cells_[static_cast<std::size_t>(rank) * kCells + round_ % kCells];
  }
  void wait_for_all(const WaitPolicy& policy) const;

  Cell* cells_;
  int ranks_, rank_;
  std::uint64_t round_ = 0;
};

}  // namespace sumac
