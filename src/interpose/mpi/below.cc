// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/below.h"

#include <algorithm>

namespace sumac {
namespace {

void advance(void*& address, MPI_Aint bytes) {
  if (address && address != MPI_IN_PLACE) address = static_cast<char*>(address) + bytes;
}

}  // namespace

// A reduction goes element by element: any split of the count gives the same result.
int in_parts(const Call& call, int (*reduce)(const Call&)) {
  constexpr MPI_Count kMost = 1 << 30;
  MPI_Aint lower = 0, extent = 0;
  if (const int error = mpi.Type_get_extent(call.receive.type, &lower, &extent)) return error;
  Call part = call;
  for (MPI_Count left = call.receive.count; left > 0; left -= part.receive.count) {
    part.send.count = part.receive.count = std::min(left, kMost);
    if (const int error = reduce(part)) return error;
    advance(part.send.address, part.receive.count * extent);
    advance(part.receive.address, part.receive.count * extent);
  }
  return MPI_SUCCESS;
}

int as_one_element(const Call& call, int (*bcast)(const Call&)) {
  constexpr MPI_Count kRow = 1 << 30;
  const Data& data = call.receive;
  MPI_Aint lower = 0, extent = 0;
  if (const int error = mpi.Type_get_extent(data.type, &lower, &extent)) return error;
  MPI_Datatype row, whole;
  const int lengths[] = {static_cast<int>(data.count / kRow), static_cast<int>(data.count % kRow)};
  const MPI_Aint places[] = {0, data.count / kRow * kRow * extent};
  mpi.Type_contiguous(kRow, data.type, &row);
  const MPI_Datatype parts[] = {row, data.type};
  mpi.Type_create_struct(2, lengths, places, parts, &whole);
  mpi.Type_commit(&whole);
  Call one = call;
  one.receive = {data.address, 1, whole};
  const int error = bcast(one);
  mpi.Type_free(&whole);
  mpi.Type_free(&row);
  return error;
}

int refuse_count(const Call& call) {
  mpi.Comm_call_errhandler(call.comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

}  // namespace sumac
