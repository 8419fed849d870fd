// SPDX-License-Identifier: BSD-3-Clause
// When each level of a hierarchy worked on each chunk: recorded while the program runs, written at
// the end as one file a rank, which 'sumac trace' and viewers of Chrome's trace events draw.
//
// Off, it costs a load and a branch. On, recording takes no lock and no memory: two buffers of
// fixed size, in which whoever records takes the next place; what no longer fits is counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac::trace {

extern std::atomic<bool> recording;
inline bool on() { return recording.load(std::memory_order_relaxed); }

// Begins to record; write() will put its file into `folder`, which must exist. Warns, and stays
// off, where that cannot work.
inline constexpr std::size_t kEvents = std::size_t{1} << 18;
void start(const char* folder, std::size_t events = kEvents);

// Nanoseconds since 1970 that never go back: clocks of several hosts can be lined up.
std::uint64_t now_ns();

// Which work of which level: "numa", "up", "split_slots". Level and stage are copied, at most kName
// - 1 characters; the algorithm must be there until the end.
inline constexpr std::size_t kName = 16;
struct Where {
  const char* level;
  const char* stage;
  const char* algorithm;
};

// One piece of it, on a chunk of an operation. Without the time it waited before, else levels would
// always seem to work at once.
void record(const Where& where, std::uint64_t operation, std::uint64_t chunk,
            std::uint64_t begin_ns, std::uint64_t end_ns);

// An operation as a whole. `group` and `call` say which one it is, the same on all its ranks: the
// communicator, and how many there were before on it. Returns its number in this process.
std::uint64_t begin_operation(const char* name, std::uint64_t bytes, std::uint64_t group,
                              std::uint64_t call);
void end_operation();

// The number of the operation that this thread has begun.
std::uint64_t current_operation();

// Writes FOLDER/rank-<rank>.json and stops recording. False, and why in errno, where the file could
// not be made, such as when there is one already.
bool write(int rank, int size);

// The operation that goes on while this is alive, where anything is recorded at all.
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
