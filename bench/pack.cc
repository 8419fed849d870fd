// SPDX-License-Identifier: BSD-3-Clause
#include "local.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "call.h"
#include "json.h"
#include "pack_layouts.h"
#include "turns.h"

namespace sumac::bench {
namespace {

// Bytes that the elements of a cell may be spread over: the face of 1 MiB, as in the baselines.
constexpr std::size_t kMostRoom = std::size_t{256} << 20;
// Sumac reads a type once the MPI has packed so many bytes of it (src/interpose/mpi/type_use.cc).
constexpr std::size_t kLeastNoted = 8192;

struct Memory {
  Memory(std::size_t room, std::size_t bytes) : elements(room), packed(bytes) {}
  Buffers elements, packed;  // each twice, one of them for verification
};

struct Job {
  const PackCell& cell;
  const Memory& memory;
  const World& world;
  Datatype type = make_datatype(cell.layout, cell.asked);

  void pack(const Functions& functions, const std::byte* elements, std::byte* packed) const {
    int position = 0;
    const int error = functions.pack(elements, 1, type.get(), packed, static_cast<int>(cell.bytes),
                                     &position, world.comm);
    require(error, position, "MPI_Pack");
  }
  void unpack(const Functions& functions, const std::byte* packed, std::byte* elements) const {
    int position = 0;
    const int error = functions.unpack(packed, static_cast<int>(cell.bytes), &position, elements, 1,
                                       type.get(), world.comm);
    require(error, position, "MPI_Unpack");
  }

 private:
  void require(int error, int position, const char* name) const {
    if (error == MPI_SUCCESS && position == static_cast<int>(cell.bytes)) return;
    throw std::runtime_error(std::string(name) + " of " + name_of(cell.layout) + ": error " +
                             std::to_string(error) + ", position " + std::to_string(position));
  }
};

long count_differing(const std::byte* a, const std::byte* b, std::size_t bytes) {
  long differing = 0;
  for (std::size_t i = 0; i < bytes; i++) differing += a[i] != b[i];
  return differing;
}

void fill(std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i++)
    to[i] = static_cast<std::byte>((i + 1) * 0x9e3779b97f4a7c15ull >> 56);
}

// Makes last_path() say that the MPI served the last call: a reduction that is never Sumac's.
void leave_path() {
  MPI_Op op;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  int in = 0, inout = 0;
  MPI_Reduce_local(&in, &inout, 1, MPI_INT, op);
  MPI_Op_free(&op);
}

// Lets Sumac know the type, as it does in a program that uses the type for some time.
void introduce(const Job& job) {
  for (std::size_t packed = 0; packed < kLeastNoted; packed += job.cell.bytes)
    job.pack(job.world.called, job.memory.elements.send(), job.memory.packed.recv());
}

// Bytes that differ after unpacking and packing again by the MPI's own functions.
long count_wrong_of_native(const Job& job) {
  const auto& [elements, packed] = job.memory;
  job.unpack(job.world.native, packed.send(), elements.recv());
  job.pack(job.world.native, elements.recv(), packed.recv());
  return count_differing(packed.send(), packed.recv(), job.cell.bytes);
}

// Compares the packed bytes, or all bytes of unpacked elements with the gaps, with those of the
// MPI's own function.
long count_wrong_of_sumac(const Job& job) {
  const auto& [elements, packed] = job.memory;
  const std::size_t room = job.type.room();
  if (job.cell.call == Packing::pack) {
    std::memset(packed.recv(), 0, job.cell.bytes);
    job.pack(job.world.native, elements.send(), packed.send());
    job.pack(job.world.called, elements.send(), packed.recv());
    return count_differing(packed.send(), packed.recv(), job.cell.bytes);
  }
  std::memset(elements.recv(), 0, room);
  std::memset(elements.send(), 0, room);
  job.unpack(job.world.native, packed.send(), elements.recv());
  job.unpack(job.world.called, packed.send(), elements.send());
  return count_differing(elements.send(), elements.recv(), room);
}

void verify(const Job& job, bool active, PackCell& cell) {
  fill(job.memory.elements.send(), job.type.room());
  fill(job.memory.packed.send(), cell.bytes);
  introduce(job);
  cell.native.emplace();
  cell.wrong_native = count_wrong_of_native(job);
  if (!active) return;
  cell.sumac.emplace();
  leave_path();
  cell.wrong_sumac = count_wrong_of_sumac(job);
  cell.algorithm = std::strcmp(last_path(), "local") == 0 ? "local" : "mpi";
}

Repeat repeat(const Job& job, const Functions& functions) {
  const auto& [elements, packed] = job.memory;
  if (job.cell.call == Packing::pack)
    return [&job, &functions, from = elements.send(), to = packed.send()](int calls) {
      for (int i = 0; i < calls; i++) job.pack(functions, from, to);
    };
  return [&job, &functions, from = packed.send(), to = elements.send()](int calls) {
    for (int i = 0; i < calls; i++) job.unpack(functions, from, to);
  };
}

void time(const Job& job, const Options& options, PackCell& cell) {
  std::byte *from = job.memory.elements.send(), *to = job.memory.packed.send();
  if (cell.call == Packing::unpack) std::swap(from, to);
  time_cell({repeat_memcpy(to, from, cell.bytes), repeat(job, job.world.native),
             repeat(job, job.world.called), Repeat()},
            options, cell);
}

std::size_t most_room(const std::vector<PackCell>& cells) {
  std::size_t most = 0;
  for (const PackCell& cell : cells)
    most = std::max(most, make_datatype(cell.layout, cell.asked).room());
  return most;
}

}  // namespace

std::vector<PackCell> pack_cells(const Options& options, std::vector<PackCell>* left_out) {
  std::vector<PackCell> cells;
  for (const std::size_t asked : sizes_in_bytes(options))
    for (const Layout layout : options.layouts) {
      const Datatype type = make_datatype(layout, asked);
      const std::size_t bytes = type.bytes();
      if (bytes == 0) continue;
      const PackCell pack{{asked, bytes}, Packing::pack, layout};
      if (type.room() > kMostRoom) {
        if (left_out) left_out->push_back(pack);
        continue;
      }
      cells.push_back(pack);
      cells.push_back({{asked, bytes}, Packing::unpack, layout});
    }
  return cells;
}

long run_pack(const Options& options, const World& world) {
  std::vector<PackCell> left_out, cells = pack_cells(options, &left_out);
  const Memory memory(most_room(cells), sizes_in_bytes(options).back());
  leave_path();  // the first call, after which Sumac says whether it is active
  const Surroundings here = surroundings(world);
  Report report(options.json_file);
  report.pack_header(options, here, left_out, cells.size());
  long wrong = 0;
  for (PackCell& cell : cells) {
    const Job job{cell, memory, world};
    verify(job, here.sumac.active, cell);
    time(job, options, cell);
    wrong += cell.wrong();
    report.cell(cell);
  }
  report.summary();
  return wrong;
}

}  // namespace sumac::bench
