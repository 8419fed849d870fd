// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/known_mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace sumac::promotion {

void KnownMappings::recognise(const char* name) {
  std::snprintf(link_, sizeof link_, "/memfd:%s", name);
}

bool KnownMappings::open() {
  directory_ = identity_of(::open("/proc/self/map_files", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return directory_.descriptor >= 0;
}

bool KnownMappings::find(std::uintptr_t address, Range& mapping) const {
  for (const ChangingRange& noted : mappings_) {
    mapping = noted.get();
    if (!mapping.contains(address)) continue;
    char name[40], target[128];
    std::snprintf(name, sizeof name, "%zx-%zx", mapping.begin, mapping.end);
    const ssize_t length = readlinkat(directory_.descriptor, name, target, sizeof target);
    const std::size_t expected = std::strlen(link_);
    return length >= static_cast<ssize_t>(expected) && std::memcmp(target, link_, expected) == 0;
  }
  return false;
}

void KnownMappings::forget(const Range& range) {
  for (ChangingRange& noted : mappings_) {
    if (!noted.get().within(range).empty()) noted.set({});
  }
}

void KnownMappings::note(const Range& mapping) {
  if (directory_.descriptor < 0) return;
  forget(mapping);  // so that an address is found once
  mappings_[next_.fetch_add(1, std::memory_order_relaxed) % kMost].set(mapping);
}

}  // namespace sumac::promotion
