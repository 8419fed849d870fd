// SPDX-License-Identifier: BSD-3-Clause
// A rank sees peers' memory in place, through windows: ranges of a peer's addresses, each mapped
// into this process once, whatever the peer has there later. There are two kinds of windows: those
// on the peer's memory file, which show what it has moved there (promotion/promotion.h), and those
// of XPMEM, which show all of its memory (xpmem.h).
//
// Idea   A byte of the file has the offset that is its address in the owner's process. So a window
//        of the file, mapped once, shows whatever the owner puts there later, and a buffer that is
//        freed and allocated again needs no other window. Only those pages of a window are mapped
//        that the owner has had: a process that reads or locks all of its mappings would bring the
//        others into being.
// Cost   A reservation for each peer and GiB of its addresses that is used, and for files a mapping
//        in it for each buffer, some microseconds; a page fault for each page (or 2 MiB, where the
//        owner's are that large) at its first use. No file stays open.
// Needs  For files, permission to open the peer's through /proc, which cross-memory attach needs
//        too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "base/descriptor.h"
#include "transport/peer_memory.h"

namespace sumac {

// These are the windows of one peer's memory. All groups of this process that have the peer share
// them; they go with the last of these groups.
class PeerWindows {
 public:
  static constexpr std::size_t kMost = 64;
  // Mappings in all windows of the process, a twentieth of what Linux allows by default.
  static constexpr std::size_t kMostMappings = 3276;

  // Windows of one kind on one peer have a key of their own.
  struct Key {
    std::uint64_t first, second;
    auto operator<=>(const Key&) const = default;
  };
  explicit PeerWindows(const Key& key) : key_(key) {}
  PeerWindows(const PeerWindows&) = delete;
  PeerWindows& operator=(const PeerWindows&) = delete;
  virtual ~PeerWindows();

  // Any thread may call it. A window that has been shown stays, because other threads may use it.
  std::byte* view(std::uintptr_t address, std::size_t bytes);

  // Returns the windows that the process has under the key. If there are none, it takes what make()
  // returns, unless that is null.
  template <class Make>
  static std::shared_ptr<PeerWindows> shared(const Key& key, Make make);

 protected:
  struct Window {
    std::uint64_t number = 0;
    std::byte* memory = nullptr;
  };
  // Makes the window on the addresses [number * kPeerWindow, (number + 1) * kPeerWindow) of the
  // peer. Returns null if it cannot, and is not called again then.
  virtual std::byte* map(std::uint64_t number) = 0;
  // Sees to it that these bytes of a window can be used. `index` counts the windows in the order in
  // which they were made. Returns false if it cannot.
  virtual bool show(const Window& window, std::size_t index, std::size_t offset,
                    std::size_t bytes) = 0;
  // Calls unmap(memory) for each window. Called in destructors.
  template <class Unmap>
  void for_all(Unmap unmap) {
    for (std::size_t i = 0; i < count_; ++i) unmap(windows_[i].memory);
    count_ = 0;
  }

 private:
  static std::mutex& mutex();
  static std::weak_ptr<PeerWindows>& place_of(const Key& key);
  // Returns the index of the window; kMost if there is none.
  std::size_t window(std::uint64_t number);

  const Key key_;
  // Entries before `count_` do not change.
  Window windows_[kMost];
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> full_{false};
  std::mutex adding_;
};

template <class Make>
std::shared_ptr<PeerWindows> PeerWindows::shared(const Key& key, Make make) {
  const std::lock_guard<std::mutex> lock(mutex());
  std::weak_ptr<PeerWindows>& place = place_of(key);
  std::shared_ptr<PeerWindows> windows = place.lock();
  if (!windows) place = windows = make();
  return windows;
}

// The windows of a group, by rank. This process's own are null, and so are those that it cannot
// have.
using AllWindows = std::vector<std::shared_ptr<PeerWindows>>;

// Returns the windows on the files of processes `pids`. A window opens its file when it is needed;
// a file that cannot be looked at, or is not the one told, has none.
AllWindows windows_on_files(const std::vector<pid_t>& pids, const std::vector<FileIdentity>& files,
                            int own_rank);

// This class adds view() to a way of copying.
class MappedMemory final : public PeerMemory {
 public:
  static constexpr std::size_t kWindow = kPeerWindow;

  MappedMemory(std::unique_ptr<PeerMemory> copies, AllWindows windows, int own_rank)
      : copies_(std::move(copies)), windows_(std::move(windows)), own_(own_rank) {}
  // Returns false if there are ranks whose memory is not seen.
  bool works() const;

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
  AllWindows windows_;
  int own_;
};

}  // namespace sumac
