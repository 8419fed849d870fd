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

constexpr int kAHalf = 1, kAnEighth = 3;  // halvings

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

Comparison::Comparison(int candidates, Mpi mpi)
    : left_(static_cast<std::uint8_t>((1 << candidates) - 1)),
      own_(static_cast<std::uint8_t>(candidates - (mpi != Mpi::none))),
      warms_up_(mpi == Mpi::cold),
      owes_first_call_(warms_up_),
      mpi_may_serve_(mpi == Mpi::serves) {}

int Comparison::left() const { return std::popcount(left_); }

Turn Comparison::next() {
  Turn turn;
  if (warms_up_) {
    warms_up_ = false;
    turn.candidate = static_cast<std::uint8_t>(std::bit_width(left_) - 1);
    turn.kind = TurnKind::warm_up;
    return turn;
  }
  const int taken = turns_++;
  const int nth = in_rows_ ? taken / kRow : candidate_of_turn(left(), round_, taken);
  turn.candidate = last_ = nth_of(left_, nth);
  turn.kind = TurnKind::timed;
  return turn;
}

void Comparison::note(std::uint64_t ns) {
  std::uint64_t& time = times_[last_];
  ns = std::clamp<std::uint64_t>(ns, 1, kLongest);
  if (in_rows_) {
    time += ns;
  } else {
    time = time == 0 ? ns : std::min(time, ns);
  }
}

void Comparison::write(std::uint64_t (&words)[kWords], std::uint64_t agreement_ns) const {
  for (int i = 0; i < Candidates::kMost; ++i) {
    words[2 * i] = times_[i];
    words[2 * i + 1] = ~times_[i];
  }
  words[kWords - 1] = ~agreement_ns;
}

void Comparison::settle(const std::uint64_t (&agreed)[kWords], bool has_root) {
  AgreedTime times[Candidates::kMost];
  for (int i = 0; i < Candidates::kMost; ++i) times[i] = {agreed[2 * i], ~agreed[2 * i + 1]};
  agreement_ns_ = ~agreed[kWords - 1];
  if (in_rows_) {
    settle_rows(times, has_root);
  } else {
    settle_mixed(times, has_root);
  }
  turns_ = 0;
}

void Comparison::settle_mixed(const AgreedTime (&times)[Candidates::kMost], bool has_root) {
  for (int i = 0; i < Candidates::kMost; ++i) {
    if (left_ >> i & 1) agreed_[i] = times[i];
  }
  const auto is_dropped = [&](int i, int halvings) {
    for (int j = 0; j < Candidates::kMost; ++j) {
      const bool is_left = left_ >> j & 1;
      if (is_left && is_slower(agreed_[i], agreed_[j], halvings, has_root)) return true;
    }
    return false;
  };
  std::uint8_t stay = 0;
  int fastest = -1;
  for (int i = 0; i < Candidates::kMost; ++i) {
    if (!(left_ >> i & 1)) continue;
    if (!is_dropped(i, round_)) stay |= static_cast<std::uint8_t>(1 << i);
    if (fastest < 0 && !is_dropped(i, kAnEighth)) fastest = i;
  }
  fastest_ = static_cast<std::uint8_t>(fastest);
  best_own_ = fastest < own_ ? fastest_ : first_of_fastest_own(has_root);
  cost_ += cost_of_round();
  if (std::exchange(owes_first_call_, false)) {
    const AgreedTime& warmed = agreed_[std::bit_width(left_) - 1];
    cost_ += kFirstCall * std::min(warmed.greatest, kLongest);
  }
  left_ = stay;
  if (++round_ < kRounds && left() > 1) return;
  if (fastest_ < own_) {
    has_ended_ = true;
    return;
  }
  in_rows_ = true;
  left_ = static_cast<std::uint8_t>(1 << best_own_ | 1 << fastest_);
  std::fill_n(times_, Candidates::kMost, 0);
}

void Comparison::settle_rows(const AgreedTime (&sums)[Candidates::kMost], bool has_root) {
  const AgreedTime& own = rows_[best_own_] = sums[best_own_];
  const AgreedTime& mpis = rows_[fastest_] = sums[fastest_];
  const std::uint64_t served = sums[best()].greatest;
  const std::uint64_t longer = std::max(own.greatest, mpis.greatest);
  cost_ += std::min(agreement_ns_, kLongest) + std::min(longer - served, kLongest);
  mpi_may_serve_ = !is_slower(mpis, own, kAHalf, has_root);
  if (!mpi_may_serve_) fastest_ = best_own_;
  has_ended_ = true;
}

// Returns by how much longer (ns) the turns of a round take, of all candidates that are left, than
// as many calls by the best.
std::uint64_t Comparison::cost_of_round() const {
  const std::uint64_t best_ns = std::min(agreed_[best()].greatest, kLongest);
  std::uint64_t cost = std::min(agreement_ns_, kLongest);
  for (int i = 0; i < Candidates::kMost; ++i) {
    const std::uint64_t time = std::min(agreed_[i].greatest, kLongest);
    const auto turns = static_cast<std::uint64_t>(turns_of_each());
    if (left_ >> i & 1 && time > best_ns) cost += turns * (time - best_ns);
  }
  return cost;
}

std::uint32_t Comparison::calls_to_pay() const {
  const std::uint64_t best_ns = std::min(agreed_[best()].greatest, kLongest);
  if (best_ns == 0) return 0;
  const std::uint64_t cost = cost_ + (has_ended() ? 0 : cost_of_round());
  const std::uint64_t calls = (kPayingCalls * cost + best_ns - 1) / best_ns;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(calls, kMostCalls));
}

std::uint8_t Comparison::first_of_fastest_own(bool has_root) const {
  for (std::uint8_t i = 0; i < own_; ++i) {
    const bool is_slow = std::any_of(agreed_, agreed_ + own_, [&](const AgreedTime& other) {
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
