// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/process_maps.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"

namespace sumac::promotion {
namespace {

// Takes a number at the beginning of the text, and moves the text behind it and the character that
// ends it.
std::uint64_t take_number(const char*& text, int base) {
  std::uint64_t value = 0;
  text = std::from_chars(text, text + std::strlen(text), value, base).ptr;
  if (*text) ++text;
  return value;
}

}  // namespace

MapsText::MapsText(const char* path) : fd_(::open(path, O_RDONLY | O_CLOEXEC)) {}

MapsText::~MapsText() {
  if (fd_ >= 0) ::close(fd_);
}

// Reads on, behind the text that is left. Returns false at the end of the file.
bool MapsText::fill() {
  held_ -= at_;
  std::memmove(text_, text_ + at_, held_);
  at_ = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_, text_ + held_, sizeof text_ - 1 - held_);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  held_ += static_cast<std::size_t>(got);
  return true;
}

// Returns the next line, without its end. If a line (with a path) does not fit, it returns its
// beginning.
const char* MapsText::line() {
  for (;;) {
    char* const begin = text_ + at_;
    auto* const end = static_cast<char*>(std::memchr(begin, '\n', held_ - at_));
    if (!end && held_ - at_ < sizeof text_ - 1) {
      if (fd_ < 0 || !fill()) return nullptr;
      continue;
    }
    const bool is_rest = of_long_line_;  // the beginning has been returned
    of_long_line_ = !end;
    at_ = end ? static_cast<std::size_t>(end + 1 - text_) : held_;
    *(end ? end : text_ + held_) = 0;
    if (!is_rest) return begin;
  }
}

// A line is such as "7f12..-7f13.. rw-p 00000000 00:00 0      [heap]".
bool MapsText::next(Mapping& mapping, char* name, std::size_t name_bytes) {
  const char* at = line();
  if (!at) return false;
  mapping.begin = take_number(at, 16);
  mapping.end = take_number(at, 16);
  if (std::strlen(at) < 5) return false;
  mapping.readable = at[0] == 'r';
  mapping.writable = at[1] == 'w';
  mapping.executable = at[2] == 'x';
  mapping.shared = at[3] == 's';
  at += 5;
  mapping.offset = take_number(at, 16);
  const auto major = static_cast<unsigned>(take_number(at, 16));
  mapping.device = makedev(major, static_cast<unsigned>(take_number(at, 16)));
  mapping.inode = take_number(at, 10);
  mapping.page_bytes = kPage;  // pages of huge page file systems are files' here
  while (*at == ' ') ++at;
  if (name) {
    const std::size_t length = std::min(std::strlen(at), name_bytes - 1);
    std::memcpy(name, at, length);
    name[length] = 0;
  }
  return true;
}

namespace {

bool begins(const char* line, const char* with) {
  return std::strncmp(line, with, std::strlen(with)) == 0;
}

// These are the flags of ordinary memory, so that a flag of a future kernel refuses. The list
// lacks, among others: dc (MADV_DONTFORK: pages that a device uses), wf (MADV_WIPEONFORK), dd
// (MADV_DONTDUMP: the core dump of a shared page would show it), mg (MADV_MERGEABLE), um uw ui
// (userfaultfd), lo lf (locked), io pf mm (devices), ht (huge page file system), gd (a stack that
// grows), sl (sealed: mremap would fail), mt (memory tags), ss (shadow stack), ex (executable).
bool is_ordinary(const char* flag) {
  constexpr const char kOrdinary[][3] = {"rd", "wr", "mr", "mw", "me", "ac",
                                         "nr", "sd", "hg", "nh", "sr", "rr"};
  for (const char* known : kOrdinary) {
    if (std::strncmp(flag, known, 2) == 0) return true;
  }
  return false;
}

// Judges flags such as "rd wr mr mw me ac".
void judge_flags(const char* flags, Described& mapping) {
  for (const char* at = flags; *at; at += *at == ' ' ? 1 : 2) {
    if (*at == ' ' || at[1] == 0) continue;
    mapping.forbids_huge_pages |= begins(at, "nh");
    mapping.wants_huge_pages |= begins(at, "hg");
    if (is_ordinary(at)) continue;
    if (begins(at, "gd")) {
      mapping.refusal = Refusal::stack;
    } else if (mapping.refusal != Refusal::stack) {
      mapping.refusal = begins(at, "lo") ? Refusal::locked : Refusal::special;
    }
  }
}

}  // namespace

