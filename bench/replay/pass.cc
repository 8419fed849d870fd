// SPDX-License-Identifier: BSD-3-Clause
#include "pass.h"

#include "data.h"
#include "timing.h"

namespace sumac::replay {

using bench::now_ns;

Player::Pass::Pass(const Player& player, const Functions& functions, bool gaps, bool checks)
    : player_(player),
      functions_(functions),
      gaps_(gaps),
      checks_(checks),
      held_(player.record_.num_requests) {
  spent.resize(player.calls_.size());
}

// Null for a call that is left out.
const Player::Ready* Player::Pass::ready_of(int shape) const {
  if (shape == kNone) return nullptr;
  const Ready& ready = player_.calls_[static_cast<std::size_t>(shape)];
  return ready.is_made ? &ready : nullptr;
}

void Player::Pass::run() {
  const Record& record = player_.record_;
  for (event_ = 0; event_ < player_.plan_.events; ++event_) {
    const Event& event = record.events[event_];
    if (gaps_) {
      for (const auto end = now_ns() + static_cast<std::int64_t>(event.gap); now_ns() < end;) {
      }
    }
    switch (event.kind) {
      case 'b':
        block(event.shape);
        break;
      case 'i':
      case 'p':
        begin(event);
        break;
      case 'g':
        start(event);
        break;
      case 'w':
        wait(&record.requests[event.first], event.requests);
        break;
      default:
        free(record.requests[event.first]);
    }
  }
  finish();
}

void Player::Pass::add(int shape, std::uint64_t calls, std::uint64_t ns) {
  Spent& own = spent[static_cast<std::size_t>(shape)];
  own.calls += calls;
  own.ns += ns;
}

void Player::Pass::make_call(const Ready& ready, MPI_Request* request) {
  Call call = *ready.call;
  call.request = request;
  if (make(functions_, ready.row, call) == MPI_SUCCESS) return;
  throw Failure("replay-failed",
                std::string("the MPI refuses a call of ") + name_of(kind_of(ready.row).function));
}

void Player::Pass::block(int shape) {
  const Ready* const ready = ready_of(shape);
  if (!ready) return;
  if (checks_) fill(*ready);
  const std::int64_t begin = now_ns();
  make_call(*ready, nullptr);
  add(shape, 1, static_cast<std::uint64_t>(now_ns() - begin));
  if (checks_) note_result(shape);
}

void Player::Pass::begin(const Event& event) {
  const Ready* const ready = ready_of(event.shape);
  if (!ready) return;
  Held& held = held_[player_.record_.requests[event.first]];
  held.shape = event.shape;
  held.persistent = event.kind == 'p';
  if (checks_ && !held.persistent) fill(*ready);
  const std::int64_t begin = now_ns();
  make_call(*ready, &held.request);
  held.active = !held.persistent;
  if (held.active) add(event.shape, 1, static_cast<std::uint64_t>(now_ns() - begin));
}

void Player::Pass::start(const Event& event) {
  std::vector<MPI_Request> requests;
  std::vector<Held*> started;
  for (std::uint32_t i = 0; i < event.requests; ++i) {
    Held& held = held_[player_.record_.requests[event.first + i]];
    if (!held.persistent || held.active || held.request == MPI_REQUEST_NULL) continue;
    if (checks_) fill(*ready_of(held.shape));
    held.active = true;
    started.push_back(&held);
    requests.push_back(held.request);
  }
  if (started.empty()) return;
  const std::int64_t begin = now_ns();
  if (requests.size() == 1) {
    functions_.start(requests.data());
  } else {
    functions_.startall(static_cast<int>(requests.size()), requests.data());
  }
  const std::uint64_t each = static_cast<std::uint64_t>(now_ns() - begin) / started.size();
  for (std::size_t i = 0; i < started.size(); ++i) {
    started[i]->request = requests[i];
    add(started[i]->shape, 1, each);
  }
}

void Player::Pass::wait(const std::uint32_t* numbers, std::size_t count) {
  std::vector<MPI_Request> requests;
  std::vector<Held*> waiting;
  for (std::size_t i = 0; i < count; ++i) {
    Held& held = held_[numbers[i]];
    if (!held.active) continue;
    held.active = false;
    waiting.push_back(&held);
    requests.push_back(held.request);
  }
  if (waiting.empty()) return;
  const std::int64_t begin = now_ns();
  functions_.waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const std::uint64_t each = static_cast<std::uint64_t>(now_ns() - begin) / waiting.size();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    waiting[i]->request = requests[i];
    add(waiting[i]->shape, 0, each);
    if (checks_) note_result(waiting[i]->shape);
  }
}

void Player::Pass::free(std::uint32_t request) {
  Held& held = held_[request];
  if (!held.persistent || held.request == MPI_REQUEST_NULL) return;
  wait(&request, 1);
  functions_.request_free(&held.request);
  held.persistent = false;
}

// What the record leaves under way.
void Player::Pass::finish() {
  for (std::uint32_t r = 0; r < held_.size(); ++r) {
    wait(&r, 1);
    free(r);
  }
}

// True where something under way reads or writes the piece's bytes.
bool Player::Pass::is_busy(const Piece& piece) const {
  const auto begin_of = [](const Piece& p) { return p.address + p.type->true_lower; };
  const auto end_of = [&](const Piece& p) {
    return begin_of(p) + (p.count - 1) * p.type->extent + p.type->true_extent;
  };
  for (const Held& held : held_) {
    if (!held.active) continue;
    const Ready& ready = *ready_of(held.shape);
    for (const std::vector<Piece>* pieces : {&ready.inputs, &ready.outputs}) {
      for (const Piece& other : *pieces) {
        if (begin_of(piece) < end_of(other) && begin_of(other) < end_of(piece)) return true;
      }
    }
  }
  return false;
}

void Player::Pass::fill(const Ready& ready) {
  for (const Piece& piece : ready.inputs) {
    if (is_busy(piece)) continue;
    const Element element{piece.type, ready.op, ready.ranks, ready.rank,
                          static_cast<unsigned>(event_)};
    element.fill(piece.address, piece.count);
  }
}

void Player::Pass::note_result(int shape) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Piece& piece : ready_of(shape)->outputs) {
    hash = hash_of(piece.address, piece.count, *piece.type, hash);
  }
  results.push_back({shape, hash});
}

std::vector<Spent> Player::time(const Functions& functions, bool gaps) {
  Pass pass(*this, functions, gaps, false);
  pass.run();
  return pass.spent;
}

std::vector<Player::Result> Player::results(const Functions& functions) {
  memory_.clear();
  Pass pass(*this, functions, false, true);
  pass.run();
  memory_.clear();
  return pass.results;
}

}  // namespace sumac::replay
