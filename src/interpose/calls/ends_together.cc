// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/decide.h"

#include "interpose/calls/blocks.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

// Returns true if every rank has a part of its own that is not empty.
bool all_have_parts(const Call& call) {
  if (is_intercommunicator(call.comm) || !call.counts) return false;
  int ranks = 0;
  mpi.Comm_size(call.comm, &ranks);
  const Blocks blocks(call, ranks);
  for (int r = 0; r < ranks; ++r) {
    if (blocks.count(r) <= 0) return false;
  }
  return true;
}

// Returns the bytes that this rank has got in an all-to-all whose blocks have counts of their own.
std::size_t bytes_from_all(const Call& call) {
  if (is_intercommunicator(call.comm)) return 0;
  int ranks = 0;
  mpi.Comm_size(call.comm, &ranks);
  const ExchangeSide received(call, false);
  std::size_t bytes = 0;
  for (int r = 0; r < ranks && received.is_given(); ++r) {
    if (received.count(r) > 0) bytes += received.bytes(r);
  }
  return bytes;
}

// Returns true if this rank has got data from every other one in an all-to-all whose blocks have
// counts of their own.
bool has_data_of_all(const Call& call) {
  if (is_intercommunicator(call.comm)) return false;
  int rank = 0, ranks = 0;
  mpi.Comm_rank(call.comm, &rank);
  mpi.Comm_size(call.comm, &ranks);
  const ExchangeSide received(call, false);
  if (!received.is_given()) return false;
  for (int r = 0; r < ranks; ++r) {
    if (r != rank && (received.count(r) <= 0 || received.bytes(r) == 0)) return false;
  }
  return true;
}

}  // namespace

bool ends_together(const Call& call) {
  if (call.kind.form != Form::blocking) return false;
  const CollectiveInfo& info = call.collective_info();
  if (!info.has_data) return true;
  const bool from_all = info.result == Result::all || info.divided != Divided::whole;
  if (info.has_root || !from_all || !info.is_sized) return false;
  if (info_of(call.kind.function).lists ? !all_have_parts(call) : call.receive.count <= 0)
    return false;
  std::size_t element = 0;
  return packed_size(call.receive.type, element) && element > 0;
}

std::uint64_t weight_of(const Call& call, Others others) {
  if (is_asked(others)) return 1 + bytes_from_all(call) / 1024;
  std::size_t element = 0;
  const bool is_shared =
      may_wait(others) && call.collective_info().has_data && !info_of(call.kind.function).lists;
  if (!is_shared || !packed_size(call.receive.type, element)) return 1;
  return 1 + element * static_cast<std::size_t>(call.receive.count) / 1024;
}

Others others_of(const Call& call, int error) {
  if (call.is_deferred()) return Others::may_be_late;
  const bool worked = error == kMpiSuccess;
  if (ends_together(call)) return worked ? Others::have_come : Others::will_come;
  if (call.collective_info().is_sized) return Others::may_be_late;
  return worked && has_data_of_all(call) ? Others::heard_of : Others::not_heard_of;
}

}  // namespace sumac
