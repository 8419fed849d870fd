// SPDX-License-Identifier: BSD-3-Clause
// A trace records when each level of a hierarchy worked on each chunk, while the program runs. At
// the end each rank writes one file (recording_file.h), which 'sumac trace' draws and turns into
// Chrome's trace events.
//
// When it is off, it costs a load and a branch. When it is on, recording takes no lock and
// allocates no memory: there are two buffers of fixed size, and each event takes the next place in
// one of them. Events that no longer fit are only counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac::trace {

extern std::atomic<bool> recording;
inline bool on() { return recording.load(std::memory_order_relaxed); }

// Begins to record. write() puts its file into `folder`, which must exist. Warns, and records
// nothing, if that cannot work.
inline constexpr std::size_t kEvents = std::size_t{1} << 18;
void start(const char* folder, std::size_t events = kEvents);

// Returns nanoseconds since 1970 that never go back, so that clocks of several hosts can be lined
// up.
std::uint64_t now_ns();

// Names whose work is recorded: the level, the stage and the algorithm, such as "numa", "up",
// "split_slots". Level and stage are copied, at most kName - 1 characters; the algorithm's name
// must stay until the end of the process.
inline constexpr std::size_t kName = 16;
struct Where {
  const char* level;
  const char* stage;
  const char* algorithm;
};

// Records the work of one level on a chunk of an operation. The time that the level waited before
// is not part of the piece; otherwise levels would always seem to be at work.
void record(const Where& where, std::uint64_t operation, std::uint64_t chunk,
            std::uint64_t begin_ns, std::uint64_t end_ns);

// Records an operation as a whole. `group` (the communicator) and `call` (the number of operations
// before this one on it) identify it and are the same on all its ranks. Returns its number in this
// process.
std::uint64_t begin_operation(const char* name, std::uint64_t bytes, std::uint64_t group,
                              std::uint64_t call);
void end_operation();

// Returns the number of the operation that this thread began last.
std::uint64_t current_operation();

// Writes FOLDER/rank-<rank>.trace and stops recording. Returns false, with the cause in errno, if
// the file could not be made, for example because it exists.
bool write(int rank, int size);

// An operation is under way while this object lives. It is recorded if recording is on.
class OperationScope {
 public:
  OperationScope(const char* name, std::uint64_t bytes, std::uint64_t group, std::uint64_t& calls)
      : active_(on()) {
    if (active_) [[unlikely]]
      begin_operation(name, bytes, group, calls++);
  }
  ~OperationScope() {
    if (active_) [[unlikely]]
      end_operation();
  }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  const bool active_;
};

}  // namespace sumac::trace
