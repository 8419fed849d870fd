// SPDX-License-Identifier: BSD-3-Clause
// fork() gives the child a copy of its parent's private memory, also of what others can map.
//
// Idea   Much memory: the process leaves direct memory. Before the fork each mapping of the file
//        becomes a private one of the same pages, in one step that other threads do not notice.
//        From then on the kernel copies a page when the parent or the child writes to it, as it
//        does with all private memory, and nobody promotes or reaches into anything here
//        Little memory, or memory that peers may be reaching into now, or that a device may have
//        pinned: the parent copies what is in the file before the fork. The child, which has one
//        thread, finds its mappings of the file and puts the copies there. So it does not matter
//        what other threads of the parent unmap, move or divide while it forks
// Cost   A system call a mapping; or a copy of 16 MiB at most, some milliseconds. Nobody waits for
//        the child. The pages of a process that has left stay in the file until parent and child
//        have unmapped all of it, beside the copies of those that were written to
//
// Other threads of the parent may write during the fork: that may be in the child's memory or not,
// as with private memory. vfork(), posix_spawn(), system() and popen() run no handlers and need
// none: the child works in its parent's memory until it has another program. A child made by
// _Fork() or the system call clone() runs no handlers either, and shares promoted buffers with its
// parent until then: what it writes into one, its parent sees.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

// A copy of a part of the file lies behind a page that holds this. They belong to the fork under
// way, in the order of the parts; the thread that holds the service's lock uses them.
struct FileCopy {
  Range part;
  FileCopy* next;

  std::byte* data() { return reinterpret_cast<std::byte*>(this) + kPage; }
};
FileCopy* copies = nullptr;

// This is what the fork under way does with such memory.
enum class Forking : std::uint8_t { none, leaving, copying };
Forking way = Forking::none;

// Neither the parent nor the child can go on.
[[noreturn]] void give_up() {
  constexpr char kText[] =
      "sumac: error[fork-memory]: no memory for a child's copies of promoted buffers\n"
      "  fix:   SUMAC_PROMOTE=off\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(1);
}

// Calls act(mapping) for the mappings of the file. Returns false if the kernel cannot be asked.
template <typename Act>
bool for_mappings(const Service& service, Act&& act) {
  return service.maps.for_files(0, [&](const Mapping& mapping) {
    if (service.file.has(mapping)) act(mapping);
    return true;
  });
}

