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
//        what other threads of the parent unmap, move, divide or give back while it forks
// Cost   A system call a mapping; or a copy of 16 MiB at most, some milliseconds. Nobody waits for
//        the child. The pages of a process that has left stay in the file until parent and child
//        have unmapped all of it, beside the copies of those that were written to
//
// Other threads of the parent may write during the fork: that may be in the child's memory or not,
// as with private memory. vfork(), posix_spawn(), system() and popen() run no handlers and need
// none: the child works in its parent's memory until it has another program. A child made by
// _Fork() or the system call clone() runs no handlers either, and shares promoted buffers with its
// parent until then: what it writes into one, its parent sees.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

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
  return service.kernel->for_files(0, [&](const Mapping& mapping) {
    if (service.kernel->has(mapping)) act(mapping);
    return true;
  });
}

// Copies the part by read(to), unless no more copies can be noted, or have room.
template <typename Read>
bool add_copy(Service& service, const Range& part, Read&& read) {
  Forking& forking = *service.forking;
  if (forking.count == std::size(forking.copies)) return false;
  const std::uintptr_t to = service.kernel->map_anywhere(part.bytes(), kReadWrite);
  if (to == 0) return false;
  forking.copies[forking.count++] = {part, to};
  // Mappings that were moved are not in the order of the parts.
  for (std::size_t i = forking.count - 1; i > 0; --i) {
    if (forking.copies[i - 1].part.begin <= forking.copies[i].part.begin) break;
    std::swap(forking.copies[i - 1], forking.copies[i]);
  }
  return read(to);
}

// A part is of whole huge pages, so that a mapping whose first or last pages are holes, or were
// divided by holes, becomes one mapping again. The last one that can be noted takes all the rest.
bool copy_file(Service& service) {
  AddressSpace& kernel = *service.kernel;
  const Forking& forking = *service.forking;
  for (Range part; kernel.next_data(part.end, part.begin);) {
    const bool is_last = forking.count + 1 == std::size(forking.copies);
    part = {part.begin & ~(kHugePage - 1), round_up(part.begin + 1, kHugePage)};
    for (std::uintptr_t next = 0;
         kernel.next_data(part.end, next) && (is_last || next < part.end + kHugePage);) {
      part.end = round_up(next + 1, kHugePage);
    }
    if (!add_copy(service, part, [&](std::uintptr_t to) { return kernel.read(part, to); })) {
      return false;
    }
  }
  return true;
}

// Another thread has unmapped a mapping that cannot be read although there is memory.
bool make_copies(Service& service) {
  if (service.kernel->file_is_own()) return copy_file(service);
  bool all = true;
  const bool known = for_mappings(service, [&](const Mapping& mapping) {
    const Range part{mapping.offset, mapping.offset + mapping.bytes()};
    all = all && add_copy(service, part, [&](std::uintptr_t to) {
            return service.kernel->read(mapping, to) || errno != ENOMEM;
          });
  });
  return known && all;
}

bool has_much(Service& service) {
  const std::size_t most = service.settings.most_copied;
  if (service.kernel->used() <= most) return false;
  sweep(kAllSteps);  // the program may have freed most of it
  return service.kernel->used() > most;
}

// A page that a device has pinned must stay where it is.
bool may_leave(const Service& service) {
  return service.kernel->file_is_own() && service.in_use.load() == 0 &&
         !service.kernel->open_descriptors().devices;
}

void drop_copies(Service& service) {
  Forking& forking = *service.forking;
  for (const FileCopy& copy : forking.made()) service.kernel->unmap(copy.memory());
  forking.count = 0;
  forking.way = Forking::Way::none;
}

