// SPDX-License-Identifier: BSD-3-Clause
// What is recorded, and how it is written.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "observe/trace.h"

namespace sumac::trace {

struct Piece {
  char level[kName], stage[kName];
  const char* algorithm;
  std::uint64_t operation, chunk, begin, end;
};

struct Call {
  char name[kName];
  std::uint64_t number, bytes, group, call, begin, end;
};

// Places are taken in order, by any thread; the first ones are kept. Pages of places that are never
// taken cost no memory. Kept until the process ends, for a thread that still writes.
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

  // Null when it is full.
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
  std::uint64_t day = 0;  // the day's beginning when recording began
  Buffer<Piece> pieces;
  Buffer<Call> calls;
};

// Chrome's trace events, in their form as an array. Whoever writes the file asks it for errors.
void write_events(std::FILE* file, const Recorded& recorded, int rank, int size);

}  // namespace sumac::trace
