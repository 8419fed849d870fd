// SPDX-License-Identifier: BSD-3-Clause
// A rank's file of a profile: FOLDER/rank-<rank>.profile. It grows while the program runs, so that
// what a killed rank leaves behind can be read.
//
// The file is a sequence of sections: four letters, the section's bytes as a 32-bit number, and
// these bytes. "text" has lines of JSON, which define the numbers that records use before they are
// used; "call" has records as they lie in memory. python/sumac_mpi/profile/files.py reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sumac {

inline constexpr int kProfileFormat = 1;

// One call, or one start of a persistent operation. Times in nanoseconds of CLOCK_MONOTONIC.
struct ProfiledCall {
  std::uint32_t kind;        // the number of what was called: function, data, place in the program
  std::uint32_t sequence;    // of the calls on the communicator, or of the starts of the operation
  std::uint64_t begin;       // when the program called
  std::uint64_t inside;      // how long: of a deferred call, the start
  std::uint64_t completing;  // how long in the calls by which a deferred one was completed
  std::uint64_t end;         // when the program knew of the end
};

// For one thread at a time.
class ProfileFile {
 public:
  ProfileFile() = default;
  ~ProfileFile() { close(); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  // Returns false, with the cause in errno, where the file cannot be made.
  bool open(const std::string& folder, int rank);
  bool is_open() const { return file_ >= 0; }

  // Adds a line of JSON, without its end.
  void add(std::string_view line);
  void add(const ProfiledCall& call);
  // Writes what has been added. A section is written whole or cut off at the end of the file;
  // returns false, with the cause in errno and the file closed, where not all could be written.
  bool flush();
  // True when enough has been added, or enough time has passed, to write it.
  bool is_due(std::uint64_t now_ns) const;
  void close();

 private:
  int file_ = -1;
  std::string text_;
  std::vector<ProfiledCall> calls_;
  std::uint64_t written_ns_ = 0;
};

}  // namespace sumac
