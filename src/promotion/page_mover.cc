// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/page_mover.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "promotion/page_state.h"

namespace sumac::promotion {
namespace {

bool plain_name(const char* name) {
  return *name == 0 || std::strcmp(name, "[heap]") == 0 || std::strncmp(name, "[anon:", 6) == 0;
}

// This is what smaps says of one mapping.
struct Described : Mapping {
  Properties properties;
  char name[64] = {};  // a name that does not fit is a file's
  bool above_guard = false;

  // Reads the next mapping. Returns false at the end.
  bool next(MapsText& text) {
    const bool was_guard = !readable && !writable;
    const std::uintptr_t below = end;
    if (!text.next(*this, name, sizeof name) || !text.properties(properties)) return false;
    above_guard = was_guard && below == begin;
    return true;
  }
  // The C library maps threads' stacks with MAP_STACK above pages without access.
  bool is_stack() const {
    return std::strcmp(name, "[stack]") == 0 || (above_guard && properties.forbids_huge_pages) ||
           contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  }
  // Returns true if the part has huge pages, or is to have them as soon as the kernel can.
  bool is_huge(const Range& part) const {
    const bool wants =
        properties.wants_huge_pages || (private_memory_is_huge() && !properties.forbids_huge_pages);
    return properties.has_huge_pages || (wants && !whole_units(part, kHugePage).empty());
  }
};

// Judges a mapping that does not show the file.
Refusal judge(Service& service, const Described& mapping, const Range& piece) {
  if (mapping.is_stack()) return Refusal::stack;
  if (mapping.shared || mapping.inode != 0) return Refusal::not_private;
  if (!mapping.readable || !mapping.writable || mapping.executable) return Refusal::permission;
  if (mapping.properties.refusal != Refusal::none) return mapping.properties.refusal;
  if (!plain_name(mapping.name)) return Refusal::special;
  // On pages of 4 KiB the program's own work would become slower by more than promotion gains.
  if (!service.kernel.collapses && mapping.is_huge(piece)) return Refusal::huge;
  if (service.moved_away(piece)) return Refusal::moved;
  return mostly_untouched(piece) ? Refusal::untouched : Refusal::none;
}

Refusal judge_own(const Service& service, const Mapping& mapping) {
  if (!service.file.in_place(mapping)) return Refusal::moved;
  return mapping.readable && mapping.writable ? Refusal::none : Refusal::permission;
}

}  // namespace

Admission admit(Service& service, const Range& range) {
  Admission result;
  if (range.empty()) result.refusal = Refusal::too_small;
  MapsText text("/proc/self/smaps");
  Described mapping;
  for (Range rest = range; !rest.empty() && result.refusal == Refusal::none;) {
    const bool found = mapping.next(text);
    if (found && mapping.end <= rest.begin) continue;
    if (!found || mapping.begin > rest.begin) {
      result.refusal = Refusal::not_private;
    } else if (service.file.has(mapping)) {
      result.refusal = judge_own(service, mapping);
    } else {
      const Range piece = rest.within(mapping);
      result.refusal = judge(service, mapping, piece);
      if (result.count == kMostPieces) result.refusal = Refusal::scattered;
      if (result.refusal == Refusal::none)
        result.pieces[result.count++] = {piece, mapping.is_huge(piece)};
    }
    rest.begin = mapping.end;
  }
  return result;
}

namespace {

constexpr std::size_t kChunk = std::size_t{16} << 20;

// This is a free place for the new pages. Its distance from the old ones is a multiple of 2 MiB, so
// that huge pages, and whole tables of pages, can be moved as they are.
class ChunkPlace {
 public:
  ChunkPlace(const MemoryFile& file, const Range& chunk) : bytes_(chunk.bytes()) {
    reserved_bytes_ = bytes_ + kHugePage;
    reserved_ = mmap(nullptr, reserved_bytes_, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_ == MAP_FAILED) return;
    const auto free = reinterpret_cast<std::uintptr_t>(reserved_);
    const std::uintptr_t address = free + ((chunk.begin - free) & (kHugePage - 1));
    void* mapped = mmap(pointer(address), bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                        file.fd(), static_cast<off_t>(chunk.begin));
    if (mapped != MAP_FAILED) at_ = static_cast<std::byte*>(mapped);
  }
  ~ChunkPlace() {
    if (reserved_ == MAP_FAILED) return;
    // The new pages have left a gap here, in which another thread may have mapped something by now.
    const Range all = range_of(reserved_, reserved_bytes_);
    const Range taken = moved_ ? range_of(moved_, bytes_) : Range{all.end, all.end};
    if (taken.begin > all.begin) munmap(pointer(all.begin), taken.begin - all.begin);
    if (all.end > taken.end) munmap(pointer(taken.end), all.end - taken.end);
  }
  ChunkPlace(const ChunkPlace&) = delete;
  ChunkPlace& operator=(const ChunkPlace&) = delete;

  std::byte* at() const { return at_; }
  // Puts the pages over those at `address`. It does not use the C library's mremap(): the one that
  // UCX 1.13 puts in its place does not pass the new address on.
  bool move_to(std::byte* address) {
    if (syscall(SYS_mremap, at_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, address) < 0) {
      return false;
    }
    moved_ = at_;
    return true;
  }

 private:
  std::size_t bytes_, reserved_bytes_;
  void* reserved_;
  std::byte* at_ = nullptr;
  std::byte* moved_ = nullptr;
};

// mremap() unmaps what is at the new address before it moves, and can, in theory, fail after that.
// The copy is in the file, so it is mapped into the gap. Returns false if the old pages are still
// there.
bool fill_gap(const MemoryFile& file, const Range& chunk) {
  void* const at = pointer(chunk.begin);
  return mmap(at, chunk.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
              file.fd(), static_cast<off_t>(chunk.begin)) == at;
}

}  // namespace

Range first_chunk(const Range& range) {
  const std::uintptr_t end = (range.begin / kChunk + 1) * kChunk;
  return range.within({range.begin, end});
}

bool move_chunk(Service& service, const Range& chunk, bool huge, std::size_t& huge_bytes) {
  const MemoryFile& file = service.file;
  // Memory that the program has given back since may have left pages there, whose node and size
  // would stay.
  if (file.has_data(chunk)) file.punch(chunk);
  place_alike(file, chunk);
  ChunkPlace place(file, chunk);
  if (!place.at()) return false;
  const std::size_t made_huge = huge ? make_huge(chunk, place.at()) : 0;
  // All pages are made now, so that a lack of memory is an error here and not a signal in the copy.
  if (!(service.kernel.populates ? madvise(place.at(), chunk.bytes(), kPopulateWrite) == 0
                                 : file.fill(chunk))) {
    file.punch(chunk);
    return false;
  }
  std::memcpy(place.at(), pointer(chunk.begin), chunk.bytes());
  const bool moved = place.move_to(pointer(chunk.begin)) || fill_gap(file, chunk);
  if (!moved) file.punch(chunk);
  if (moved) huge_bytes += made_huge;
  return moved;
}

}  // namespace sumac::promotion
