// SPDX-License-Identifier: BSD-3-Clause
// The events that a trace records while the program runs, and the function that writes them to a
// file, are declared here.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/recording_file.h"
#include "observe/trace.h"

namespace sumac::trace {

struct MeasuredPiece {
  char level[kName], stage[kName];
  const char* algorithm;
  std::uint64_t operation, chunk, begin, end;
};

struct MeasuredCall {
  char name[kName];
  std::uint64_t number, bytes, group, call, begin, end;
};

// Any thread takes the next place in this buffer; the first events are kept. Pages of places that
// are never taken cost no memory. The buffer lives until the process ends, because a thread may
// still write.
template <class Event>
class Buffer {
 public:
  bool allocate(std::size_t events) {
    if (events_) munmap(events_, capacity_ * sizeof(Event));
    events_ = nullptr;
    capacity_ = 0;
    void* memory = mmap(nullptr, events * sizeof(Event), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    events_ = static_cast<Event*>(memory);
    capacity_ = events;
    taken_ = 0;
    return true;
  }

  // Returns null when the buffer is full.
  Event* claim() {
    const std::size_t place = taken_.fetch_add(1, std::memory_order_relaxed);
    return place < capacity_ ? events_ + place : nullptr;
  }

  const Event* begin() const { return events_; }
  const Event* end() const { return events_ + std::min(taken_.load(), capacity_); }
  std::size_t dropped() const { return taken_.load() - std::min(taken_.load(), capacity_); }

 private:
  Event* events_ = nullptr;
  std::size_t capacity_ = 0;
  std::atomic<std::size_t> taken_{0};
};

struct Recorded {
  Buffer<MeasuredPiece> pieces;
  Buffer<MeasuredCall> calls;
};

// Writes the events into an open file. Returns false, with the cause in errno and the file closed,
// if not everything could be written.
bool write_events(RecordingFile& file, const Recorded& recorded, int rank, int size);

}  // namespace sumac::trace
