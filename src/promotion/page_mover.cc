// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/page_mover.h"

#include <sys/mman.h>

#include <cstring>

#include "promotion/page_state.h"

namespace sumac::promotion {
namespace {

bool plain_name(const char* name) {
  return *name == 0 || std::strcmp(name, "[heap]") == 0 || std::strncmp(name, "[anon:", 6) == 0;
}

// The C library maps threads' stacks with MAP_STACK above pages without access.
bool is_stack(const Described& mapping) {
  return std::strcmp(mapping.name, "[stack]") == 0 ||
         (mapping.above_guard && mapping.forbids_huge_pages) ||
         mapping.contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

// Returns true if the part has huge pages, or is to have them as soon as the kernel can.
bool is_huge(const Described& mapping, const Range& part) {
  const bool wants =
      mapping.wants_huge_pages || (private_memory_is_huge() && !mapping.forbids_huge_pages);
  return mapping.has_huge_pages || (wants && !whole_units(part, kHugePage).empty());
}

// Judges a mapping that does not show the file.
Refusal judge(Service& service, const Described& mapping, const Range& piece) {
  if (is_stack(mapping)) return Refusal::stack;
  if (mapping.shared || mapping.inode != 0) return Refusal::not_private;
  if (!mapping.readable || !mapping.writable || mapping.executable) return Refusal::permission;
  if (mapping.refusal != Refusal::none) return mapping.refusal;
  if (!plain_name(mapping.name)) return Refusal::special;
  // On pages of 4 KiB the program's own work would become slower by more than promotion gains.
  const bool stays_huge = service.kernel->features().collapses;
  if (!stays_huge && is_huge(mapping, piece)) return Refusal::huge;
  if (service.moved_away(piece)) return Refusal::moved;
  const std::size_t touched = service.kernel->touched_pages(piece);
  return touched * 2 < piece.bytes() / kPage ? Refusal::untouched : Refusal::none;
}

Refusal judge_own(const Service& service, const Mapping& mapping) {
  if (!service.kernel->in_place(mapping)) return Refusal::moved;
  return mapping.readable && mapping.writable ? Refusal::none : Refusal::permission;
}

}  // namespace

Admission admit(Service& service, const Range& range) {
  Admission result;
  Range rest = range;
  if (range.empty()) result.refusal = Refusal::too_small;
  const auto look_at = [&](const Described& mapping) {
    if (mapping.end <= rest.begin) return true;
    if (mapping.begin > rest.begin) return false;
    if (service.kernel->has(mapping)) {
      result.refusal = judge_own(service, mapping);
    } else {
      const Range piece = rest.within(mapping);
      result.refusal = judge(service, mapping, piece);
      if (result.count == kMostPieces) result.refusal = Refusal::scattered;
      if (result.refusal == Refusal::none)
        result.pieces[result.count++] = {piece, is_huge(mapping, piece)};
    }
    rest.begin = mapping.end;
    return !rest.empty() && result.refusal == Refusal::none;
  };
  if (result.refusal == Refusal::none) service.kernel->describe(std::ref(look_at));
  if (result.refusal == Refusal::none && !rest.empty()) result.refusal = Refusal::not_private;
  return result;
}

Range reserve(AddressSpace& kernel, std::size_t bytes, std::size_t unit, std::uintptr_t phase) {
  const std::size_t room = bytes + (unit > kPage ? unit : 0);
  const std::uintptr_t found = kernel.map_anywhere(room, PROT_NONE);
  if (found == 0) return {};
  const std::uintptr_t begin = found + ((phase - found) & (unit - 1));
  if (begin > found) kernel.unmap({found, begin});
  if (begin + bytes < found + room) kernel.unmap({begin + bytes, found + room});
  return {begin, begin + bytes};
}

std::size_t make_huge(AddressSpace& kernel, const Range& range) {
  const Range whole = whole_units(range, kHugePage);
  if (whole.empty()) return 0;
  // MADV_HUGEPAGE is not needed. It would divide the mapping, which then could not be moved at
  // once. A part without any page is not collapsed.
  for (std::uintptr_t at = whole.begin; at < whole.end; at += kHugePage) {
    if (!kernel.advise({at, at + kPage}, kPopulateWrite)) return 0;
  }
  return kernel.advise(whole, kCollapse) ? whole.bytes() : 0;
}

bool move_chunk(Service& service, const Range& chunk, bool huge, std::size_t& huge_bytes) {
  AddressSpace& kernel = *service.kernel;
  const Contents contents{PROT_READ | PROT_WRITE, Contents::Source::file, chunk.begin};
  // Memory that the program has given back since may have left pages there, whose node and size
  // would stay.
  if (kernel.has_data(chunk)) kernel.punch(chunk);
  kernel.place_alike(chunk);
  // The distance of the new pages from the old ones is a multiple of 2 MiB, so that huge pages, and
  // whole tables of pages, can be moved as they are.
  const Range place = reserve(kernel, chunk.bytes(), kHugePage, chunk.begin);
  if (place.empty()) return false;
  const bool shown = kernel.map(place, contents);
  const std::size_t made_huge = shown && huge ? make_huge(kernel, place) : 0;
  // All pages are made now, so that a lack of memory is an error here and not a signal in the copy.
  const bool filled = shown && (kernel.features().populates ? kernel.advise(place, kPopulateWrite)
                                                            : kernel.fill(chunk));
  if (filled) kernel.copy(chunk, place.begin);
  if (filled && kernel.move(place, chunk.begin)) {
    huge_bytes += made_huge;
    return true;
  }
  kernel.unmap(place);
  // mremap() unmaps what is at the new address before it moves, and can, in theory, fail after
  // that. The copy is in the file, so it is mapped into the gap.
  if (filled && kernel.map(chunk, contents, false)) return true;
  kernel.punch(chunk);
  return false;
}

}  // namespace sumac::promotion
