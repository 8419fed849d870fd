// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/board.h"

#include <algorithm>
#include <cstring>

namespace sumac {

Board::Board(std::byte* memory, int ranks, int rank)
    : cells_(reinterpret_cast<Cell*>(memory)), ranks_(ranks), rank_(rank) {}

void Board::wait_for_all(const WaitPolicy& policy) const {
  Wait others(cell(0).round, kCells * sizeof(Cell), ranks_, rank_ + 1, ranks_ - 1, round_);
  for (Waiting waiting(policy); !others.ready();) waiting.step(false);
}

void Board::all_gather(const void* own, void* all, std::size_t bytes, const WaitPolicy& policy) {
  std::size_t done = 0;
  do {
    const std::size_t piece = std::min(bytes - done, sizeof(Cell::data));
    ++round_;
    Cell& mine = cell(rank_);
    if (piece > 0) std::memcpy(mine.data, static_cast<const std::byte*>(own) + done, piece);
    publish(mine.round, round_);
    wait_for_all(policy);
    for (int r = 0; r < ranks_ && piece > 0; ++r) {
      std::byte* const to = static_cast<std::byte*>(all) + static_cast<std::size_t>(r) * bytes;
      std::memcpy(to + done, cell(r).data, piece);
    }
    done += piece;
  } while (done < bytes);
}

}  // namespace sumac
