// SPDX-License-Identifier: BSD-3-Clause
// Each rank writes one file of a recording. FOLDER/rank-<rank>.profile holds the calls of any
// program, as the program made them; rank-<rank>.trace holds what the levels of a hierarchy did in
// a program that Sumac serves.
//
// The file is a sequence of sections: four letters, the section's bytes as a 32-bit number, and
// these bytes. "text" has lines of JSON: first the head, then what defines the numbers that records
// use, before they are used. Other sections have records of one kind as they lie in memory, and are
// named after them. A profile's file grows while the program runs, so that what a killed rank
// leaves behind can be read. python/sumac_mpi/base/recording.py reads both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/rank_file.h"

namespace sumac {

enum class Recording : std::uint8_t { profile, trace };

// A record is one call, or one start of a persistent operation. Times are nanoseconds of
// CLOCK_MONOTONIC.
struct ProfiledCall {
  static constexpr char kSection[] = "call";

  std::uint32_t kind;        // number of the kind of call: function, data, place in the program
  std::uint32_t sequence;    // counts the communicator's calls, or the operation's starts
  std::uint64_t begin;       // when the program called
  std::uint64_t inside;      // duration of the call; if deferred, of its start
  std::uint64_t completing;  // time in the calls that completed a deferred one
  std::uint64_t end;         // when the program learned of the end
};

// A record is one operation as this rank made it. Times are nanoseconds since 1970.
struct TracedOperation {
  static constexpr char kSection[] = "oper";

  std::uint32_t name, unused;   // name: number of the collective's name
  std::uint64_t number, bytes;  // number: counts this process's operations
  // `group` is the communicator, and `call` the number of operations before on it.
  std::uint64_t group, call;
  std::uint64_t begin, end;
};

// A record is the work of one level on one chunk of an operation.
struct TracedPiece {
  static constexpr char kSection[] = "piec";

  std::uint32_t lane, unused;  // lane: number of the level, the stage and its algorithm
  std::uint64_t operation, chunk, begin, end;
};

// Only one thread at a time may use a RecordingFile.
class RecordingFile {
 public:
  RecordingFile() = default;
  ~RecordingFile() { close(); }
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  // Returns false, with the cause in errno, if the file cannot be made.
  bool open(const std::string& folder, Recording what, int rank);
  bool is_open() const { return file_ >= 0; }

  // Adds a line of JSON, given without its end.
  void add(std::string_view line);
  void add(const ProfiledCall& call) { append(call.kSection, &call, sizeof call); }
  void add(const TracedOperation& operation) {
    append(operation.kSection, &operation, sizeof operation);
  }
  void add(const TracedPiece& piece) { append(piece.kSection, &piece, sizeof piece); }
  // Writes what has been added. A section is written whole, or cut off at the end of the file.
  // Returns false, with the cause in errno and the file closed, if not everything could be written.
  bool flush();
  // is_full() returns true when so much has been added that it should be written; is_due() also
  // when enough time has passed.
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
  std::vector<Records> records_;  // one entry for each section
  std::size_t bytes_ = 0;         // bytes of all records together
  std::uint64_t written_ns_ = 0;
};

// Returns the name of a rank's file in its folder.
std::string recording_name(Recording what, int rank);

// Returns the head of a recording's file: which recording it is, whose, and on which host.
JsonLine recording_head(Recording what, int rank, int ranks);

}  // namespace sumac
