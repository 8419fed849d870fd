// SPDX-License-Identifier: BSD-3-Clause

#include <atomic>
#include <string_view>

#include "base/hash.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_info.h"
#include "interpose/mpi/world.h"

namespace sumac {
namespace {

struct ExtensionRow {
  MpiDatatype type{};
  std::size_t size = 0;
  std::atomic<ReduceFn> kernels[kNumOps] = {};  // null: the MPI has not been asked
};

constexpr int kMostRows = 64;
ExtensionRow rows[kMostRows];
int rows_used = 0, rows_kept = 0;

// This stands for the kernel of a pair that the MPI reduces in a way of its own.
void no_kernel(void*, const void* const*, int, std::size_t) {}

// Threads that ask at the same time get the same answer.
ReduceFn ask(const ExtensionRow& row, Op op) {
  const DType dtype = meaning_of(row.type, row.size, op);
  return dtype == DType::none ? no_kernel : find_reduce(op, dtype);
}

}  // namespace

void add_extensions(MpiDatatype type, TypeInfo& info) {
  if (!may_have_extensions(info) || rows_used == kMostRows) return;
  ExtensionRow& row = rows[rows_used];
  row.type = type;
  row.size = info.size;
  for (auto& kernel : row.kernels) kernel.store(nullptr, std::memory_order_relaxed);
  info.row = rows_used++;
}

ReduceFn find_extension(int row, Op op, bool may_ask) {
  if (row == kNoRow || op >= Op::minloc) return nullptr;
  auto& known = rows[row].kernels[static_cast<int>(op)];
  ReduceFn kernel = known.load(std::memory_order_acquire);
  if (!kernel) {
    if (!may_ask) return nullptr;
    kernel = ask(rows[row], op);
    known.store(kernel, std::memory_order_release);
  }
  return kernel == no_kernel ? nullptr : kernel;
}

void keep_extensions() { rows_kept = rows_used; }
void forget_extensions() { rows_used = rows_kept; }

std::uint64_t extensions_hash() {
  const bool can_ask = self_communicator() != kMpi.comm_null;
  return hash_text(can_ask ? "asks" : "does not ask", hash_text(library_version()));
}

}  // namespace sumac
