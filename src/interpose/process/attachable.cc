// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/attachable.h"

#include <atomic>
#include <mutex>
#include <string_view>

#include "interpose/process/own_memory.h"
#include "interpose/process/process.h"
#include "observe/log.h"
#include "promotion/process_maps.h"
#include "promotion/surroundings.h"
#include "transport/xpmem.h"

namespace sumac {
namespace {

using promotion::Mapping;
using promotion::ProcessMaps;
using promotion::Range;
using promotion::Search;

// The module looks pages up as get_user_pages() does. That fails for devices, for secret memory,
// and for what was itself attached, which is the one shared mapping without a file.
class Lookup {
 public:
  explicit Lookup(bool stand_in) : stand_in_(stand_in) {
    by_query_ = ProcessMaps::can_query();
    works_ = maps_.open(by_query_);
  }

  bool can_be_attached(const Range& buffer) {
    if (!works_) return false;
    if (by_query_) return is_good(buffer);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Believed& each : believed_) {
      const bool holds = each.range.begin <= buffer.begin && buffer.end <= each.range.end;
      if (holds && each.uses > 0) return --each.uses, true;
    }
    if (!is_good(buffer)) return false;
    believed_[next_++ % kMost] = {buffer, kUses};
    return true;
  }

 private:
  static constexpr std::size_t kMost = 32;
  static constexpr int kUses = 256;
  struct Believed {
    Range range;
    int uses = 0;
  };

  bool is_good(Range rest) const {
    constexpr int kMostMappings = 16;
    char name[64];
    for (int i = 0; i < kMostMappings && !rest.empty(); ++i) {
      Mapping mapping;
      if (!maps_.find(rest.begin, Search::covering, mapping) || !is_good(mapping)) return false;
      if (mapping.inode != 0 &&
          (!maps_.find(rest.begin, Search::covering, mapping, name, sizeof name) ||
           !is_good(std::string_view(name)))) {
        return false;
      }
      rest.begin = mapping.end;
    }
    return rest.empty();
  }
  bool is_good(const Mapping& mapping) const {
    const bool attached = mapping.shared && mapping.inode == 0;
    const bool given = !stand_in_ || mapping.shared;
    return mapping.readable && mapping.writable && !attached && given;
  }
  bool is_good(std::string_view file) const {
    if (stand_in_) return file.starts_with("/memfd:stand-in");
    if (file.starts_with("/dev/")) {
      return file.starts_with("/dev/shm/") || file.starts_with("/dev/zero");
    }
    return file.starts_with("/") && !file.starts_with("/secretmem");
  }

  ProcessMaps maps_;
  const bool stand_in_;
  bool by_query_, works_;
  std::mutex mutex_;
  Believed believed_[kMost];
  std::size_t next_ = 0;
};

std::atomic<std::uint64_t> attached{0};

const Xpmem* open_now() {
  if (!attaches() || promotion::memory_tool_present()) return nullptr;
  const Xpmem* const xpmem = Xpmem::open(options.xpmem_library);
  if (xpmem) log(Level::info, "buffers are seen in place through XPMEM");
  return xpmem;
}

const Xpmem* the_xpmem() {
  static const Xpmem* const xpmem = open_now();
  return xpmem;
}

}  // namespace

std::int64_t own_segment() { return attaching_works() ? the_xpmem()->segment() : 0; }

bool attaching_works() {
  const Xpmem* const xpmem = the_xpmem();
  return xpmem && xpmem->works();
}

bool can_be_attached(const void* address, std::size_t bytes) {
  static auto* const lookup = new Lookup(the_xpmem()->is_stand_in());
  const bool can = lookup->can_be_attached(promotion::range_of(address, bytes));
  if (can) attached.fetch_add(1, std::memory_order_relaxed);
  return can;
}

std::uint64_t buffers_attached() { return attached.load(std::memory_order_relaxed); }

}  // namespace sumac
