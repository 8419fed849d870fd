// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/write_signals.h"

namespace sumac {
namespace {

Segment map(int file, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return {};
  madvise(memory, bytes, MADV_DONTFORK);  // a forked child must not write into collectives
  return {static_cast<std::byte*>(memory), bytes};
}

constexpr char kSegmentFile[] = "group.sumac";

}  // namespace

Segment create_segment(std::size_t bytes, SegmentKey& key) {
  const int file = make_memory_file(kSegmentFile);
  if (file < 0) return {};
  Segment segment;
  const WithoutWriteSignals without;  // the file may be larger than the limit on files
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) segment = map(file, bytes);
  if (!segment.memory) {
    close(file);
    return {};
  }
  key = {getpid(), identity_of(file)};
  return segment;
}

void close_segment(const SegmentKey& key) { close(key.file.descriptor); }

Segment open_segment(const SegmentKey& key, std::size_t bytes) {
  const int file = open_file_of(key.pid, key.file);
  if (file < 0) return {};
  const Segment segment = map(file, bytes);
  close(file);
  return segment;
}

void back_memory(std::byte* memory, std::size_t bytes) {
  constexpr int kPopulateWrite = 23;  // older headers lack MADV_POPULATE_WRITE
  const auto begin = reinterpret_cast<std::uintptr_t>(memory) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite);
}

void discard_segment(const Segment& segment) {
  madvise(segment.memory, segment.bytes, MADV_REMOVE);
}

}  // namespace sumac
