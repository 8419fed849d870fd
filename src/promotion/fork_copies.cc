// SPDX-License-Identifier: BSD-3-Clause
// fork() gives the child a copy of its parent's private memory, also of what has been promoted.
//
// Idea: a handler in the child replaces each mapping of the file by private memory, and reads the
// data from the file. The parent, in its handler, waits until this is done, so that what it writes
// after fork() does not get into the copies. Other threads of the parent write on, as they do
// during an ordinary fork: what they write before it returns may be in the copies or not. Cost:
// fork() takes as long as it takes to copy the promoted memory. The parent waits for a byte in a
// pipe, or for its end when the child has died.
//
// vfork(), posix_spawn(), system() and popen() run no handlers and need none: the child works in
// its parent's memory until it has another program. A child made by _Fork() or the system call
// clone() runs no handlers either, and shares promoted buffers with its parent until then: what it
// writes into one, its parent sees.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

// These variables belong to the fork under way. The thread that holds the service's lock uses them.
int ends[2] = {-1, -1};
bool waits = false;
// The counter is shared with the children and counts those that are ready. It serves if no
// descriptor is left.
std::atomic<std::uint32_t>* ready = nullptr;
std::uint32_t ready_before = 0;

bool anything_promoted(const Service& service) { return service.high.load() != 0; }

void prepare() {
  Service& own = service();
  pthread_mutex_lock(&own.lock);
  waits = anything_promoted(own) && own.closed.load() != Refusal::forked;
  if (!waits) return;
  ready_before = ready->load();
  if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
}

void close_end(int which) {
  if (ends[which] >= 0) close(ends[which]);
  ends[which] = -1;
}

// Without a pipe nobody tells that the child has died, or that there is none, so the parent goes on
// after some seconds.
void wait_for_count() {
  for (int i = 0; i < 5000 && ready->load() == ready_before; ++i) {
    const timespec millisecond = {0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
}

void in_parent() {
  const int error = errno;  // the error of fork()
  if (waits && ends[0] < 0) wait_for_count();
  if (waits && ends[0] >= 0) {
    close_end(1);
    char byte = 0;
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    close_end(0);
  }
  pthread_mutex_unlock(&service().lock);
  errno = error;
}

// The child cannot run on pages that it shares with its parent.
[[noreturn]] void give_up() {
  constexpr char kText[] =
      "sumac: error[fork-memory]: no memory for a child's copies of promoted buffers\n"
      "  fix:   SUMAC_PROMOTE=off\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(1);
}

void copy_all(const Service& service) {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  service.maps.for_files(0, [&](const Mapping& mapping) {
    if (!service.file.has(mapping)) return true;
    if (mapping.contains(stack) || !make_private(service.file, mapping, mapping)) give_up();
    return true;
  });
}

void in_child() {
  Service& own = service();
  new (&own.lock) pthread_mutex_t(PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP);
  own.maps.close();  // its descriptors are the parent's
  own.known.close();
  if (waits) {
    if (!own.maps.open(own.kernel.queries)) give_up();
    copy_all(own);
    own.maps.close();
    ready->fetch_add(1);
    [[maybe_unused]] const ssize_t written = write(ends[1], "", 1);
    close_end(0);
    close_end(1);
  }
  own.file.close();
  own.closed.store(Refusal::forked);
  own.off.store(Refusal::forked);
}

bool read_all(const MemoryFile& file, const Range& range, std::byte* to) {
  for (Range rest = range; !rest.empty();) {
    // This makes the system call itself, because nobody's hooks may run in the child.
    const long got = syscall(SYS_pread64, file.fd(), to + (rest.begin - range.begin), rest.bytes(),
                             static_cast<off_t>(rest.begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    rest.begin += static_cast<std::size_t>(got);
  }
  return true;
}

// Copies what is not a hole.
bool copy_from_file(const MemoryFile& file, const Range& range, std::byte* to) {
  Range data{range.begin, range.begin};
  while (file.next_data(data.end, data.begin) && data.begin < range.end) {
    if (!file.next_hole(data.begin, data.end)) data.end = range.end;
    data.end = std::min(data.end, range.end);
    if (!read_all(file, data, to + (data.begin - range.begin))) return false;
  }
  return true;
}

}  // namespace

bool make_private(const MemoryFile& file, const Mapping& mapping, const Range& part) {
  std::byte* const at = pointer(part.begin);
  const std::size_t bytes = part.bytes();
  // If the program has closed the file, a second mapping holds the data: mremap() makes one when
  // the old size is 0.
  void* second = nullptr;
  if (!file.is_own()) {
    second = reinterpret_cast<void*>(syscall(SYS_mremap, at, 0, bytes, MREMAP_MAYMOVE));
    if (second == MAP_FAILED || mprotect(second, bytes, PROT_READ) != 0) return false;
  }
  // There is no gap at any time: the new mapping replaces the old one.
  constexpr int kReadWrite = PROT_READ | PROT_WRITE, kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  if (mmap(at, bytes, kReadWrite, kAnonymous | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  const std::uintptr_t offset = mapping.offset_of(part.begin);
  if (second) {
    std::memcpy(at, second, bytes);
    munmap(second, bytes);
  } else if (!copy_from_file(file, {offset, offset + bytes}, at)) {
    return false;
  }
  return mapping.protection() == kReadWrite || mprotect(at, bytes, mapping.protection()) == 0;
}

bool register_fork_handlers() {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  ready = new (page) std::atomic<std::uint32_t>(0);
  return pthread_atfork(prepare, in_parent, in_child) == 0;
}

}  // namespace sumac::promotion
