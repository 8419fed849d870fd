// SPDX-License-Identifier: BSD-3-Clause
// Random communicators: duplicates and parts of MPI_COMM_WORLD and of one another, and barriers on
// them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "spec.h"

namespace test::sweep {

// Barriers, and memory of the node in which ranks note what they have begun: no rank may leave a
// barrier that another one has not called.

inline constexpr int kMostCommunicators = 8;

// For each rank of MPI_COMM_WORLD and each communicator of a program the barrier it called last.
class Notes {
 public:
  Notes() {
    const auto bytes = static_cast<MPI_Aint>(sizeof(Row));
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own_, &window_);
    new (own_) Row();
    for (int r = 0; r < ranks; ++r) {
      MPI_Aint size;
      int unit;
      Row* row = nullptr;
      MPI_Win_shared_query(window_, r, &size, &unit, &row);
      rows_.push_back(row);
    }
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
  std::uint64_t of(int world_rank, int communicator) const {
    const Row& row = *rows_[static_cast<std::size_t>(world_rank)];
    return row.barriers[communicator].load(std::memory_order_acquire);
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
  std::vector<Row*> rows_;
};

inline Notes* notes = nullptr;  // while there are programs

class BarrierCall : public Call {
 public:
  using Call::Call;
  void fill(std::uint64_t) override { number_ = notes->next(spec().communicator); }
  void make(MPI_Request* request) override { call("Barrier", spec().form, group().comm, request); }
  void check(const char* how) override {
    for (const int member : group().members) {
      const std::uint64_t note = notes->of(member, spec().communicator);
      CHECK(note >= number_, "barrier %llx left, rank %d in %llx; %s",
            static_cast<unsigned long long>(number_), member, static_cast<unsigned long long>(note),
            how);
    }
  }
  std::string text() const override { return "MPI_Barrier()"; }

 private:
  std::uint64_t number_ = 0;
};

// A communicator, and how it was made. The group of one that this rank is not in is empty.
struct Member : Group {
  std::string made;
};

inline MPI_Comm split(MPI_Comm from, int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  if (from != MPI_COMM_NULL) MPI_Comm_split(from, color, key, &made);
  return made;
}

inline Member draw_member(Random& random, const std::vector<Member>& others, bool world) {
  const int last = ranks - 1;
  const MPI_Comm of = others.empty() ? MPI_COMM_WORLD : others[random.below(others.size())].comm;
  const auto way = world ? 0 : 1 + random.below(8);
  const auto cut = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  switch (way) {
    case 0:
      return {group_of(MPI_COMM_WORLD), "MPI_COMM_WORLD"};
    case 1:
    case 2: {
      MPI_Comm dup = MPI_COMM_NULL;
      if (of != MPI_COMM_NULL) MPI_Comm_dup(of, &dup);
      return {group_of(dup), "dup"};
    }
    case 3:
      return {group_of(split(of, 0, -rank)), "reversed"};
    case 4:
      return {group_of(split(of, rank % 2, rank)), "even and odd"};
    case 5:
      return {group_of(split(of, rank < cut, rank)),
              "below " + std::to_string(cut) + " and the others"};
    case 6:
      return {group_of(split(of, rank == 0 || rank == last ? 0 : MPI_UNDEFINED, -rank)),
              "last and first"};
    case 7:
      return {group_of(split(of, rank == cut ? MPI_UNDEFINED : 0, (rank + cut) % ranks)),
              "rotated, without " + std::to_string(cut)};
    default:
      return {group_of(split(of, rank / 3, rank)), "threes"};
  }
}

// Draws the communicators of a program; all ranks must call it. `world`: MPI_COMM_WORLD is one.
inline std::vector<Member> draw_members(Random& random, std::size_t least) {
  std::vector<Member> all;
  const std::size_t count = least + random.below(4);
  while (all.size() < count) all.push_back(draw_member(random, all, all.empty()));
  return all;
}

inline void free_members(std::vector<Member>& all) {
  for (Member& member : all) {
    if (member.comm != MPI_COMM_WORLD && member.comm != MPI_COMM_NULL) MPI_Comm_free(&member.comm);
  }
  all.clear();
}

}  // namespace test::sweep
