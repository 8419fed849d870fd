// SPDX-License-Identifier: BSD-3-Clause
#include "observe/recording_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/cpu.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kMostRecords = 80 * 1024, kMostText = 64 * 1024;  // bytes kept in memory
constexpr std::uint64_t kMostTime = 1'000'000'000;

const char* name_of(Recording what) { return what == Recording::profile ? "profile" : "trace"; }

struct Section {
  char name[4];
  std::uint32_t bytes;
};

bool write_section(int file, const char* name, const std::string& data) {
  if (data.empty()) return true;
  Section head{};
  std::memcpy(head.name, name, sizeof head.name);
  head.bytes = static_cast<std::uint32_t>(data.size());
  return write_all(file, &head, sizeof head) && write_all(file, data.data(), data.size());
}

}  // namespace

bool RecordingFile::open(const std::string& folder, Recording what, int rank) {
  file_ = make_own_file(folder, recording_name(what, rank));
  written_ns_ = clock_ns();
  return is_open();
}

void RecordingFile::add(std::string_view line) {
  if (!is_open()) return;
  text_.append(line).push_back('\n');
}

void RecordingFile::append(const char* section, const void* record, std::size_t bytes) {
  if (!is_open()) return;
  std::size_t i = 0;
  while (i < records_.size() && records_[i].section != section) ++i;
  if (i == records_.size()) records_.push_back({section, {}});
  records_[i].bytes.append(static_cast<const char*>(record), bytes);
  bytes_ += bytes;
}

bool RecordingFile::is_full() const { return bytes_ >= kMostRecords || text_.size() >= kMostText; }

bool RecordingFile::is_late(std::uint64_t now_ns) const {
  return now_ns >= written_ns_ + kMostTime;
}

bool RecordingFile::flush() {
  if (!is_open()) return true;
  bool written = write_section(file_, "text", text_);
  for (Records& records : records_) {
    written = written && write_section(file_, records.section, records.bytes);
    records.bytes.clear();
  }
  text_.clear();
  bytes_ = 0;
  written_ns_ = clock_ns();
  if (written) return true;
  const int error = errno;
  close();
  errno = error;
  return false;
}

void RecordingFile::close() {
  if (is_open()) ::close(file_);
  file_ = -1;
}

std::string recording_name(Recording what, int rank) {
  return "rank-" + std::to_string(rank) + "." + name_of(what);
}

JsonLine recording_head(Recording what, int rank, int ranks) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  JsonLine line("sumac_recording", kFormat);
  line.add("of", name_of(what));
  line.add("rank", rank);
  line.add("ranks", ranks);
  line.add("host", host);
  return line;
}

}  // namespace sumac
