// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/known_mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/descriptor.h"

namespace sumac::promotion {
namespace {

constexpr int kPagesBits = 24;
constexpr std::uint64_t kMostPages = (std::uint64_t{1} << kPagesBits) - 1;        // 64 GiB
constexpr std::uint64_t kMostPage = (std::uint64_t{1} << (64 - kPagesBits)) - 1;  // 2^52 bytes

Range range_of(std::uint64_t packed) {
  const std::uintptr_t begin = (packed >> kPagesBits) * kPage;
  return {begin, begin + (packed & kMostPages) * kPage};
}

}  // namespace

bool KnownMappings::open() {
  directory_ = identity_of(::open("/proc/self/map_files", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return directory_.descriptor >= 0;
}

void KnownMappings::close() { close_own(directory_); }

bool KnownMappings::shows(const MemoryFile& file, const Range& mapping) const {
  char name[40], target[128];
  std::snprintf(name, sizeof name, "%zx-%zx", mapping.begin, mapping.end);
  const ssize_t length = readlinkat(directory_.descriptor, name, target, sizeof target);
  const char* const expected = file.link();
  return length > 0 && std::strlen(expected) <= static_cast<std::size_t>(length) &&
         std::strncmp(target, expected, std::strlen(expected)) == 0;
}

bool KnownMappings::find(const MemoryFile& file, std::uintptr_t address, Range& mapping) const {
  for (const auto& packed : mappings_) {
    mapping = range_of(packed.load(std::memory_order_relaxed));
    if (mapping.contains(address)) return shows(file, mapping);
  }
  return false;
}

void KnownMappings::forget(const Range& range) {
  for (auto& packed : mappings_) {
    const Range noted = range_of(packed.load(std::memory_order_relaxed));
    if (!noted.within(range).empty()) packed.store(0, std::memory_order_relaxed);
  }
}

void KnownMappings::note(const Range& mapping) {
  const std::uint64_t pages = mapping.bytes() / kPage, first = mapping.begin / kPage;
  if (directory_.descriptor < 0 || pages > kMostPages || first > kMostPage) return;
  // The new entry takes the place of one with the same address, so that an address is found once.
  std::size_t place = kMost;
  for (std::size_t i = 0; i < kMost && place == kMost; ++i) {
    const Range other = range_of(mappings_[i].load(std::memory_order_relaxed));
    if (!other.within(mapping).empty()) place = i;
  }
  if (place == kMost) place = next_.fetch_add(1, std::memory_order_relaxed) % kMost;
  mappings_[place].store(first << kPagesBits | pages, std::memory_order_relaxed);
}

}  // namespace sumac::promotion
