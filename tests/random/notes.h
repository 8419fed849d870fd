// SPDX-License-Identifier: BSD-3-Clause
// Memory of the node in which ranks note which barriers they have begun.
#pragma once

#include <atomic>
#include <vector>

#include "mpi/check.h"
#include "mpi/groups.h"

namespace test::sweep {

inline constexpr int kMostCommunicators = 8;

// For each rank of MPI_COMM_WORLD and each communicator of a program the barrier it called last.
class Notes {
 public:
  Notes() {
    const auto bytes = static_cast<MPI_Aint>(sizeof(Row));
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &own_, &window_);
    new (own_) Row();
    const Group here = group_of(node);
    rows_.resize(static_cast<std::size_t>(ranks));
    for (int r = 0; r < here.size(); ++r) {
      MPI_Aint size;
      int unit;
      Row* row = nullptr;
      MPI_Win_shared_query(window_, r, &size, &unit, &row);
      rows_[static_cast<std::size_t>(here.members[static_cast<std::size_t>(r)])] = row;
    }
    MPI_Comm_free(&node);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Notes() { MPI_Win_free(&window_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  // Notes grow from barrier to barrier, also from one program to the next.
  std::uint64_t next(int communicator) {
    std::atomic<std::uint64_t>& note = own_->barriers[communicator];
    const std::uint64_t number = note.load(std::memory_order_relaxed) + 1;
    note.store(number, std::memory_order_release);
    return number;
  }
  // Returns the greatest number for a rank of another node, whose notes cannot be read here.
  std::uint64_t of(int world_rank, int communicator) const {
    const Row* const row = rows_[static_cast<std::size_t>(world_rank)];
    return row ? row->barriers[communicator].load(std::memory_order_acquire) : ~std::uint64_t{0};
  }
  // All ranks get the same numbers again, although not all were members.
  void align(std::uint64_t program) {
    for (auto& note : own_->barriers) note.store(program << 32, std::memory_order_release);
  }

 private:
  struct Row {
    std::atomic<std::uint64_t> barriers[kMostCommunicators] = {};
  };
  Row* own_ = nullptr;
  MPI_Win window_;
  std::vector<Row*> rows_;  // of all ranks of MPI_COMM_WORLD; null for those of other nodes
};

inline Notes* notes = nullptr;  // while there are programs

}  // namespace test::sweep
