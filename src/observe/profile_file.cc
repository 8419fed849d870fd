// SPDX-License-Identifier: BSD-3-Clause
#include "observe/profile_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

constexpr std::size_t kMostCalls = 2048;      // kept in memory
constexpr std::size_t kMostText = 64 * 1024;  // bytes
constexpr std::uint64_t kMostTime = 1'000'000'000;

struct Section {
  char name[4];
  std::uint32_t bytes;
};

bool write_section(int file, const char* name, const void* data, std::size_t bytes) {
  if (bytes == 0) return true;
  Section head{};
  std::memcpy(head.name, name, sizeof head.name);
  head.bytes = static_cast<std::uint32_t>(bytes);
  return write_all(file, &head, sizeof head) && write_all(file, data, bytes);
}

}  // namespace

bool ProfileFile::open(const std::string& folder, int rank) {
  file_ = make_own_file(folder, "rank-" + std::to_string(rank) + ".profile");
  written_ns_ = clock_ns();
  return is_open();
}

void ProfileFile::add(std::string_view line) {
  if (!is_open()) return;
  text_.append(line).push_back('\n');
}

void ProfileFile::add(const ProfiledCall& call) {
  if (is_open()) calls_.push_back(call);
}

bool ProfileFile::is_due(std::uint64_t now_ns) const {
  if (!is_open()) return false;
  return calls_.size() >= kMostCalls || text_.size() >= kMostText ||
         now_ns >= written_ns_ + kMostTime;
}

bool ProfileFile::flush() {
  if (!is_open()) return true;
  const bool written =
      write_section(file_, "text", text_.data(), text_.size()) &&
      write_section(file_, "call", calls_.data(), calls_.size() * sizeof(ProfiledCall));
  text_.clear();
  calls_.clear();
  written_ns_ = clock_ns();
  if (written) return true;
  const int error = errno;
  close();
  errno = error;
  return false;
}

void ProfileFile::close() {
  if (is_open()) ::close(file_);
  file_ = -1;
}

}  // namespace sumac
