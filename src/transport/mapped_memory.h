// SPDX-License-Identifier: BSD-3-Clause
// A rank sees peers' memory in place: what a peer has moved into its memory file
// (promotion/promotion.h) is mapped into this process, too.
//
// Idea   A byte of the file has the offset that is its address in the owner's process. So a window
//        of the file, mapped once, shows whatever the owner puts there later, and a buffer that is
//        freed and allocated again needs no other window.
// Cost   One mapping for each peer and GiB of its addresses that is used; a page fault for each
//        page (or 2 MiB, where the owner's are that large) at its first use. No file stays open.
// Needs  Permission to open the peer's files through /proc, which cross-memory attach needs too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/cpu.h"
#include "base/descriptor.h"
#include "transport/peer_memory.h"

namespace sumac {

// These are the windows of one peer's memory file. All groups of this process that have the peer
// share them; they go with the last of these groups.

class PeerWindows {
 public:
  static constexpr std::size_t kMost = 64;

  // Returns the windows of process `pid`; null if its file cannot be looked at or is not the one
  // told. The file is opened when a window is needed.
  static std::shared_ptr<PeerWindows> of(pid_t pid, const FileIdentity& file);
  PeerWindows(const PeerWindows&) = delete;
  PeerWindows& operator=(const PeerWindows&) = delete;
  ~PeerWindows();

  // Any thread may call it. A window that has been shown stays, because other threads may use it.
  std::byte* view(std::uintptr_t address, std::size_t bytes);

 private:
  struct Window {
    std::uint64_t number = 0;
    std::byte* memory = nullptr;
  };

  PeerWindows(pid_t pid, const FileIdentity& file) : pid_(pid), file_(file) {}
  std::byte* window(std::uint64_t number);
  std::byte* map(std::uint64_t number);

  const pid_t pid_;
  const FileIdentity file_;
  // Entries before `count_` do not change.
  Window windows_[kMost];
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> full_{false};
  std::mutex adding_;
};

// This class adds view() to a way of copying.
class MappedMemory final : public PeerMemory {
 public:
  static constexpr std::size_t kWindow = kPeerWindow;

  // pids[rank] and files[rank] are those of each rank of the group. If this process may not look at
  // a file, works() returns false and nothing is seen.
  MappedMemory(std::unique_ptr<PeerMemory> copies, const std::vector<pid_t>& pids,
               const std::vector<FileIdentity>& files, int own_rank);
  bool works() const { return works_; }

  // Returns null also if the bytes lie in two windows, or if no more windows can be mapped.
  std::byte* view(int peer, std::uintptr_t address, std::size_t bytes) override;
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override {
    return copies_->read(peer, address, to, bytes);
  }
  bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) override {
    return copies_->write(peer, address, from, bytes);
  }

 private:
  std::unique_ptr<PeerMemory> copies_;
  std::vector<std::shared_ptr<PeerWindows>> windows_;  // [rank]; the process's groups share them
  bool works_ = true;
};

}  // namespace sumac
