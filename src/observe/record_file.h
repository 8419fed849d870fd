// SPDX-License-Identifier: BSD-3-Clause
// The file of lines that one rank writes while the program runs (docs/replay.md). What has been
// written stays readable if the process is killed: only the last lines may be missing, or the last
// one cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sumac {

class RecordFile {
 public:
  RecordFile() = default;
  ~RecordFile() { close(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Makes the file, which must not exist, for its owner alone. At most `limit` bytes are written.
  // Returns false, with the cause in errno, where it cannot be made.
  bool create(const std::string& path, std::uint64_t limit);
  bool is_open() const { return descriptor_ >= 0; }

  // Adds a line, without its end. Returns false where it does not fit any more, or where the file
  // cannot be written (problem()): the file then ends before it.
  bool add(std::string_view line);
  // Writes what is kept if that has been for some time; `now` is of clock_ns().
  void tick(std::uint64_t now) {
    if (now - flushed_ >= kPatience) flush(now);
  }
  // Adds a line for which room is always kept, and closes the file.
  void end(std::string_view last);
  void close();

  // The errno value of a write that failed, else 0.
  int problem() const { return problem_; }
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kKept = std::size_t{1} << 15;  // bytes not yet written, at most
  static constexpr std::uint64_t kPatience = 100'000'000;     // ns until they are
  static constexpr std::uint64_t kLastLine = 256;

  void flush(std::uint64_t now);

  int descriptor_ = -1, problem_ = 0;
  std::uint64_t left_ = 0;     // bytes that may still be added
  std::uint64_t whole_ = 0;    // bytes written up to the end of a line
  std::uint64_t flushed_ = 0;  // when
  std::string kept_, path_;
};

}  // namespace sumac
