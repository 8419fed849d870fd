// SPDX-License-Identifier: BSD-3-Clause
// Records when each level of a hierarchy worked on each chunk, while the program runs; written at
// the end as one file a rank (recording_file.h), which 'sumac trace' draws and makes into Chrome's
// trace events.
//
// Turned off, it costs a load and a branch. Turned on, recording takes no lock and allocates no
// memory: there are two buffers of fixed size, of which each event takes the next place. Events
// that no longer fit are counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac::trace {

extern std::atomic<bool> recording;
inline bool on() { return recording.load(std::memory_order_relaxed); }

// Begins to record. write() puts its file into `folder`, which must exist. Warns, and records
// nothing, where that cannot work.
inline constexpr std::size_t kEvents = std::size_t{1} << 18;
void start(const char* folder, std::size_t events = kEvents);

// Nanoseconds since 1970 that never go back, so that clocks of several hosts can be lined up.
std::uint64_t now_ns();

// The work of a level: "numa", "up", "split_slots". Level and stage are copied, at most kName - 1
// characters; the algorithm's name must stay until the end of the process.
inline constexpr std::size_t kName = 16;
struct Where {
  const char* level;
  const char* stage;
  const char* algorithm;
};

// Records one piece of it, on a chunk of an operation. The time that the level waited before is not
// part of the piece, else levels would always seem to work at once.
void record(const Where& where, std::uint64_t operation, std::uint64_t chunk,
            std::uint64_t begin_ns, std::uint64_t end_ns);

// Records an operation as a whole. `group` (the communicator) and `call` (the number of operations
// before this one on it) identify it and are the same on all its ranks. Returns its number in this
// process.
std::uint64_t begin_operation(const char* name, std::uint64_t bytes, std::uint64_t group,
                              std::uint64_t call);
void end_operation();

// The number of the operation that this thread began last.
std::uint64_t current_operation();

// Writes FOLDER/rank-<rank>.trace and stops recording. Returns false, with the cause in errno,
// where the file could not be made, for example because it exists.
bool write(int rank, int size);

// An operation under way while this object lives, recorded where recording is on.
class Operation {
 public:
  Operation(const char* name, std::uint64_t bytes, std::uint64_t group, std::uint64_t& calls)
      : active_(on()) {
    if (active_) [[unlikely]]
      begin_operation(name, bytes, group, calls++);
  }
  ~Operation() {
    if (active_) [[unlikely]]
      end_operation();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  const bool active_;
};

}  // namespace sumac::trace
