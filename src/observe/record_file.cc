// SPDX-License-Identifier: BSD-3-Clause
#include "observe/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "observe/rank_file.h"

namespace sumac {

bool RecordFile::create(const std::string& path, std::uint64_t limit) {
  descriptor_ = make_own_file(AT_FDCWD, path);
  if (descriptor_ < 0) return false;
  path_ = path;
  left_ = limit;
  flushed_ = clock_ns();
  return true;
}

bool RecordFile::add(std::string_view line) {
  if (!is_open() || problem_ != 0) return false;
  if (line.size() + 1 + kLastLine > left_) {
    left_ = kLastLine;  // shorter lines that follow may refer to this one
    return false;
  }
  left_ -= line.size() + 1;
  kept_.append(line);
  kept_ += '\n';
  if (kept_.size() >= kKept) flush(clock_ns());
  return problem_ == 0;
}

void RecordFile::flush(std::uint64_t now) {
  flushed_ = now;
  const std::size_t done =
      problem_ == 0 ? write_what_fits(descriptor_, kept_.data(), kept_.size()) : 0;
  if (problem_ == 0 && done < kept_.size()) problem_ = errno;
  const std::size_t lines = kept_.rfind('\n', done ? done - 1 : 0);
  if (problem_ == 0) {
    whole_ += done;
  } else if (done > 0 && lines != kept_.npos) {
    whole_ += lines + 1;
  }
  // A line that was cut off would be taken for the rest of a killed rank.
  if (problem_ != 0 && ftruncate(descriptor_, static_cast<off_t>(whole_)) != 0) kept_.clear();
  kept_.clear();
}

void RecordFile::end(std::string_view last) {
  if (!is_open()) return;
  left_ += kLastLine;
  add(last.substr(0, kLastLine - 1));
  close();
}

void RecordFile::close() {
  if (!is_open()) return;
  if (problem_ == 0) flush(clock_ns());
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace sumac
