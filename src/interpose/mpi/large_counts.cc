// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/call.h"

#include <algorithm>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

void advance(void*& address, MpiAint bytes) {
  if (address && address != kMpi.in_place) address = static_cast<char*>(address) + bytes;
}

}  // namespace

// A reduction goes element by element: any split of the count gives the same result.
int in_parts(const Call& call, int (*reduce)(const Call&)) {
  constexpr MpiCount kMost = 1 << 30;
  MpiAint lower = 0, extent = 0;
  if (const int error = mpi.Type_get_extent(call.receive.type, &lower, &extent)) return error;
  Call part = call;
  for (MpiCount left = call.receive.count; left > 0; left -= part.receive.count) {
    part.send.count = part.receive.count = std::min(left, kMost);
    if (const int error = reduce(part)) return error;
    advance(part.send.address, part.receive.count * extent);
    advance(part.receive.address, part.receive.count * extent);
  }
  return kMpiSuccess;
}

int as_one_element(const Call& call, int (*bcast)(const Call&)) {
  constexpr MpiCount kRow = 1 << 30;
  const Data& data = call.receive;
  MpiAint lower = 0, extent = 0;
  if (const int error = mpi.Type_get_extent(data.type, &lower, &extent)) return error;
  MpiDatatype row, whole;
  const int lengths[] = {static_cast<int>(data.count / kRow), static_cast<int>(data.count % kRow)};
  const MpiAint places[] = {0, data.count / kRow * kRow * extent};
  mpi.Type_contiguous(kRow, data.type, one(row));
  HandleArray<MpiDatatype> parts(2, row);
  parts.set(1, data.type);
  mpi.Type_create_struct(2, lengths, places, parts.data(), one(whole));
  mpi.Type_commit(one(whole));
  Call whole_call = call;
  whole_call.receive = {data.address, 1, whole};
  const int error = bcast(whole_call);
  mpi.Type_free(one(whole));
  mpi.Type_free(one(row));
  return error;
}

int refuse_count(const Call& call) {
  mpi.Comm_call_errhandler(call.comm, kMpi.err_count);
  return kMpi.err_count;
}

}  // namespace sumac
