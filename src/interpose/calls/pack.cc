// SPDX-License-Identifier: BSD-3-Clause
// Sumac serves MPI_Pack and MPI_Unpack of derived types that are not contiguous. It leaves
// everything else to the MPI: types that occur for the first time, since reading one costs more
// than packing it once may gain; small data; and wrong arguments, which the MPI has to report.
#include <algorithm>

#include "devices/where.h"
#include "interpose/calls/calls.h"
#include "interpose/calls/check.h"
#include "interpose/calls/device_buffer.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/process/entry.h"
#include "observe/log.h"
#include "tasks/threads.h"

namespace sumac {
namespace {

// Sumac serves calls from so many packed bytes on.
constexpr std::size_t kLeastServed = 128;

// These are the elements on one side, and packed bytes on the other.
struct Packing {
  void* elements;
  MpiCount count;
  MpiDatatype type;
  void* packed;
  MpiCount size;
  MpiComm comm;
};

// Returns true if the communicator exists; any that has had a collective is known.
bool is_communicator(MpiComm comm) {
  if (comm == kMpi.comm_world || comm == kMpi.comm_self) return true;
  int remote = 0;
  return comm != kMpi.comm_null &&
         (find_communicator(comm) || mpi.Comm_test_inter(comm, &remote) == kMpiSuccess);
}

// Returns the layout by which Sumac serves the call, or null.
const DataLayout* judge(const Packing& call, MpiCount position, MpiAint& extent) {
  const DataLayout* const layout = find_packing(call.type, extent);
  if (!layout || device_memory_possible() || !mpi_is_up()) return nullptr;
  if (call.count <= 0 || position < 0 || !call.packed || call.packed == call.elements) {
    return nullptr;
  }
  // MPICH calls a null address an error, also if it is MPI_BOTTOM.
  if (family() == Family::mpich && !call.elements) return nullptr;
  const std::size_t element = layout->bytes();
  if (element == 0 || element * static_cast<std::size_t>(call.count) < kLeastServed) return nullptr;
  const bool adjoins = call.count == 1 || extent == static_cast<MpiAint>(element);
  if (layout->is_contiguous() && adjoins) return nullptr;
  if (call.size < position) return nullptr;
  const auto room = static_cast<std::size_t>(call.size - position);
  if (room / element < static_cast<std::size_t>(call.count)) return nullptr;
  return is_communicator(call.comm) ? layout : nullptr;
}

// Serves the call by `move`, which is pack_all() or unpack_all(), or else by below(call).
template <class Position, class Move, class Below>
int serve_here(const Packing& call, Position* position, Move move, Below below) {
  MpiAint extent = 0;
  const DataLayout* const layout = position ? judge(call, *position, extent) : nullptr;
  if (!layout) {
    const Position before = position ? *position : 0;
    const int error = below(call);
    if (error != kMpiSuccess || !position) return error;
    const auto packed = static_cast<std::size_t>(*position - before);
    if (packed >= kLeastServed) note_packed(call.type, call.comm, packed);
    return error;
  }
  const LaidOut elements{*layout, static_cast<std::size_t>(call.count), extent,
                         static_cast<std::byte*>(call.elements)};
  const UseThreads threads(true);
  move(elements, static_cast<std::byte*>(call.packed) + *position);
  *position += static_cast<Position>(elements.bytes());
  thread_state().last_path = kLocalPath;
  return kMpiSuccess;
}

Data elements_of(const Packing& call) { return {call.elements, call.count, call.type}; }

// Returns true if the MPI could not do a call whose data are in a GPU's memory.
bool needs_host(const Packing& call, bool has_position) {
  if (!has_position || !call.packed || call.count <= 0) return false;
  if (!is_on_device(elements_of(call)) && !is_on_device(call.packed)) return false;
  return !mpi_takes_devices();
}

// Serves a call with host memory in the place of a GPU's. The packed bytes begin at `position`.
template <class Position, class Move, class Below>
int serve_staged(const Packing& call, Position* position, bool packs, Move move, Below below) {
  DeviceBuffer elements, packed;
  std::size_t size = 0;
  packed_size(call.type, size);
  const auto room = static_cast<MpiCount>(size) * call.count;
  elements.add(elements_of(call), packs, !packs);
  packed.add({static_cast<std::byte*>(call.packed) + *position,
              std::min<MpiCount>(call.size - *position, room), kMpi.byte},
             !packs, packs);
  elements.find_places(false);
  packed.find_places(false);
  bool done = elements.stage() && packed.stage() && !elements.load() && !packed.load();
  int error = kMpi.err_other;
  if (done) {
    Packing staged = call;
    staged.elements = moved(elements_of(call), elements.shift()).address;
    staged.packed = moved({call.packed, 0, kMpi.byte}, packed.shift()).address;
    error = serve_here(staged, position, move, below);
    done = error != kMpiSuccess || (!elements.deliver() && !packed.deliver());
  }
  if (!done) {
    log_error("error[device-copy]: cannot copy a GPU's memory in MPI_%s",
              packs ? "Pack" : "Unpack");
    mpi.Comm_call_errhandler(call.comm, kMpi.err_other);
    error = kMpi.err_other;
  }
  return error;
}

template <class Position, class Move, class Below>
int serve(const Packing& call, Position* position, bool packs, Move move, Below below) {
  if (needs_host(call, position != nullptr)) [[unlikely]]
    return serve_staged(call, position, packs, move, below);
  return serve_here(call, position, move, below);
}

template <class Count, class Below>
int serve_pack(Below below, const void* in, Count count, MpiDatatype type, void* out, Count size,
               Count* position, MpiComm comm) {
  const Packing call{const_cast<void*>(in), count, type, out, size, comm};
  return serve(call, position, true, pack_all, [&](const Packing& made) {
    return below(made.elements, count, type, made.packed, size, position, comm);
  });
}

template <class Count, class Below>
int serve_unpack(Below below, const void* in, Count size, Count* position, void* out, Count count,
                 MpiDatatype type, MpiComm comm) {
  const Packing call{out, count, type, const_cast<void*>(in), size, comm};
  return serve(call, position, false, unpack_all, [&](const Packing& made) {
    return below(made.packed, size, position, made.elements, count, type, comm);
  });
}

int pack_int(const void* in, int count, MpiDatatype type, void* out, int size, int* position,
             MpiComm comm) {
  return serve_pack(mpi.Pack, in, count, type, out, size, position, comm);
}

int unpack_int(const void* in, int size, int* position, void* out, int count, MpiDatatype type,
               MpiComm comm) {
  return serve_unpack(mpi.Unpack, in, size, position, out, count, type, comm);
}

int pack_count(const void* in, MpiCount count, MpiDatatype type, void* out, MpiCount size,
               MpiCount* position, MpiComm comm) {
  return serve_pack(mpi.Pack_c, in, count, type, out, size, position, comm);
}

int unpack_count(const void* in, MpiCount size, MpiCount* position, void* out, MpiCount count,
                 MpiDatatype type, MpiComm comm) {
  return serve_unpack(mpi.Unpack_c, in, size, position, out, count, type, comm);
}

}  // namespace

void redirect_packing(const sumac_stub& stub) {
  in_front.Pack = pack_int;
  in_front.Unpack = unpack_int;
  in_front.Pack_c = pack_count;
  in_front.Unpack_c = unpack_count;
  put_packing_in_front(stub);
}

}  // namespace sumac
