// SPDX-License-Identifier: BSD-3-Clause
#include "observe/learnt.h"

#include <algorithm>
#include <mutex>

namespace sumac {
namespace {

std::mutex mutex;
LearntTable of_process;

}  // namespace

void LearntTable::note(const Learnt& outcome) {
  Learnt* const end = all + count;
  Learnt* const known =
      std::find_if(all, end, [&](const Learnt& each) { return each.is_of_class(outcome); });
  if (outcome.now != outcome.first) {
    if (known == all + kMost) return;
    *known = outcome;
    count += known == end;
  } else if (known != end) {
    std::copy(known + 1, end, known);
    --count;
  }
}

void LearntTable::merge(const LearntTable& other) {
  for (int i = 0; i < other.count; ++i) {
    const Learnt& each = other.all[i];
    const bool is_known =
        std::any_of(all, all + count, [&](const Learnt& known) { return known.is_of_class(each); });
    if (!is_known) note(each);
  }
}

void note_learnt(const Learnt& outcome) {
  const std::lock_guard<std::mutex> lock(mutex);
  of_process.note(outcome);
}

LearntTable process_learnt() {
  const std::lock_guard<std::mutex> lock(mutex);
  return of_process;
}

}  // namespace sumac
