// SPDX-License-Identifier: BSD-3-Clause
// fork() gives the child a copy of its parent's private memory, also of what others can map.
//
// Idea   Much memory: the process leaves direct memory. Before the fork each mapping of the file
//        becomes a private one of the same pages, in one step that other threads do not notice.
//        From then on the kernel copies a page when the parent or the child writes to it, as it
//        does with all private memory, and nobody promotes or reaches into anything here
//        Little memory, or memory that peers may be reaching into now, or that a device may have
//        pinned: the parent makes a copy before the fork, which the child then moves over its
//        mappings
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

#include <cerrno>
#include <cstring>
#include <new>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

// A mapping of the file, and where its copy is. A child replaces the one by the other.
struct PartCopy {
  Range range;
  std::byte* copy;
  int protection;
};

// The copies belong to the fork under way. The thread that holds the service's lock uses them. All
// lie in one mapping, behind the table of them.
struct ForkCopies {
  PartCopy* table = nullptr;
  std::size_t count = 0, bytes = 0;
};
ForkCopies copies;

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
// old size is 0.
bool copy_from_mapping(const Mapping& mapping, std::byte* to) {
  const std::size_t bytes = mapping.bytes();
  auto* const second = reinterpret_cast<void*>(
      syscall(SYS_mremap, pointer(mapping.begin), 0, bytes, MREMAP_MAYMOVE));
  if (second == MAP_FAILED) return false;
  const bool can_read = mprotect(second, bytes, PROT_READ) == 0;
  if (can_read) std::memcpy(to, second, bytes);
  munmap(second, bytes);
  return can_read;
}

bool copy(const MemoryFile& file, const Mapping& mapping, std::byte* to) {
  if (!file.is_own()) return copy_from_mapping(mapping, to);
  return copy_from_file(file, {mapping.offset, mapping.offset + mapping.bytes()}, to);
}

bool make_copies(const Service& service) {
  std::size_t count = 0, bytes = 0;
  const bool known = for_mappings(service, [&](const Mapping& mapping) {
    ++count;
    bytes += mapping.bytes();
  });
  const std::size_t of_table = round_up(count * sizeof(PartCopy), kPage);
  if (!known || count == 0) return known;
  void* const memory = mmap(nullptr, of_table + bytes, kReadWrite,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  copies = {static_cast<PartCopy*>(memory), 0, of_table + bytes};
  std::byte* to = static_cast<std::byte*>(memory) + of_table;
  bool all = true;
  const bool found = for_mappings(service, [&](const Mapping& mapping) {
    all = all && copies.count < count && copy(service.file, mapping, to);
    if (!all) return;
    new (&copies.table[copies.count++]) PartCopy{mapping, to, mapping.protection()};
    to += mapping.bytes();
  });
  return found && all;
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
  if (much && may_leave(own)) {
    own.off.store(Refusal::forked);
    // Where that fails, for lack of mappings, what is still shared is copied.
    if (!make_private(own) && !make_copies(own)) give_up();
    own.file.close();
    return;
  }
  if (!make_copies(own)) give_up();
  own.closed.store(closed);
}

void in_parent() {
  const int error = errno;  // the error of fork()
  if (copies.table) munmap(copies.table, copies.bytes);
  copies = {};
  Service& own = service();
  if (own.closed.load() == Refusal::none && !own.kernel.queries) own.known.open();
  pthread_mutex_unlock(&own.lock);
  errno = error;
}

// The system calls are made directly, because nobody's hooks may run in the child.
void take_copies() {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (std::size_t i = 0; i < copies.count; ++i) {
    const PartCopy& each = copies.table[i];
    std::byte* const at = pointer(each.range.begin);
    const std::size_t bytes = each.range.bytes();
    if (each.range.contains(stack) ||
        syscall(SYS_mremap, each.copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) < 0) {
      give_up();
    }
    if (each.protection != kReadWrite) mprotect(at, bytes, each.protection);
  }
}

void in_child() {
  Service& own = service();
  new (&own.lock) pthread_mutex_t(PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP);
  own.maps.close();  // its descriptors are the parent's
  own.known.close();
  take_copies();
  if (copies.table) munmap(copies.table, round_up(copies.count * sizeof(PartCopy), kPage));
  copies = {};
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
