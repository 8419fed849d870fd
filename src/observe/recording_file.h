// SPDX-License-Identifier: BSD-3-Clause
// A rank's file of a recording: FOLDER/rank-<rank>.profile of any program, with its calls as the
// program made them; or .trace of one that Sumac serves, with what the levels of a hierarchy did.
//
// The file is a sequence of sections: four letters, the section's bytes as a 32-bit number, and
// these bytes. "text" has lines of JSON: first the head, then what defines the numbers that records
// use, before they are used. Other sections have records of one kind as they lie in memory, and are
// named after them. A profile's file grows while the program runs, so that what a killed rank
// leaves behind can be read. python/sumac_mpi/recording/files.py reads both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/json_line.h"

namespace sumac {

enum class Recording : std::uint8_t { profile, trace };

// One call, or one start of a persistent operation. Times in nanoseconds of CLOCK_MONOTONIC.
struct ProfiledCall {
  static constexpr char kSection[] = "call";

  std::uint32_t kind;        // the number of what was called: function, data, place in the program
  std::uint32_t sequence;    // of the calls on the communicator, or of the starts of the operation
  std::uint64_t begin;       // when the program called
  std::uint64_t inside;      // how long: of a deferred call, the start
  std::uint64_t completing;  // how long in the calls by which a deferred one was completed
  std::uint64_t end;         // when the program knew of the end
};

// One operation as this rank made it. Times in nanoseconds since 1970.
struct TracedOperation {
  static constexpr char kSection[] = "oper";

  std::uint32_t name, unused;   // the number of the collective's name
  std::uint64_t number, bytes;  // the operation's number in this process
  std::uint64_t group, call;    // the communicator, and the number of operations before on it
  std::uint64_t begin, end;
};

// The work of one level on one chunk of an operation.
struct TracedPiece {
  static constexpr char kSection[] = "piec";

  std::uint32_t lane, unused;  // the number of the level, the stage and its algorithm
  std::uint64_t operation, chunk, begin, end;
};

// For one thread at a time.
class RecordingFile {
 public:
  RecordingFile() = default;
  ~RecordingFile() { close(); }
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  // Returns false, with the cause in errno, where the file cannot be made.
  bool open(const std::string& folder, Recording what, int rank);
  bool is_open() const { return file_ >= 0; }

  // Adds a line of JSON, without its end.
  void add(std::string_view line);
  void add(const ProfiledCall& call) { append(call.kSection, &call, sizeof call); }
  void add(const TracedOperation& operation) {
    append(operation.kSection, &operation, sizeof operation);
  }
  void add(const TracedPiece& piece) { append(piece.kSection, &piece, sizeof piece); }
  // Writes what has been added. A section is written whole or cut off at the end of the file;
  // returns false, with the cause in errno and the file closed, where not all could be written.
  bool flush();
  // True when so much has been added that it should be written; or when enough time has passed.
  bool is_full() const;
  bool is_due(std::uint64_t now_ns) const { return is_open() && (is_full() || is_late(now_ns)); }
  void close();

 private:
  struct Records {
    const char* section;
    std::string bytes;
  };
  void append(const char* section, const void* record, std::size_t bytes);
  bool is_late(std::uint64_t now_ns) const;

  int file_ = -1;
  std::string text_;
  std::vector<Records> records_;  // by section
  std::size_t bytes_ = 0;         // of all of them
  std::uint64_t written_ns_ = 0;
};

// The file's name in its folder.
std::string recording_name(Recording what, int rank);

// What the head of either has: of what it is, whose, and on which host.
JsonLine recording_head(Recording what, int rank, int ranks);

}  // namespace sumac
