// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstring>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/world.h"
#include "interpose/process/communicator.h"
#include "interpose/process/process.h"
#include "team/hang_doctor.h"

namespace sumac {

std::vector<std::byte> MpiOob::gather_on_board(const void* own, std::size_t bytes) {
  std::vector<std::byte> all(static_cast<std::size_t>(communicator_.size) * bytes);
  board_->all_gather(own, all.data(), bytes, policy_);
  return all;
}

template <class Fold>
void MpiOob::fold_on_board(std::uint64_t* words, std::size_t count, Fold fold) {
  const std::vector<std::byte> all = gather_on_board(words, count * sizeof *words);
  for (std::size_t i = 0; i < all.size() / sizeof *words; ++i) {
    std::uint64_t word;
    std::memcpy(&word, all.data() + i * sizeof word, sizeof word);
    words[i % count] = fold(words[i % count], word);
  }
}

void MpiOob::all_gather(const void* own, void* all, std::size_t bytes) {
  if (board_) return board_->all_gather(own, all, bytes, policy_);
  const int count = static_cast<int>(bytes);
  mpi.Allgather(own, count, kMpi.byte, all, count, kMpi.byte, communicator_.comm);
}

void MpiOob::gather(const void* own, void* all, std::size_t bytes) {
  if (board_) {
    const std::vector<std::byte> gathered = gather_on_board(own, bytes);
    if (communicator_.rank == 0) std::ranges::copy(gathered, static_cast<std::byte*>(all));
    return;
  }
  const int count = static_cast<int>(bytes);
  mpi.Gather(own, count, kMpi.byte, all, count, kMpi.byte, 0, communicator_.comm);
}

// The program may be receiving anything on the communicator, so the members get one of their own
// for a moment. It is split off: one that Open MPI 4 makes by MPI_Comm_create_group carries copies
// of the program's attributes.
bool MpiOob::all_gather_among(const RankList& members, const void* own, void* all,
                              std::size_t bytes) {
  const bool alone = members.size() == 1;
  if (alone) std::memcpy(all, own, bytes);
  MpiComm among = kMpi.comm_null;
  bool worked = make_inner(communicator_.comm, alone ? kMpi.undefined : members[0],
                           communicator_.rank, among);
  if (among == kMpi.comm_null) return worked && alone;
  const int count = static_cast<int>(bytes);
  worked &= mpi.Allgather(own, count, kMpi.byte, all, count, kMpi.byte, among) == kMpiSuccess;
  mpi.Comm_free(one(among));
  return worked;
}

void MpiOob::all_and(std::uint64_t* words, std::size_t count) {
  if (board_) {
    return fold_on_board(words, count, [](std::uint64_t a, std::uint64_t b) { return a & b; });
  }
  mpi.Allreduce(kMpi.in_place, words, static_cast<int>(count), kMpi.uint64_t, kMpi.band,
                communicator_.comm);
}

void MpiOob::all_max(std::uint64_t* words, std::size_t count) {
  if (board_) {
    return fold_on_board(words, count,
                         [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  }
  for (std::size_t i = 0; i < count; ++i) words[i] = in_signed_order(words[i]);
  mpi.Allreduce(kMpi.in_place, words, static_cast<int>(count), kMpi.int64_t, kMpi.max,
                communicator_.comm);
  for (std::size_t i = 0; i < count; ++i) words[i] = in_signed_order(words[i]);
}

void MpiOob::broadcast(void* data, std::size_t bytes) {
  if (board_) {
    const std::vector<std::byte> all = gather_on_board(data, bytes);
    std::memcpy(data, all.data(), bytes);
    return;
  }
  mpi.Bcast(data, static_cast<int>(bytes), kMpi.byte, 0, communicator_.comm);
}

bool MpiOob::make_messages(std::shared_ptr<Messages>& made) {
  MpiComm all = kMpi.comm_null;
  const bool worked = make_inner(communicator_.comm, 0, communicator_.rank, all);
  if (all != kMpi.comm_null) made = std::make_shared<MpiMessages>(all);
  return worked;
}

void MpiOob::drive() {
  probe_mpi(communicator_);
  engine().progress();
}

std::string MpiOob::name() {
  char name[kMostName + 1] = "";
  int length = 0;
  const bool freed = communicator_.handle.load(std::memory_order_relaxed) == 0;
  if (!freed) mpi.Comm_get_name(communicator_.comm, name, &length);
  return length > 0 ? name : "a communicator without a name";
}

void MpiOob::end_job() { sumac::end_job(communicator_.comm); }

const Context& team_context() {
  static auto* idle = new IdleMessages;  // never destroyed, like the arena
  static auto* measures = new KnownMeasures;
  static const Context context{options,   user_rules(),   arena(),  *idle,
                               *measures, known_groups(), family(), process_word()};
  return context;
}

// A probe that finds a message makes no progress in Open MPI: it asks for one that nobody sends,
// from this rank to itself, with a tag every MPI allows.
void probe_mpi(const Communicator& c) {
  constexpr int kUnusedTag = 32749;
  int flag = 0;
  const bool freed = c.handle.load(std::memory_order_relaxed) == 0;
  mpi.Iprobe(freed ? 0 : c.rank, kUnusedTag, freed ? kMpi.comm_self : c.comm, &flag,
             status_ignore());
}

void report_late_anywhere(void*, double seconds) {
  for (Communicator* c : all_communicators()) {
    if (!c->queue.empty()) report_late_beside(static_cast<Team*>(c), seconds);
  }
}

}  // namespace sumac
