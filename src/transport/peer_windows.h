// SPDX-License-Identifier: BSD-3-Clause
// These are the windows of one peer's memory file. All groups of this process that have the peer
// share them; they go with the last of these groups.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "transport/mapped_memory.h"

namespace sumac {

class PeerWindows {
 public:
  static constexpr std::size_t kMost = 64;

  // Opens the windows of process `pid`. Returns null if its file cannot be opened or is not the one
  // told.
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

  PeerWindows(const FileIdentity& opened, const FileIdentity& file)
      : opened_(opened), file_(file) {}
  std::byte* window(std::uint64_t number);
  std::byte* map(std::uint64_t number);

  FileIdentity opened_;  // the peer's file, by this process's own descriptor
  const FileIdentity file_;
  // Entries before `count_` do not change.
  Window windows_[kMost];
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> full_{false};
  std::mutex adding_;
};

}  // namespace sumac
