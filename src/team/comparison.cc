// SPDX-License-Identifier: BSD-3-Clause
#include "team/comparison.h"

#include <algorithm>
#include <bit>

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

// Returns the number of the bit that has `before` set bits below it.
std::uint8_t nth_of(unsigned bits, int before) {
  for (; before > 0; --before) bits &= bits - 1;
  return static_cast<std::uint8_t>(std::countr_zero(bits));
}

}  // namespace

Candidates::Candidates(const std::vector<Choice>& others, bool with_mpi)
    : others_(static_cast<std::uint8_t>(std::min<std::size_t>(others.size(), kMostOthers))),
      with_mpi_(with_mpi) {
  std::copy_n(others.begin(), others_, choices_);
}

Comparison::Comparison(int candidates, bool warms_up)
    : left_(static_cast<std::uint8_t>((1 << candidates) - 1)), warms_up_(warms_up) {}

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

void Comparison::write(std::uint64_t (&words)[kWords]) const {
  for (int i = 0; i < Candidates::kMost; ++i) {
    words[2 * i] = least_[i];
    words[2 * i + 1] = ~least_[i];
  }
}

void Comparison::settle(const std::uint64_t (&agreed)[kWords], bool has_root) {
  for (int i = 0; i < Candidates::kMost; ++i) {
    if (left_ >> i & 1) agreed_[i] = {agreed[2 * i], ~agreed[2 * i + 1]};
  }
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
  left_ = stay;
  best_ = static_cast<std::uint8_t>(best);
  turns_ = 0;
  ++round_;
}

int candidate_of_turn(int left, int round, int turn) {
  return (kOrders[left - 2][turn] - 'A' + round * (left / 2)) % left;
}

}  // namespace sumac
