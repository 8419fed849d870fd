// SPDX-License-Identifier: BSD-3-Clause
#include "team/comparison.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sumac {
namespace {

// The order of two candidates is that of Thue and Morse. The others were searched for.
constexpr const char* kOrders[] = {"ABBABAABBAABABBA", "ABCCBABACCABABCCBABACCAB",
                                   "ABCDBCDADABCCDABCDABDABCBCDAABCD"};

// Returns true if `time` exceeds `other` by more than a part of it: all of it, a half and so on.
bool exceeds(std::uint64_t time, std::uint64_t other, int halvings) {
  return other > 0 && time > other && time - other > other >> halvings;
}

constexpr int kAnEighth = 3;  // halvings

bool is_slower(const AgreedTime& time, const AgreedTime& other, int halvings, bool has_root) {
  return exceeds(time.greatest, other.greatest, halvings) &&
         (has_root || exceeds(time.least, other.least, halvings));
}

// No time is taken for longer than this many ns, some minutes, so that sums do not overflow.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;

// Returns the number of the bit that has `before` set bits below it.
std::uint8_t nth_of(unsigned bits, int before) {
  for (; before > 0; --before) bits &= bits - 1;
  return static_cast<std::uint8_t>(std::countr_zero(bits));
}

}  // namespace

Candidates::Candidates(const Choice& first, const std::vector<Choice>& others, bool with_mpi)
    : others_(static_cast<std::uint8_t>(std::min<std::size_t>(others.size(), kMostOthers))),
      with_mpi_(with_mpi) {
  choices_[0] = first;
  std::copy_n(others.begin(), others_, choices_ + 1);
}

int Candidates::like(const Candidates& those, int candidate) const {
  if (choices_[0].algorithm != those.choices_[0].algorithm) return 0;
  if (those.route(candidate) == Route::native) return with_mpi_ ? count() - 1 : 0;
  for (int i = 1; i < own(); ++i) {
    if (choices_[i].algorithm == those.choices_[candidate].algorithm) return i;
  }
  return 0;
}

Comparison::Comparison(int candidates, bool warms_up)
    : left_(static_cast<std::uint8_t>((1 << candidates) - 1)),
      warms_up_(warms_up),
      owes_first_call_(warms_up) {}

int Comparison::left() const { return std::popcount(left_); }

Turn Comparison::next() {
  Turn turn;
  if (warms_up_) {
    warms_up_ = false;
    turn.candidate = static_cast<std::uint8_t>(std::bit_width(left_) - 1);
    turn.kind = TurnKind::warm_up;
    return turn;
  }
  turn.candidate = last_ = nth_of(left_, candidate_of_turn(left(), round_, turns_++));
  turn.kind = TurnKind::timed;
  return turn;
}

void Comparison::note(std::uint64_t ns) {
  std::uint64_t& least = least_[last_];
  ns = std::max<std::uint64_t>(ns, 1);
  least = least == 0 ? ns : std::min(least, ns);
}

void Comparison::write(std::uint64_t (&words)[kWords], std::uint64_t agreement_ns) const {
  for (int i = 0; i < Candidates::kMost; ++i) {
    words[2 * i] = least_[i];
    words[2 * i + 1] = ~least_[i];
  }
  words[kWords - 1] = ~agreement_ns;
}

void Comparison::settle(const std::uint64_t (&agreed)[kWords], bool has_root) {
  for (int i = 0; i < Candidates::kMost; ++i) {
    if (left_ >> i & 1) agreed_[i] = {agreed[2 * i], ~agreed[2 * i + 1]};
  }
  agreement_ns_ = ~agreed[kWords - 1];
  const auto is_dropped = [&](int i, int halvings) {
    for (int j = 0; j < Candidates::kMost; ++j) {
      const bool is_left = left_ >> j & 1;
      if (is_left && is_slower(agreed_[i], agreed_[j], halvings, has_root)) return true;
    }
    return false;
  };
  std::uint8_t stay = 0;
  int best = -1;
  for (int i = 0; i < Candidates::kMost; ++i) {
    if (!(left_ >> i & 1)) continue;
    if (!is_dropped(i, round_)) stay |= static_cast<std::uint8_t>(1 << i);
    if (best < 0 && !is_dropped(i, kAnEighth)) best = i;
  }
  best_ = static_cast<std::uint8_t>(best);
  cost_ += cost_of_round(round_);
  if (std::exchange(owes_first_call_, false)) {
    const AgreedTime& warmed = agreed_[std::bit_width(left_) - 1];
    cost_ += kFirstCall * std::min(warmed.greatest, kLongest);
  }
  left_ = stay;
  turns_ = 0;
  ++round_;
}

// Returns by how much longer (ns) the turns of a round take, of all candidates that are left, than
// as many calls by the best.
std::uint64_t Comparison::cost_of_round(int round) const {
  const std::uint64_t best = std::min(agreed_[best_].greatest, kLongest);
  std::uint64_t cost = std::min(agreement_ns_, kLongest);
  for (int i = 0; i < Candidates::kMost; ++i) {
    const std::uint64_t time = std::min(agreed_[i].greatest, kLongest);
    const auto turns = static_cast<std::uint64_t>(kTurns[round]);
    if (left_ >> i & 1 && time > best) cost += turns * (time - best);
  }
  return cost;
}

std::uint32_t Comparison::calls_to_pay() const {
  const std::uint64_t best = std::min(agreed_[best_].greatest, kLongest);
  if (best == 0) return 0;
  const std::uint64_t cost = cost_ + (has_ended() ? 0 : cost_of_round(round_));
  const std::uint64_t calls = (kPayingCalls * cost + best - 1) / best;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(calls, kMostCalls));
}

int Comparison::best_of_first(int among, bool has_root) const {
  for (int i = 0; i < among; ++i) {
    const bool is_slow = std::any_of(agreed_, agreed_ + among, [&](const AgreedTime& other) {
      return is_slower(agreed_[i], other, kAnEighth, has_root);
    });
    if (!is_slow) return i;
  }
  return 0;
}

int candidate_of_turn(int left, int round, int turn) {
  return (kOrders[left - 2][turn] - 'A' + round * (left / 2)) % left;
}

}  // namespace sumac
