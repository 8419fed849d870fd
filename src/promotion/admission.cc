// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/admission.h"

#include <cstring>

namespace sumac::promotion {
namespace {

bool plain_name(const char* name) {
  return *name == 0 || std::strcmp(name, "[heap]") == 0 || std::strncmp(name, "[anon:", 6) == 0;
}

// The C library maps threads' stacks above pages without access.
bool is_above_guard(const Service& service, const Mapping& mapping) {
  Mapping below;
  return service.maps.find(mapping.begin - 1, Search::covering, below) && !below.readable &&
         !below.writable;
}

// Judges a mapping that does not show the file.
Refusal judge(Service& service, const Mapping& mapping, const char* name, const Range& piece) {
  if (std::strcmp(name, "[stack]") == 0) return Refusal::stack;
  if (mapping.contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))) {
    return Refusal::stack;
  }
  if (mapping.shared || mapping.inode != 0) return Refusal::not_private;
  if (!mapping.readable || !mapping.writable || mapping.executable) return Refusal::permission;
  if (mapping.page_bytes != kPage || !plain_name(name)) return Refusal::special;
  const bool exact = service.settings.exact || is_above_guard(service, mapping);
  if (const Refusal refusal = service.properties.of(piece, exact); refusal != Refusal::none) {
    return refusal;
  }
  // On pages of 4 KiB the program's own work would become slower by more than promotion gains.
  if (!service.kernel.collapses && service.properties.has_huge_pages(piece)) return Refusal::huge;
  std::uintptr_t data = 0;
  const bool may_be_in_use =
      service.holes.load() || (service.file.next_data(piece.begin, data) && data < piece.end);
  return may_be_in_use && service.moved_away(piece) ? Refusal::moved : Refusal::none;
}

Refusal judge_own(const Service& service, const Mapping& mapping) {
  if (!service.file.in_place(mapping)) return Refusal::moved;
  return mapping.readable && mapping.writable ? Refusal::none : Refusal::permission;
}

}  // namespace

Admission admit(Service& service, const Range& range) {
  Admission result;
  if (range.empty()) result.refusal = Refusal::too_small;
  Mapping mapping;
  for (Range rest = range; !rest.empty() && result.refusal == Refusal::none;
       rest.begin = mapping.end) {
    char name[64] = {};
    // A name too long for the query is a file's, so the query fails for it.
    if (!service.maps.find(rest.begin, Search::covering, mapping, name, sizeof name)) {
      result.refusal = Refusal::not_private;
    } else if (service.file.has(mapping)) {
      result.refusal = judge_own(service, mapping);
    } else {
      const Range piece = rest.within(mapping);
      result.refusal = judge(service, mapping, name, piece);
      if (result.count == kMostPieces) result.refusal = Refusal::scattered;
      if (result.refusal == Refusal::none) result.pieces[result.count++] = piece;
    }
  }
  return result;
}

}  // namespace sumac::promotion
