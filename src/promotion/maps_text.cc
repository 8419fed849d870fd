// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/maps_text.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sumac::promotion {
namespace {

// Takes a number at the beginning of the text, and moves the text behind it and the character that
// ends it.
std::uint64_t take_number(const char*& text, unsigned base) {
  std::uint64_t value = 0;
  for (;; ++text) {
    const char c = *text;
    unsigned digit = base;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (digit >= base) break;
    value = value * base + digit;
  }
  if (*text) ++text;
  return value;
}

}  // namespace

MapsText::MapsText() : fd_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

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

}  // namespace sumac::promotion
