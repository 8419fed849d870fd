// SPDX-License-Identifier: BSD-3-Clause
#include "local.h"

#include <algorithm>
#include <cstring>

#include "contenders.h"
#include "json.h"
#include "loop.h"
#include "mpi_types.h"
#include "pattern.h"
#include "results.h"
#include "testing/element.h"
#include "turns.h"

namespace sumac::bench {
namespace {

constexpr std::size_t kLoopUpTo = 1024;  // bytes; in larger vectors no loop competes with memcpy
constexpr int kRanks = 2;                // two: their data are in `in` and `inout`

using ReduceLocal = decltype(&MPI_Reduce_local);

struct Memory {
  explicit Memory(std::size_t bytes) : buffers(bytes), results(bytes) {}
  const void* in() const { return buffers.send(); }
  std::byte* inout() const { return buffers.recv(); }
  std::byte* native_result() const { return results.recv(); }

  Buffers buffers, results;
};

struct Job {
  const ReduceCell& cell;
  const Memory& memory;
  MPI_Datatype type = mpi_type(cell.type);
  MPI_Op op = mpi_op(cell.op);

  int call(ReduceLocal function) const {
    return function(memory.in(), memory.inout(), static_cast<int>(cell.count), type, op);
  }
};

// Reduces known data. Returns the number of wrong elements, or nothing if the function refuses the
// pair.
std::optional<long> count_wrong(const Job& job, ReduceLocal function) {
  const ReduceCell& cell = job.cell;
  const Pattern pattern{cell.type, cell.op, kRanks, 1};
  pattern.fill(job.memory.buffers.send(), cell.count, 0);
  pattern.fill(job.memory.inout(), cell.count, 1);
  if (job.call(function) != MPI_SUCCESS) return {};
  const std::size_t changed = pattern.differing(job.memory.in(), cell.count, 0);
  return static_cast<long>(changed + pattern.wrong(job.memory.inout(), cell.count));
}

// Checks which contenders support the pair, and counts wrong elements. The MPI's result is compared
// with the serial one. Sumac's must have the bits of the MPI's; if the MPI is wrong, Sumac may also
// have the serial result.
void verify(const Job& job, const World& world, bool active, ReduceCell& cell) {
  const std::optional<long> native = count_wrong(job, world.native.reduce_local);
  if (native) cell.native.emplace();
  cell.wrong_native = native.value_or(0);
  std::memcpy(job.memory.native_result(), job.memory.inout(), cell.bytes);
  if (!active) return;
  const std::optional<long> sumac = count_wrong(job, world.called.reduce_local);
  if (!sumac) return;
  cell.sumac.emplace();
  cell.algorithm = last_path();
  cell.wrong_sumac = *sumac;
  if (!native) return;
  const std::size_t differing = oracle::count_differing(cell.type, job.memory.native_result(),
                                                        job.memory.inout(), cell.count);
  cell.wrong_sumac =
      *native == 0 ? static_cast<long>(differing) : std::min(*sumac, static_cast<long>(differing));
}

Repeat repeat(const Job& job, ReduceLocal function) {
  return [job, function](int calls) {
    for (int i = 0; i < calls; i++) job.call(function);
  };
}

Repeat repeat_loop(const Job& job) {
  return [job, function = loop(job.cell.type, job.cell.op)](int calls) {
    for (int i = 0; i < calls; i++) {
      function(job.memory.in(), job.memory.inout(), job.cell.count);
      asm volatile("" ::: "memory");
    }
  };
}

void time(const Job& job, const Options& options, const World& world, ReduceCell& cell) {
  fill_lasting(cell.type, cell.op, job.memory.buffers.send(), cell.count);
  fill_lasting(cell.type, cell.op, job.memory.inout(), cell.count);
  if (cell.bytes <= kLoopUpTo && is_predefined(cell.type)) cell.loop.emplace();
  time_cell({repeat_memcpy(job.memory.inout(), job.memory.in(), cell.bytes),
             repeat(job, world.native.reduce_local), repeat(job, world.called.reduce_local),
             cell.loop ? repeat_loop(job) : Repeat()},
            options, cell);
}

// All defined pairs of operation and type that this MPI has, at all sizes that hold an element.
std::vector<ReduceCell> cells_of(const Options& options) {
  std::vector<ReduceCell> cells;
  for (const std::size_t bytes : sizes_in_bytes(options))
    for (const DType type : options.types)
      for (const Op op : options.ops)
        if (is_defined(op, type) && mpi_type(type) != MPI_DATATYPE_NULL && bytes >= size_of(type)) {
          const std::size_t count = bytes / size_of(type);
          cells.push_back({{bytes, count * size_of(type)}, op, type, count});
        }
  return cells;
}

std::vector<DType> lacking(const std::vector<DType>& types) {
  std::vector<DType> result;
  for (const DType type : types)
    if (mpi_type(type) == MPI_DATATYPE_NULL) result.push_back(type);
  return result;
}

}  // namespace

long run_local(const Options& options, const World& world) {
  std::vector<ReduceCell> cells = cells_of(options);
  // A pair that the MPI lacks must return an error. Set only now: cells_of() has made the types.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (cells.empty()) throw Unavailable{"this MPI has none of the types"};
  const Memory memory(sizes_in_bytes(options).back());
  Report report(options.json_file);
  const Surroundings here = surroundings(world);
  report.local_header(options, here, lacking(options.types), cells.size());
  long wrong = 0;
  for (ReduceCell& cell : cells) {
    const Job job{cell, memory};
    verify(job, world, here.sumac.active, cell);
    time(job, options, world, cell);
    wrong += cell.wrong();
    report.cell(cell);
  }
  report.summary();
  free_types();
  return wrong;
}

}  // namespace sumac::bench