bool read_all(const MemoryFile& file, const Range& range, std::byte* to) {
  for (Range rest = range; !rest.empty();) {
    const ssize_t got = pread(file.fd(), to + (rest.begin - range.begin), rest.bytes(),
                              static_cast<off_t>(rest.begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    rest.begin += static_cast<std::size_t>(got);
  }
  return true;
}

// Copies what is not a hole. It reads the file, since the program may have forbidden to read the
// mapping.
bool copy_from_file(const MemoryFile& file, const Range& range, std::byte* to) {
  Range data{range.begin, range.begin};
  while (file.next_data(data.end, data.begin) && data.begin < range.end) {
    if (!file.next_hole(data.begin, data.end)) data.end = range.end;
    data.end = std::min(data.end, range.end);
    if (!read_all(file, data, to + (data.begin - range.begin))) return false;
  }
  return true;
}

// If the program has closed the file, a second mapping shows the data: mremap() makes one when the
// old size is 0. Returns true if there is nothing to copy because another thread has unmapped it.
bool copy_from_mapping(const Mapping& mapping, std::byte* to) {
  const std::size_t bytes = mapping.bytes();
  auto* const second = reinterpret_cast<void*>(
      syscall(SYS_mremap, pointer(mapping.begin), 0, bytes, MREMAP_MAYMOVE));
  if (second == MAP_FAILED) return errno != ENOMEM;
  const bool can_read = mprotect(second, bytes, PROT_READ) == 0;
  if (can_read) std::memcpy(to, second, bytes);
  munmap(second, bytes);
  return can_read;
}

// Returns room for a copy of the part, in its place among the copies, or null.
FileCopy* add_copy(const Range& part) {
  void* const memory =
      mmap(nullptr, kPage + part.bytes(), kReadWrite, kPrivate | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  static FileCopy* last = nullptr;
  FileCopy** place = copies && last->part.begin < part.begin ? &last->next : &copies;
  while (*place && (*place)->part.begin < part.begin) place = &(*place)->next;
  auto* const copy = new (memory) FileCopy{part, *place};
  *place = copy;
  if (!copy->next) last = copy;
  return copy;
}

// A part is of whole huge pages, so that a mapping whose first or last pages are holes, or were
// divided by holes, becomes one mapping again.
bool copy_file(const MemoryFile& file) {
  Range part;
  while (file.next_data(part.end, part.begin)) {
    part = {part.begin & ~(kHugePage - 1), round_up(part.begin + 1, kHugePage)};
    for (std::uintptr_t next = 0; file.next_data(part.end, next) && next < part.end + kHugePage;) {
      part.end = round_up(next + 1, kHugePage);
    }
    FileCopy* const copy = add_copy(part);
    if (!copy || !copy_from_file(file, part, copy->data())) return false;
  }
  return true;
}

bool make_copies(const Service& service) {
  if (service.file.is_own()) return copy_file(service.file);
  bool all = true;
  const bool known = for_mappings(service, [&](const Mapping& mapping) {
    FileCopy* const copy = add_copy({mapping.offset, mapping.offset + mapping.bytes()});
    all = all && copy && copy_from_mapping(mapping, copy->data());
  });
  return known && all;
}

bool has_much(Service& service) {
  const std::size_t most = service.settings.most_copied;
  if (service.file.used() <= most) return false;
  sweep(kAllSteps);  // the program may have freed most of it
  return service.file.used() > most;
}

// A page that a device has pinned must stay where it is.
bool may_leave(const Service& service) {
  return service.file.is_own() && service.in_use.load() == 0 && !open_descriptors().devices;
}

void prepare() {
  Service& own = service();
  pthread_mutex_lock(&own.lock);
  if (own.high.load() == 0 || own.closed.load() == Refusal::forked) return;
  // This frees a descriptor, in case that none is left to read the mappings.
  own.known.close();
  const bool much = has_much(own);
  // A thread that begins to show buffers to peers now sees that this is off, or is seen.
  const Refusal closed = own.closed.exchange(Refusal::forked);
  const bool leaves = much && may_leave(own);
  if (leaves) own.off.store(Refusal::forked);
  // Where that fails, for lack of mappings, what is still shared is copied.
  way = leaves && make_private(own) ? Forking::leaving : Forking::copying;
  if (way == Forking::copying && !make_copies(own)) give_up();
  if (!leaves) own.closed.store(closed);
}

void drop_copies() {
  while (FileCopy* const copy = copies) {
    copies = copy->next;
    munmap(copy, kPage + copy->part.bytes());
  }
}

void in_parent() {
  const int error = errno;  // the error of fork()
  drop_copies();
  Service& own = service();
  if (way == Forking::leaving) make_private(own);  // another thread may have moved some of it
  if (own.closed.load() == Refusal::forked) own.file.close();
  way = Forking::none;
  if (own.closed.load() == Refusal::none && !own.kernel.queries) own.known.open();
  pthread_mutex_unlock(&own.lock);
  errno = error;
}

// Puts copies in the place of a mapping of the file, and zeros where nothing was copied. Memory in
// its own place gets the pages of the copies; other mappings of the same part were filled before.
// The system calls are made directly, because nobody's hooks may run in the child.
bool take_copies(const Mapping& mapping, bool in_place) {
  const Range shown{mapping.offset, mapping.offset + mapping.bytes()};
  static FileCopy* near = nullptr;
  if (!near || near->part.begin > shown.begin) near = copies;
  while (near && near->part.end <= shown.begin) near = near->next;
  std::byte* const at = pointer(mapping.begin);
  const bool whole =
      in_place && near && near->part.begin <= shown.begin && shown.end <= near->part.end;
  bool all = whole || mmap(at, mapping.bytes(), kReadWrite, kPrivate | MAP_FIXED, -1, 0) == at;
  for (FileCopy* copy = near; copy && copy->part.begin < shown.end && all; copy = copy->next) {
    const Range part = shown.within(copy->part);
    std::byte* const from = copy->data() + (part.begin - copy->part.begin);
    std::byte* const to = at + (part.begin - shown.begin);
    if (!in_place) {
      std::memcpy(to, from, part.bytes());
    } else if (!part.empty()) {
      all = syscall(SYS_mremap, from, part.bytes(), part.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED,
                    to) >= 0;
    }
  }
  if (mapping.protection() != kReadWrite) mprotect(at, mapping.bytes(), mapping.protection());
  return all && !mapping.contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

bool take_copies(const Service& service) {
  bool all = true;
  for (const bool in_place : {false, true}) {
    const bool known = for_mappings(service, [&](const Mapping& mapping) {
      if (service.file.in_place(mapping) != in_place) return;
      all = all && take_copies(mapping, in_place);
    });
    all = all && known;
  }
  return all;
}

void in_child() {
  Service& own = service();
  new (&own.lock) pthread_mutex_t(PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP);
  own.maps.close();  // its descriptors are the parent's
  own.known.close();
  own.maps.open(own.kernel.queries);
  if (way == Forking::leaving) make_private(own);
  if (way == Forking::copying && !take_copies(own)) give_up();
  own.maps.close();
  drop_copies();
  way = Forking::none;
  own.file.close();
  own.closed.store(Refusal::forked);
  own.off.store(Refusal::forked);
}

}  // namespace

bool make_private(const Service& service) {
  bool all = true;
  const bool known = for_mappings(service, [&](const Mapping& mapping) {
    void* const at = pointer(mapping.begin);
    all &= mmap(at, mapping.bytes(), mapping.protection(), MAP_PRIVATE | MAP_FIXED,
                service.file.fd(), static_cast<off_t>(mapping.offset)) == at;
  });
  return known && all;
}

bool register_fork_handlers() { return pthread_atfork(prepare, in_parent, in_child) == 0; }

}  // namespace sumac::promotion
