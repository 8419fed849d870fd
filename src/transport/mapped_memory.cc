// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mapped_memory.h"

#include "transport/peer_windows.h"

namespace sumac {

MappedMemory::MappedMemory(std::unique_ptr<PeerMemory> copies, const std::vector<pid_t>& pids,
                           const std::vector<FileIdentity>& files, int own_rank)
    : copies_(std::move(copies)), windows_(pids.size()) {
  for (std::size_t r = 0; r < pids.size() && works_; ++r) {
    if (static_cast<int>(r) == own_rank) continue;
    windows_[r] = PeerWindows::of(pids[r], files[r]);
    works_ = windows_[r] != nullptr;
  }
}

std::byte* MappedMemory::view(int peer, std::uintptr_t address, std::size_t bytes) {
  PeerWindows* const windows = windows_[static_cast<std::size_t>(peer)].get();
  return windows ? windows->view(address, bytes) : nullptr;
}

}  // namespace sumac
