// SPDX-License-Identifier: BSD-3-Clause
#include "team/direct_tries.h"

#include <algorithm>
#include <bit>

namespace sumac {
namespace {

constexpr double kUsualGain = 0.1;  // ns for each byte
constexpr int kForgetAfter = 64;

}  // namespace

Algorithm DirectTries::choose(Collective collective, std::size_t bytes, Algorithm otherwise) const {
  const Algorithm algorithm = choices_.choose(collective, bytes).algorithm;
  if (algorithm == Algorithm::native || otherwise == Algorithm::native) return Algorithm::native;
  return info_of(algorithm).needs == Needs::maps ? algorithm : Algorithm::native;
}

bool DirectTries::is_due(Collective collective, std::size_t bytes) {
  Class& its = of(collective, bytes);
  if (its.left == 0) return true;
  --its.left;
  return false;
}

void DirectTries::note(Collective collective, std::size_t bytes, bool went, std::uint64_t ns) {
  Class& its = of(collective, bytes);
  its.went = went;
  its.skipped = went ? 0 : static_cast<std::uint8_t>(std::clamp(2 * its.skipped, 1, kMostSkipped));
  its.left = its.skipped;
  if (went) {
    its.failed = 0;
    its.direct.add(static_cast<double>(ns) / static_cast<double>(bytes));
  } else if (++its.failed == kForgetAfter) {  // forgets the times, for things may have changed
    its.failed = 0;
    its.direct = its.other = {};
  }
}

void DirectTries::note_other(Collective collective, std::size_t bytes, std::uint64_t ns) {
  of(collective, bytes).other.add(static_cast<double>(ns) / static_cast<double>(bytes));
}

double DirectTries::gain_ns(Collective collective, std::size_t bytes) const {
  const Class& its = of(collective, bytes);
  const bool measured = its.direct.known() && its.other.known();
  const double each = measured ? its.other.time() - its.direct.time() : kUsualGain;
  return each * static_cast<double>(bytes);
}

DirectTries::Class& DirectTries::of(Collective collective, std::size_t bytes) {
  const int power = std::min(static_cast<int>(std::bit_width(bytes)), kClasses - 1);
  return classes_[static_cast<int>(collective)][power];
}

const DirectTries::Class& DirectTries::of(Collective collective, std::size_t bytes) const {
  return const_cast<DirectTries*>(this)->of(collective, bytes);
}

}  // namespace sumac
