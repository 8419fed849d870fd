// SPDX-License-Identifier: BSD-3-Clause
// Windows on a peer's memory file. A window is a reservation of addresses, in which those pages are
// mapped that the peer has had.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/cpu.h"
#include "base/descriptor.h"
#include "transport/mapped_memory.h"

namespace sumac {
namespace {

constexpr std::size_t kWindow = MappedMemory::kWindow;
constexpr std::size_t kHuge = std::size_t{2} << 20;

// Reserves address space for a window, aligned so that the owner's large pages can be mapped as
// such.
std::byte* reserve() {
  void* const memory =
      mmap(nullptr, kWindow + kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t head = round_up(address, kHuge) - address;
  if (head > 0) munmap(begin, head);
  if (head < kHuge) munmap(begin + head + kWindow, kHuge - head);
  return begin + head;
}

// Counts the mappings in all windows of the process.
std::atomic<std::size_t> all_mappings{0};

// Tells which pages of a window are mapped. One thread at a time adds pages; others may look.
class ShownPages {
 public:
  // Returns the first page of [first, end) that is not mapped; `end` if all are.
  std::size_t first_missing(std::size_t first, std::size_t end) const {
    while (first < end) {
      const std::uint64_t missing = ~words_[first / 64].load(std::memory_order_acquire);
      const std::uint64_t from_first = missing >> first % 64;
      if (from_first != 0) return std::min(end, first + std::countr_zero(from_first));
      first = round_up(first + 1, std::size_t{64});
    }
    return end;
  }
  void add(std::size_t first, std::size_t end) {
    while (first < end) {
      const std::size_t next = std::min(end, round_up(first + 1, std::size_t{64}));
      const std::uint64_t ones = ~std::uint64_t{0} >> (64 - (next - first));
      words_[first / 64].fetch_or(ones << first % 64, std::memory_order_release);
      first = next;
    }
  }

 private:
  std::atomic<std::uint64_t> words_[kWindow / kPage / 64] = {};
};

class FileWindows final : public PeerWindows {
 public:
  FileWindows(const Key& key, pid_t pid, const FileIdentity& file)
      : PeerWindows(key), pid_(pid), file_(file) {}
  ~FileWindows() override {
    for_all([](std::byte* memory) { munmap(memory, kWindow); });
    all_mappings -= mappings_;
  }

 private:
  std::byte* map(std::uint64_t number) override;
  bool show(const Window& window, std::size_t index, std::size_t offset,
            std::size_t bytes) override;
  bool map_pages(const Window& window, ShownPages& shown, std::size_t first, std::size_t end);

  const pid_t pid_;
  const FileIdentity file_;
  std::unique_ptr<ShownPages> shown_[kMost];  // indexed as the windows
  std::size_t made_ = 0, mappings_ = 0;
  std::mutex showing_;
};

std::byte* FileWindows::map(std::uint64_t) {
  std::byte* const place = reserve();
  if (place) shown_[made_++] = std::make_unique<ShownPages>();
  return place;
}

bool FileWindows::show(const Window& window, std::size_t index, std::size_t offset,
                       std::size_t bytes) {
  ShownPages& shown = *shown_[index];
  const std::size_t first = offset / kPage, end = div_up(offset + bytes, kPage);
  if (shown.first_missing(first, end) == end) return true;
  const std::lock_guard<std::mutex> lock(showing_);
  const std::size_t missing = shown.first_missing(first, end);
  return missing == end || map_pages(window, shown, missing, end);
}

// Maps what the owner has behind the pages as well: the rest of a buffer, most likely. A core file
// does not get the peer's memory, and neither does a child that is forked.
bool FileWindows::map_pages(const Window& window, ShownPages& shown, std::size_t first,
                            std::size_t end) {
  const bool joins = first > 0 && shown.first_missing(first - 1, first) == first;
  if (!joins && all_mappings.load() >= kMostMappings) return false;
  const int file = open_file_of(pid_, file_);
  if (file < 0) return false;
  const auto offset = static_cast<off_t>(window.number * kWindow + first * kPage);
  const off_t hole = lseek(file, offset, SEEK_HOLE);
  if (hole > offset) {
    const std::size_t last = first + static_cast<std::size_t>(hole - offset) / kPage;
    end = std::max(end, std::min(last, kWindow / kPage));
  }
  std::byte* const place = window.memory + first * kPage;
  const std::size_t bytes = (end - first) * kPage;
  const bool mapped = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                           offset) != MAP_FAILED;
  close(file);
  if (!mapped) return false;
  madvise(place, bytes, MADV_DONTDUMP);
  madvise(place, bytes, MADV_DONTFORK);
  mappings_ += !joins;
  all_mappings += !joins;
  shown.add(first, end);
  return true;
}

}  // namespace

AllWindows windows_on_files(const std::vector<pid_t>& pids, const std::vector<FileIdentity>& files,
                            int own_rank) {
  AllWindows all(pids.size());
  for (std::size_t r = 0; r < pids.size(); ++r) {
    if (static_cast<int>(r) == own_rank) continue;
    const FileIdentity& file = files[r];
    const PeerWindows::Key key{file.device, file.inode};
    all[r] = PeerWindows::shared(key, [&]() -> std::shared_ptr<PeerWindows> {
      struct stat found = {};
      const PeerPath path(pids[r], file);
      if (stat(path.text(), &found) != 0 || !is_file(found, file)) return nullptr;
      return std::make_shared<FileWindows>(key, pids[r], file);
    });
  }
  return all;
}

}  // namespace sumac