// The flags come last.
bool MapsText::describe(Described& mapping) {
  mapping.refusal = Refusal::none;
  mapping.has_huge_pages = mapping.wants_huge_pages = mapping.forbids_huge_pages = false;
  bool has_key = false;
  while (const char* const at = line()) {
    if (begins(at, "ProtectionKey:")) has_key = std::atoi(at + 14) != 0;
    if (begins(at, "AnonHugePages:")) mapping.has_huge_pages = std::atol(at + 14) != 0;
    if (!begins(at, "VmFlags: ")) continue;
    judge_flags(at + 9, mapping);
    if (has_key && mapping.refusal == Refusal::none) mapping.refusal = Refusal::special;
    return true;
  }
  return false;
}

bool Described::next(MapsText& text) {
  const bool was_guard = !readable && !writable;
  const std::uintptr_t below = end;
  if (!text.next(*this, name, sizeof name) || !text.describe(*this)) return false;
  above_guard = was_guard && below == begin;
  return true;
}

namespace {

// This struct is as in <linux/fs.h> from Linux 6.11 on; older systems' headers lack it.
struct Query {
  std::uint64_t size, query_flags, query_addr;
  std::uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  std::uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  std::uint64_t vma_name_addr, build_id_addr;
};
static_assert(sizeof(Query) == 104);
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kExecutable = 4, kShared = 8;
}  // namespace

int Mapping::protection() const {
  return (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0);
}

bool ProcessMaps::can_query() {
  ProcessMaps maps;
  const bool can = maps.open(true);
  maps.close();
  return can;
}

bool ProcessMaps::open(bool by_query) {
  Mapping own;
  const auto here = reinterpret_cast<std::uintptr_t>(&own);
  if (by_query) file_ = identity_of(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  return by_query == this->by_query() && find(here, Search::covering, own);
}

void ProcessMaps::close() { close_own(file_); }

bool ProcessMaps::find(std::uintptr_t address, Search search, Mapping& mapping, char* name,
                       std::size_t name_bytes) const {
  const Answer answer = query(address, search, mapping, name, name_bytes);
  if (answer != Answer::unknown) return answer == Answer::found;
  MapsText text;
  while (text.next(mapping, name, name_bytes)) {
    if (mapping.end <= address) continue;
    if (search == Search::covering) return mapping.begin <= address;
    if (search == Search::next || mapping.inode != 0) return true;
  }
  return false;
}

ProcessMaps::Answer ProcessMaps::query(std::uintptr_t address, Search search, Mapping& mapping,
                                       char* name, std::size_t name_bytes) const {
  if (!by_query() || !is_still_open(file_)) return Answer::unknown;
  Query query = {};
  query.size = sizeof query;
  query.query_flags = static_cast<std::uint64_t>(search);
  query.query_addr = address;
  query.vma_name_size = static_cast<std::uint32_t>(name_bytes);
  query.vma_name_addr = reinterpret_cast<std::uintptr_t>(name);
  if (ioctl(file_.descriptor, kQuery, &query) != 0) {
    return errno == ENOENT ? Answer::none : Answer::unknown;
  }
  if (name && query.vma_name_size == 0) *name = 0;
  mapping.begin = query.vma_start;
  mapping.end = query.vma_end;
  mapping.offset = query.vma_offset;
  mapping.inode = query.inode;
  mapping.device = makedev(query.dev_major, query.dev_minor);
  mapping.page_bytes = query.vma_page_size;
  mapping.readable = query.vma_flags & kReadable;
  mapping.writable = query.vma_flags & kWritable;
  mapping.executable = query.vma_flags & kExecutable;
  mapping.shared = query.vma_flags & kShared;
  return Answer::found;
}

}  // namespace sumac::promotion
