// SPDX-License-Identifier: BSD-3-Clause
// The program calls madvise() on promoted memory. Allocators rely on memory that they gave back by
// MADV_DONTNEED reading as zeros (jemalloc does); a shared mapping would show the file's data
// again. So holes are punched.
//
// Sumac does not see calls from inside the C library: malloc_trim() and the arenas of threads give
// memory back by MADV_DONTNEED there, and take it for dirty afterwards; the threads' stacks that it
// keeps are never promoted. realloc() of a large block is an mremap of a mapping whose first page,
// with the block's header, is never promoted: it spans two mappings, the kernel refuses to resize
// it, and realloc() copies. Programs that make the system call themselves are not seen either; they
// do so at their own risk.
#include <sys/mman.h>

#include <cerrno>

#include "promotion/page_state.h"
#include "promotion/service.h"

namespace sumac::promotion {
namespace {

int apply(Madvise next, const Range& range, int advice) {
  return next(pointer(range.begin), range.bytes(), advice);
}

void punch(Service& service, const Range& part, const Mapping& mapping) {
  const std::uintptr_t offset = mapping.offset_of(part.begin);
  service.holes.store(true);
  service.tally.released_bytes += service.file.punch({offset, offset + part.bytes()});
}

// MADV_FREE is an error on shared memory.
int free_lazily(Service& service, const Range& range, Madvise next) {
  int result = 0, error = 0;
  const auto plain = [&](const Range& part) {
    if (part.empty() || apply(next, part, MADV_FREE) == 0) return;
    result = -1;
    error = errno;
  };
  std::uintptr_t done = range.begin;
  for_promoted(service, range, [&](const Range& part, const Mapping& mapping) {
    plain({done, part.begin});
    apply(next, part, MADV_DONTNEED);
    punch(service, part, mapping);
    done = part.end;
  });
  plain({done, range.end});
  if (result != 0) errno = error;
  return result;
}

bool releases(int advice) {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == kDontneedLocked ||
         advice == MADV_REMOVE;
}

}  // namespace

int advise(void* address, std::size_t bytes, int advice, Madvise next) {
  Service& own = service();
  own.properties.note_advice(advice);
  const Range range = range_of(address, bytes);
  const Range pages{range.begin, round_up(range.end, kPage)};
  if (!releases(advice) || range.begin % kPage != 0 || pages.empty() || !own.near(pages) ||
      own.off.load() == Refusal::forked) {
    return next(address, bytes, advice);
  }
  if (advice == MADV_FREE) return free_lazily(own, pages, next);
  if (advice == MADV_REMOVE) own.holes.store(true);
  const int result = next(address, bytes, advice);
  const int error = errno;
  // If the range has a gap (ENOMEM), the kernel has done its work on the rest.
  if (advice != MADV_REMOVE && (result == 0 || error == ENOMEM)) {
    for_promoted(own, pages,
                 [&](const Range& part, const Mapping& mapping) { punch(own, part, mapping); });
  }
  errno = error;
  return result;
}

}  // namespace sumac::promotion
