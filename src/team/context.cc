// SPDX-License-Identifier: BSD-3-Clause
#include "team/context.h"

#include <algorithm>
#include <utility>

namespace sumac {

void IdleMessages::keep(TeamMessages messages) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(messages));
}

std::uint64_t IdleMessages::find(std::uint64_t purpose) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const TeamMessages& own : idle_) {
    if (own.purpose == purpose) return own.id;
  }
  return 0;
}

bool IdleMessages::holds(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(idle_.begin(), idle_.end(),
                     [&](const TeamMessages& own) { return own.id == id; });
}

TeamMessages IdleMessages::take(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = std::find_if(idle_.begin(), idle_.end(),
                                  [&](const TeamMessages& own) { return own.id == id; });
  TeamMessages taken = std::move(*place);
  idle_.erase(place);
  return taken;
}

void IdleMessages::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.clear();
}

}  // namespace sumac
