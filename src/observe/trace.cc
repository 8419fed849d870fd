// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "base/cpu.h"
#include "observe/log.h"
#include "observe/rank_file.h"
#include "observe/recording_file.h"

namespace sumac::trace {

std::atomic<bool> recording{false};

namespace {

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

// Gives each text a number, and calls define(number) at its first use.
class Numbers {
 public:
  template <class Define>
  std::uint32_t of(const std::string& text, Define define) {
    const auto [place, is_new] =
        numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) define(place->second);
    return place->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

std::string head(const Recorded& recorded, int rank, int size) {
  JsonLine line = recording_head(Recording::trace, rank, size);
  line.add("dropped", recorded.pieces.dropped() + recorded.calls.dropped());
  return line.text();
}

TracedOperation record_of(RecordingFile& file, Numbers& names, const MeasuredCall& call) {
  const std::uint32_t name = names.of(call.name, [&](std::uint32_t number) {
    JsonLine line("name", number);
    line.add("text", call.name);
    file.add(line.text());
  });
  return {name, 0, call.number, call.bytes, call.group, call.call, call.begin, call.end};
}

TracedPiece record_of(RecordingFile& file, Numbers& lanes, const MeasuredPiece& piece) {
  const std::string text = std::string(piece.level) + '\n' + piece.stage + '\n' + piece.algorithm;
  const std::uint32_t lane = lanes.of(text, [&](std::uint32_t number) {
    JsonLine line("lane", number);
    line.add("level", piece.level);
    line.add("stage", piece.stage);
    line.add("algorithm", piece.algorithm);
    file.add(line.text());
  });
  return {lane, 0, piece.operation, piece.chunk, piece.begin, piece.end};
}

template <class Event>
bool write_all(RecordingFile& file, const Buffer<Event>& events) {
  Numbers numbers;
  for (const Event& event : events) {
    if (event.end == 0) continue;  // a thread has taken the place but not filled it yet
    file.add(record_of(file, numbers, event));
    if (file.is_full() && !file.flush()) return false;
  }
  return true;
}

bool write_events(RecordingFile& file, const Recorded& recorded, int rank, int size) {
  file.add(head(recorded, rank, size));
  return write_all(file, recorded.calls) && write_all(file, recorded.pieces) && file.flush();
}

Recorded recorded;
std::string& folder_path() {
  static auto* path = new std::string;
  return *path;
}
std::uint64_t clock_offset;  // CLOCK_REALTIME minus CLOCK_MONOTONIC
std::atomic<std::uint64_t> operations{0};
thread_local MeasuredCall going_on;

// Reads the real time between two readings of the other clock, and keeps the closest of several
// pairs.
std::uint64_t measure_offset() {
  std::uint64_t closest = ~std::uint64_t{0}, offset = 0;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t real = clock_ns(CLOCK_REALTIME);
    const std::uint64_t apart = clock_ns(CLOCK_MONOTONIC) - before;
    if (apart >= closest) continue;
    closest = apart;
    offset = real - (before + apart / 2);
  }
  return offset;
}

void copy_name(char (&to)[kName], const char* name) {
  std::size_t used = 0;
  for (; *name && used < kName - 1; ++name) {
    const bool plain = *name >= ' ' && *name <= '~' && *name != '"' && *name != '\\';
    to[used++] = plain ? *name : '_';
  }
  to[used] = '\0';
}

}  // namespace

std::uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC) + clock_offset; }

void start(const char* folder, std::size_t events) {
  if (on()) return;
  folder_path() = writable_folder(folder);
  if (folder_path().empty()) {
    return log(Level::warn, "warning[trace]: cannot write into SUMAC_TRACE=%s: %s", folder,
               std::strerror(errno));
  }
  if (!recorded.pieces.allocate(events) || !recorded.calls.allocate(events)) {
    return log(Level::warn, "warning[trace]: no memory to record in; nothing will be traced");
  }
  clock_offset = measure_offset();
  operations = 0;
  recording.store(true, std::memory_order_release);
}

void record(const Where& where, std::uint64_t operation, std::uint64_t chunk,
            std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (!on()) return;
  MeasuredPiece* piece = recorded.pieces.claim();
  if (!piece) return;
  copy_name(piece->level, where.level);
  copy_name(piece->stage, where.stage);
  piece->algorithm = where.algorithm;
  piece->operation = operation;
  piece->chunk = chunk;
  piece->begin = begin_ns;
  piece->end = end_ns;
}

std::uint64_t begin_operation(const char* name, std::uint64_t bytes, std::uint64_t group,
                              std::uint64_t call) {
  copy_name(going_on.name, name);
  going_on.number = operations.fetch_add(1, std::memory_order_relaxed);
  going_on.bytes = bytes;
  going_on.group = group;
  going_on.call = call;
  going_on.begin = now_ns();
  return going_on.number;
}

void end_operation() {
  const std::uint64_t end = now_ns();
  if (!on()) return;
  MeasuredCall* call = recorded.calls.claim();
  if (!call) return;
  *call = going_on;
  call->end = end;
}

std::uint64_t current_operation() { return going_on.number; }

bool write(int rank, int size) {
  recording.store(false, std::memory_order_release);
  RecordingFile file;
  if (!file.open(folder_path(), Recording::trace, rank)) return false;
  if (write_events(file, recorded, rank, size)) return true;
  const int error = errno;
  unlink((folder_path() + "/" + recording_name(Recording::trace, rank)).c_str());
  errno = error;
  return false;
}

}  // namespace sumac::trace
