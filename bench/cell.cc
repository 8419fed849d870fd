// SPDX-License-Identifier: BSD-3-Clause
#include "cell.h"

#include <cstring>

namespace sumac::bench {

void time_cell(const LocalContenders& contenders, const Options& options, Cell& cell) {
  std::vector<Repeat> chosen{contenders.memcpy};
  std::vector<Turns*> places{&cell.memcpy};
  const auto add = [&](std::optional<Turns>& place, const Repeat& contender) {
    if (!place) return;
    chosen.push_back(contender);
    places.push_back(&*place);
  };
  add(cell.native, contenders.native);
  add(cell.sumac, contenders.sumac);
  add(cell.loop, contenders.loop);
  const std::vector<Turns> turns =
      take_turns(chosen, {options.rounds, options.iterations, options.seconds});
  for (std::size_t i = 0; i < turns.size(); i++) *places[i] = turns[i];
}

Repeat repeat_memcpy(void* to, const void* from, std::size_t bytes) {
  return [=](int calls) {
    for (int i = 0; i < calls; i++) {
      std::memcpy(to, from, bytes);
      asm volatile("" ::: "memory");
    }
  };
}

}  // namespace sumac::bench
