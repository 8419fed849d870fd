// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/device_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "base/types.h"
#include "devices/where.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "observe/stats.h"

namespace sumac {

const void* first_byte(const Data& data) {
  if (find_known_type(data.type)) return data.address;
  MpiAint first = 0, bytes = 0;
  mpi.Type_get_true_extent(data.type, &first, &bytes);
  // This is no pointer arithmetic, because the address may be MPI_BOTTOM.
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(data.address) +
                                       static_cast<std::uintptr_t>(first));
}

// The MPI is asked about a derived type only where there is a run-time.
bool is_on_device(const Data& data) {
  if (!looks_at_buffers()) return false;
  if (find_known_type(data.type)) [[likely]]
    return is_on_device(data.address);
  if (data.type == kMpi.datatype_null) return false;
  return !find_runtimes().empty() && is_on_device(first_byte(data));
}

template <class Use>
void DeviceBuffer::Piece::each_run(Use use) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uintptr_t element = at + i * static_cast<std::uintptr_t>(extent);
    for (const Run& run : runs) use(element + static_cast<std::uintptr_t>(run.at), run.bytes);
  }
}

std::uintptr_t DeviceBuffer::Piece::low() const {
  std::uintptr_t low = UINTPTR_MAX;
  each_run([&](std::uintptr_t from, std::size_t) { low = std::min(low, from); });
  return low;
}

std::uintptr_t DeviceBuffer::Piece::high() const {
  std::uintptr_t high = 0;
  each_run([&](std::uintptr_t from, std::size_t bytes) { high = std::max(high, from + bytes); });
  return high;
}

// The MPI unpacks ones into memory full of zeros: so the runs of any type are found, also of those
// that Sumac cannot read.
std::vector<DeviceBuffer::Run> DeviceBuffer::runs_of(MpiDatatype type, std::size_t element) {
  constexpr unsigned char kMark = 0xff;
  MpiAint first = 0, span = 0;
  mpi.Type_get_true_extent(type, &first, &span);
  const std::vector<unsigned char> ones(element, kMark);
  std::vector<unsigned char> memory(static_cast<std::size_t>(span));
  int position = 0;
  mpi.Unpack(ones.data(), static_cast<int>(element), &position, memory.data() - first, 1, type,
             kMpi.comm_self);
  std::vector<Run> runs;
  for (auto at = memory.begin(); at != memory.end();) {
    const auto begin = std::find(at, memory.end(), kMark);
    at = std::find(begin, memory.end(), 0);
    if (begin != at) runs.push_back({first + (begin - memory.begin()), 0});
    if (begin != at) runs.back().bytes = static_cast<std::size_t>(at - begin);
  }
  return runs;
}

void DeviceBuffer::add(const Data& data, bool reads, bool writes) {
  std::size_t element = 0;
  if (data.count <= 0 || !packed_size(data.type, element) || element == 0) return;
  Piece piece{reinterpret_cast<std::uintptr_t>(data.address), 1, 0, {}, reads, writes, {}};
  const auto count = static_cast<std::size_t>(data.count);
  if (lies_packed(data.type)) {
    piece.runs = {{0, element * count}};
  } else {
    MpiAint lower = 0;
    mpi.Type_get_extent(data.type, &lower, &piece.extent);
    piece.count = count;
    piece.runs = runs_of(data.type, element);
  }
  pieces_.push_back(std::move(piece));
}

void DeviceBuffer::place(const DevicePlace& place) {
  for (Piece& piece : pieces_) piece.place = place;
}

void DeviceBuffer::find_places(bool each) {
  if (pieces_.empty()) return;
  const auto ask = [](const Piece& piece) {
    return place_of(reinterpret_cast<const void*>(piece.low()));
  };
  if (!each) return place(ask(pieces_.front()));
  for (Piece& piece : pieces_) piece.place = ask(piece);
}

bool DeviceBuffer::stage() {
  if (pieces_.empty()) return true;
  std::uintptr_t low = UINTPTR_MAX, high = 0;
  for (const Piece& piece : pieces_) {
    low = std::min(low, piece.low());
    high = std::max(high, piece.high());
  }
  memory_ = std::make_unique<StagingMemory>(high - low + kCacheLine, pieces_.front().place);
  if (!memory_->data()) return false;
  // The memory has the same alignment as the program's.
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_->data());
  shift_ = static_cast<std::ptrdiff_t>(begin + low % kCacheLine - low);
  return true;
}

void* DeviceBuffer::in_place_of(std::uintptr_t at) const {
  return reinterpret_cast<void*>(at + static_cast<std::uintptr_t>(shift_));
}

DeviceError DeviceBuffer::load(const Piece& piece) const {
  constexpr std::size_t kFewRuns = 8;
  if (piece.place.memory != MemoryKind::device) {
    piece.each_run([&](std::uintptr_t at, std::size_t bytes) {
      std::memcpy(in_place_of(at), reinterpret_cast<const void*>(at), bytes);
    });
    return {};
  }
  // One copy with the gaps, where these belong to the same allocation, is faster than many.
  if (piece.num_runs() > kFewRuns) {
    const std::uintptr_t low = piece.low();
    DeviceCopies whole(piece.place, Towards::host);
    whole.begin(in_place_of(low), reinterpret_cast<const void*>(low), piece.high() - low);
    if (!whole.finish()) return {};
  }
  DeviceCopies copies(piece.place, Towards::host);
  piece.each_run([&](std::uintptr_t at, std::size_t bytes) {
    copies.begin(in_place_of(at), reinterpret_cast<const void*>(at), bytes);
    count_device_use(DeviceUse::bytes_in, bytes);
  });
  return copies.finish();
}

DeviceError DeviceBuffer::deliver(const Piece& piece) const {
  if (piece.place.memory != MemoryKind::device) {
    piece.each_run([&](std::uintptr_t at, std::size_t bytes) {
      std::memcpy(reinterpret_cast<void*>(at), in_place_of(at), bytes);
    });
    return {};
  }
  DeviceCopies copies(piece.place, Towards::device);
  piece.each_run([&](std::uintptr_t at, std::size_t bytes) {
    copies.begin(reinterpret_cast<void*>(at), in_place_of(at), bytes);
    count_device_use(DeviceUse::bytes_out, bytes);
  });
  return copies.finish();
}

DeviceRun DeviceBuffer::run(bool written) const {
  DeviceRun found;
  for (const Piece& piece : pieces_) {
    if (!(written ? piece.writes : piece.reads)) continue;
    const bool single = !found.on_device && piece.num_runs() == 1;
    if (!single || piece.place.memory != MemoryKind::device) return {};
    const std::uintptr_t at = piece.low();
    found = {reinterpret_cast<std::byte*>(at), static_cast<std::byte*>(in_place_of(at)),
             piece.runs[0].bytes, piece.place};
  }
  return found;
}

DeviceError DeviceBuffer::load() const {
  for (const Piece& piece : pieces_) {
    if (!piece.reads) continue;
    if (const DeviceError error = load(piece)) return error;
  }
  return {};
}

DeviceError DeviceBuffer::deliver() const {
  for (const Piece& piece : pieces_) {
    if (!piece.writes) continue;
    if (const DeviceError error = deliver(piece)) return error;
  }
  return {};
}

}  // namespace sumac
