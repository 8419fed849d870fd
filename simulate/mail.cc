// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/mail.h"

#include <simgrid/actor.h>

#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace sumac::simulated {

void Mail::add(MPI_Request request, const Pending& pending) {
  requests_.push_back(request);
  pending_.push_back(pending);
  ++pending.owner->under_way_;
}

void Mail::wait() {
  if (requests_.empty()) {
    std::fputs("sumac: error[simulation]: a rank waits for messages, and none is under way\n",
               stderr);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  int index = 0;
  PMPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
  complete(static_cast<std::size_t>(index));
}

bool Mail::wait_also_for(MPI_Request& other, MPI_Status* status) {
  MPI_Status found;
  int index = 0;
  requests_.push_back(other);
  const auto all = static_cast<int>(requests_.size());
  PMPI_Waitany(all, requests_.data(), &index, &found);
  other = requests_.back();
  requests_.pop_back();
  if (index == all - 1) {
    if (status != MPI_STATUS_IGNORE) *status = found;
    return true;
  }
  complete(static_cast<std::size_t>(index));
  return false;
}

void Mail::look() {
  if (requests_.empty()) return;
  found_.resize(requests_.size());
  int count = 0;
  PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, found_.data(),
                MPI_STATUSES_IGNORE);
  for (std::size_t i = requests_.size(); count > 0 && i-- > 0;) {
    if (requests_[i] == MPI_REQUEST_NULL) complete(i);
  }
}

void Mail::complete(std::size_t index) {
  const Pending done = pending_[index];
  requests_[index] = requests_.back();
  pending_[index] = pending_.back();
  requests_.pop_back();
  pending_.pop_back();
  if (done.takes_overhead) sg_actor_sleep_for(overhead_);
  publish(*done.completed, done.completed->load(std::memory_order_relaxed) + 1);
  --done.owner->under_way_;
  done.owner->moved_ = true;
  if (done.towards < 0) return;
  done.owner->connections_[done.towards].busy = false;
  done.owner->advance(done.towards);
}

// All ranks are in one process and share its globals.
SmpiMessages::SmpiMessages(Mail& mail, MPI_Comm comm) : mail_(mail), comm_(comm) {
  static int last = 0;
  PMPI_Comm_rank(comm_, &rank_);
  if (rank_ == 0) number_ = ++last;
  PMPI_Bcast(&number_, 1, MPI_INT, 0, comm_);
}

int SmpiMessages::tag_of(const Stream& stream) const {
  return kFirstTag + number_ * kTagsOfEach + stream.tag;
}

long& SmpiMessages::balance(int from, int to, int tag) const {
  static std::map<std::array<int, 4>, long> all;
  return all[{number_, from, to, tag}];
}

void SmpiMessages::send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) {
  ++stream.sends;
  const Sending sending{from, bytes, tag_of(stream), &stream.sent};
  if (bytes < kInTurn && !connections_.contains(peer)) return start(sending, peer, false);
  connections_[peer].waiting.push_back(sending);
  advance(peer);
}

void SmpiMessages::start(const Sending& sending, int peer, bool in_turn) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send = sending.bytes < kInTurn ? PMPI_Isend : PMPI_Issend;
  --balance(rank_, peer, sending.tag);
  send(sending.from, static_cast<int>(sending.bytes), MPI_BYTE, peer, sending.tag, comm_, &request);
  mail_.add(request, {sending.sent, this, in_turn ? peer : -1});
}

void SmpiMessages::advance(int peer) {
  Connection& connection = connections_[peer];
  while (!connection.busy && !connection.waiting.empty()) {
    const Sending next = connection.waiting.front();
    connection.waiting.pop_front();
    connection.busy = balance(rank_, peer, next.tag) > 0;
    start(next, peer, connection.busy);
  }
  if (!connection.busy) connections_.erase(peer);
}

void SmpiMessages::receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  ++stream.receives;
  const int tag = tag_of(stream);
  ++balance(peer, rank_, tag);
  PMPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_, &request);
  const bool takes_overhead = bytes >= kInTurn && bytes < kSynchronous;
  mail_.add(request, {&stream.received, this, -1, takes_overhead});
}

bool SmpiMessages::poll() { return std::exchange(moved_, false); }

}  // namespace sumac::simulated
