// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_layout.h"

#include <atomic>
#include <cstdint>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/world.h"

namespace sumac {
namespace {

// This counts how many bytes the MPI has packed of a type, by handle. Another type may get the same
// handle later: that does no harm here.
class Packed {
 public:
  bool is_enough(MpiDatatype type, std::size_t bytes) {
    const std::uintptr_t handle = type.bits;
    Row& row = rows_[handle * 0x9e3779b97f4a7c15ull >> (64 - kRowBits)];
    if (row.handle.load(std::memory_order_relaxed) != handle) {
      row.handle.store(handle, std::memory_order_relaxed);
      row.bytes.store(0, std::memory_order_relaxed);
    }
    const std::size_t all = row.bytes.load(std::memory_order_relaxed) + bytes;
    row.bytes.store(all, std::memory_order_relaxed);
    return all >= kEnough;
  }

 private:
  static constexpr std::size_t kEnough = 8192;
  static constexpr int kRowBits = 8;
  struct Row {
    std::atomic<std::uintptr_t> handle{0};
    std::atomic<std::size_t> bytes{0};
  };
  Row rows_[1 << kRowBits];
};
Packed packed;

}  // namespace

void note_packed(MpiDatatype type, MpiComm comm, std::size_t bytes) {
  if (!packed.is_enough(type, bytes)) return;
  if (find_known_type(type) || !world_exists()) return;
  TypeLayout ignored;
  find_layout(type, comm, ignored);
}

const DataLayout* use_packing(MpiDatatype type, MpiComm comm, std::size_t bytes, MpiAint& extent) {
  const DataLayout* const layout = find_packing(type, extent);
  if (!layout) note_packed(type, comm, bytes);
  return layout;
}

}  // namespace sumac
