// SPDX-License-Identifier: BSD-3-Clause
#include "team/context.h"

#include <algorithm>
#include <utility>

namespace sumac {

void IdleMessages::keep(TeamMessages messages) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(messages));
}

template <class Wanted>
TeamMessages IdleMessages::take_first(Wanted wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = std::find_if(idle_.begin(), idle_.end(), wanted);
  if (place == idle_.end()) return {};
  TeamMessages taken = std::move(*place);
  idle_.erase(place);
  return taken;
}

TeamMessages IdleMessages::take_for(std::uint64_t purpose) {
  return take_first([=](const TeamMessages& own) { return own.purpose == purpose; });
}

TeamMessages IdleMessages::take(std::uint64_t id) {
  return take_first([=](const TeamMessages& own) { return own.id == id; });
}

void IdleMessages::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.clear();
}

}  // namespace sumac