// Puts copies in the place of a mapping of the file, and zeros where nothing was copied. Memory in
// its own place gets the pages of the copies; other mappings of the same part were filled before.
bool take_copies(Service& service, const Mapping& mapping, bool in_place) {
  AddressSpace& kernel = *service.kernel;
  const Range shown{mapping.offset, mapping.offset + mapping.bytes()};
  const std::span<FileCopy> copies = service.forking->made();
  const auto end = copies.end();
  auto copy = std::ranges::upper_bound(copies, shown.begin, {},
                                       [](const FileCopy& one) { return one.part.end; });
  const bool whole =
      in_place && copy != end && copy->part.begin <= shown.begin && shown.end <= copy->part.end;
  bool all = whole || kernel.map(mapping, {kReadWrite});
  for (; copy != end && copy->part.begin < shown.end && all; ++copy) {
    const Range part = shown.within(copy->part);
    const std::uintptr_t from = copy->at + (part.begin - copy->part.begin);
    const std::uintptr_t to = mapping.begin + (part.begin - shown.begin);
    if (in_place) {
      all = kernel.move({from, from + part.bytes()}, to);
    } else {
      kernel.copy({from, from + part.bytes()}, to);
    }
  }
  if (mapping.protection() != kReadWrite) kernel.protect(mapping, mapping.protection());
  return all && !mapping.contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

bool take_copies(Service& service) {
  bool all = true;
  for (const ChangingRange& released : service.forking->released) {
    if (released.get().empty()) continue;
    for (const FileCopy& copy : service.forking->made()) {
      const Range part = released.get().within(copy.part);
      const std::uintptr_t at = copy.at + (part.begin - copy.part.begin);
      if (!part.empty()) service.kernel->advise({at, at + part.bytes()}, MADV_DONTNEED);
    }
  }
  for (const bool in_place : {false, true}) {
    const bool known = for_mappings(service, [&](const Mapping& mapping) {
      if (service.kernel->in_place(mapping) != in_place) return;
      all = all && take_copies(service, mapping, in_place);
    });
    all = all && known;
  }
  return all;
}

// Turns all mappings of the file into private ones of the same pages, with the same protection, and
// looks again: another thread may have moved one to where it had looked. Returns false if the
// kernel refuses one.
bool make_private(const Service& service) {
  bool all = true, any = true;
  while (all && std::exchange(any, false)) {
    const bool known = for_mappings(service, [&](const Mapping& mapping) {
      any = true;
      all &= service.kernel->map(
          mapping, {mapping.protection(), Contents::Source::file_privately, mapping.offset});
    });
    all = all && known;
  }
  return all;
}

}  // namespace

void before_fork() {
  Service& own = service();
  own.lock.lock();
  if (own.high.load() == 0 || own.closed.load() == Refusal::forked) return;
  own.kernel->at_fork(AddressSpace::Fork::before);
  if (own.forking->releases.exchange(0) > 0) {
    for (ChangingRange& released : own.forking->released) released.set({});
  }
  const bool much = has_much(own);
  // A thread that begins to show buffers to peers now sees that this is off, or is seen.
  const Refusal closed = own.closed.exchange(Refusal::forked);
  const bool leaves = much && may_leave(own);
  if (leaves) own.off.store(Refusal::forked);
  // Where that fails, for lack of mappings, what is still shared is copied.
  own.forking->way = leaves && make_private(own) ? Forking::Way::leaving : Forking::Way::copying;
  if (own.forking->way == Forking::Way::copying && !make_copies(own)) give_up();
  if (!leaves) own.closed.store(closed);
}

void after_fork_in_parent() {
  const int error = errno;  // the error of fork()
  Service& own = service();
  // Another thread may have moved some of it twice.
  if (own.forking->way == Forking::Way::leaving) make_private(own);
  if (own.closed.load() == Refusal::forked) {
    own.kernel->close_file();
  } else if (own.forking->way != Forking::Way::none) {
    own.kernel->at_fork(AddressSpace::Fork::in_parent);
  }
  drop_copies(own);
  own.lock.unlock();
  errno = error;
}

void after_fork_in_child() {
  Service& own = service();
  new (&own.lock) std::recursive_mutex;
  if (own.forking->way != Forking::Way::none) own.kernel->at_fork(AddressSpace::Fork::in_child);
  if (own.forking->way == Forking::Way::leaving) make_private(own);
  if (own.forking->way == Forking::Way::copying && !take_copies(own)) give_up();
  drop_copies(own);
  own.kernel->at_fork(AddressSpace::Fork::child_is_ready);
  own.closed.store(Refusal::forked);
  own.off.store(Refusal::forked);
}

}  // namespace sumac::promotion
