// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mapped_memory.h"

#include <map>

namespace sumac {
namespace {

using Known = std::map<PeerWindows::Key, std::weak_ptr<PeerWindows>>;
// This object is never destroyed, since groups may end while the process does.
Known& known() {
  static auto* the_known = new Known;
  return *the_known;
}

}  // namespace

std::mutex& PeerWindows::mutex() {
  static auto* the_mutex = new std::mutex;
  return *the_mutex;
}

std::weak_ptr<PeerWindows>& PeerWindows::place_of(const Key& key) { return known()[key]; }

PeerWindows::~PeerWindows() {
  const std::lock_guard<std::mutex> lock(mutex());
  const auto place = known().find(key_);
  if (place != known().end() && place->second.expired()) known().erase(place);
}

std::byte* PeerWindows::view(std::uintptr_t address, std::size_t bytes) {
  const std::size_t offset = address % kPeerWindow;
  if (bytes > kPeerWindow - offset) return nullptr;
  const std::size_t index = window(address / kPeerWindow);
  if (index == kMost || !show(windows_[index], index, offset, bytes)) return nullptr;
  return windows_[index].memory + offset;
}

std::size_t PeerWindows::window(std::uint64_t number) {
  const auto look = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (windows_[i].number == number) return i;
    }
    return kMost;
  };
  std::size_t found = look(count_.load(std::memory_order_acquire));
  if (found < kMost || full_.load(std::memory_order_relaxed)) return found;
  const std::lock_guard<std::mutex> lock(adding_);
  const std::size_t count = count_.load(std::memory_order_relaxed);
  found = look(count);
  if (found < kMost) return found;
  std::byte* const added = count < kMost ? map(number) : nullptr;
  if (!added) {
    full_.store(true, std::memory_order_relaxed);
    return kMost;
  }
  windows_[count] = {number, added};
  count_.store(count + 1, std::memory_order_release);
  return count;
}

bool MappedMemory::works() const {
  for (std::size_t r = 0; r < windows_.size(); ++r) {
    if (!windows_[r] && static_cast<int>(r) != own_) return false;
  }
  return true;
}

std::byte* MappedMemory::view(int peer, std::uintptr_t address, std::size_t bytes) {
  PeerWindows* const windows = windows_[static_cast<std::size_t>(peer)].get();
  return windows ? windows->view(address, bytes) : nullptr;
}

}  // namespace sumac
