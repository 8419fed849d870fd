// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "observe/log.h"
#include "observe/rank_file.h"
#include "observe/trace_events.h"

namespace sumac::trace {

std::atomic<bool> recording{false};

namespace {

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
