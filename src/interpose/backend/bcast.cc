// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast and MPI_Bcast_c. Served by total packed bytes alone, which all ranks share: their types
// may differ as long as the signatures are the same.
#include <climits>

#include "interpose/backend/calls.h"
#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/packing.h"

namespace sumac {
namespace {

// The MPI's broadcast of more elements than an int can count, as one element of a larger type.
int native_large(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (mpi.Bcast_c) return mpi.Bcast_c(buffer, count, type, root, comm);
  if (count <= INT_MAX) return mpi.Bcast(buffer, static_cast<int>(count), type, root, comm);
  constexpr MPI_Count kRow = 1 << 30;
  MPI_Aint lower = 0, extent = 0;
  if (const int error = mpi.Type_get_extent(type, &lower, &extent)) return error;
  MPI_Datatype row, whole;
  const int lengths[] = {static_cast<int>(count / kRow), static_cast<int>(count % kRow)};
  const MPI_Aint places[] = {0, count / kRow * kRow * extent};
  mpi.Type_contiguous(kRow, type, &row);
  const MPI_Datatype parts[] = {row, type};
  mpi.Type_create_struct(2, lengths, places, parts, &whole);
  mpi.Type_commit(&whole);
  const int error = mpi.Bcast(buffer, 1, whole, root, comm);
  mpi.Type_free(&whole);
  mpi.Type_free(&row);
  return error;
}

void serve(Communicator& c, const TypedBuffer& buffer, std::size_t bytes, int root,
           const Choice& choice) {
  PackedBuffer packed(buffer, bytes);
  if (c.rank == root) packed.pack();
  c.work.call.collective = Collective::bcast;
  c.work.call.choice = choice;
  c.work.call.bcast = {packed.data(), bytes, root};
  run(c);
  if (c.rank != root) packed.unpack();
}

// MPI_Pack counts bytes in an int: a larger element can be served only where it lies packed. How a
// rank describes the message is its own affair, so for messages of that size the ranks agree.
bool all_can_pack(Communicator& c, MPI_Datatype type, std::size_t element) {
  const std::int32_t can = element <= INT_MAX || lies_packed(type);
  std::int32_t all = 0;
  LevelsCall& call = c.work.call;
  c.native = {MPI_INT32_T, MPI_BAND};
  call.collective = Collective::allreduce;
  call.reduction = {reinterpret_cast<const std::byte*>(&can),
                    reinterpret_cast<std::byte*>(&all),
                    1,
                    sizeof can,
                    find_reduce(Op::band, DType::i32),
                    0,
                    &c.native};
  // Not as the rules choose: they may leave it to the MPI.
  call.choice = Choice();
  call.choice.algorithm = c.levels_for[static_cast<int>(Collective::allreduce)]
                              ? Algorithm::allreduce_levels
                              : Algorithm::allreduce_flat_slots;
  run(c);
  return all;
}

template <class Native>
int serve_bcast(const TypedBuffer& buffer, int root, Native native) {
  Entry entry(Collective::bcast);
  const Admission admission = admit(entry, buffer.comm);
  if (!admission.communicator) return pass(admission, buffer.comm, native);
  Communicator& c = *admission.communicator;
  if (const int error = check_type(buffer)) {
    entry.hand_down(c.stats, Reason::arguments, 0);
    return error;
  }
  std::size_t element = 0;
  if (buffer.count < 0 || root < 0 || root >= c.size || !packed_size(buffer.type, element)) {
    entry.hand_down(c.stats, Reason::arguments, 0);
    return native();
  }
  const std::size_t bytes = element * static_cast<std::size_t>(buffer.count);
  if (c.state == Communicator::State::alone || bytes == 0) {
    entry.take_locally(c.stats, bytes);
    return MPI_SUCCESS;
  }
  // A null address is MPI_BOTTOM: fine with a derived type, an error with a predefined one.
  if (!buffer.address && find_type(buffer.type)) {
    entry.hand_down(c.stats, Reason::arguments, bytes);
    return native();
  }
  const Choice& choice = c.choose(Collective::bcast, bytes);
  if (choice.algorithm == Algorithm::native) {
    entry.hand_down(c.stats, Reason::rules, bytes);
    return native();
  }
  if (bytes > INT_MAX && !all_can_pack(c, buffer.type, element)) {
    entry.hand_down(c.stats, Reason::arguments, bytes);
    return native();
  }
  serve(c, buffer, bytes, root, choice);
  entry.take(c.stats, choice.algorithm, bytes);
  return MPI_SUCCESS;
}

int mpi_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return serve_bcast({buffer, count, type, comm}, root,
                     [&] { return mpi.Bcast(buffer, count, type, root, comm); });
}

int mpi_bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return serve_bcast({buffer, count, type, comm}, root,
                     [&] { return native_large(buffer, count, type, root, comm); });
}

}  // namespace

void redirect_bcast(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Bcast, entry_of<Collective::bcast, mpi_bcast>());
  stub.redirect(SUMAC_CALL_Bcast_c, entry_of<Collective::bcast, mpi_bcast_c>());
}

}  // namespace sumac
