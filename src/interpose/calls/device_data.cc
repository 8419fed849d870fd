// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/device_data.h"

#include "devices/copies.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/check.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool sends_elsewhere(const Call& call) {
  return call.collective() != Collective::bcast && call.send.address != kMpi.in_place;
}

int size_of_comm(MpiComm comm) {
  int size = 0;
  if (comm != kMpi.comm_null) mpi.Comm_size(comm, &size);
  return size;
}

bool lists_blocks(const Call& call) {
  return call.kind.function == Function::alltoallv || call.kind.function == Function::alltoallw;
}

// Returns the first block with data on one side of a call that lists blocks; no data if there is
// none.
Data first_block(const Call& call, bool sends) {
  const ExchangeSide side(call, sends);
  if (!side.is_given()) return {};
  for (int r = 0, ranks = size_of_comm(call.comm); r < ranks; ++r) {
    if (side.count(r) > 0) return side.block(r);
  }
  return {};
}

// Returns the first part with data of the result of an MPI_Allgatherv.
Data first_part(const Call& call) {
  if (!call.counts || !call.displacements || call.receive.type == kMpi.datatype_null) return {};
  const int ranks = size_of_comm(call.comm);
  const Blocks blocks(call, ranks);
  MpiAint lower = 0, extent = 0;
  mpi.Type_get_extent(call.receive.type, &lower, &extent);
  for (int r = 0; r < ranks; ++r) {
    if (blocks.count(r) <= 0) continue;
    return moved({call.receive.address, 1, call.receive.type}, blocks.place(r) * extent);
  }
  return {};
}

// Returns data of one side of a call, if it has any: that they are on a device says that all are.
Data some_data(const Call& call, bool sends) {
  if (sends && !sends_elsewhere(call)) return {};
  if (lists_blocks(call)) return first_block(call, sends);
  if (call.kind.function == Function::allgatherv && !sends) return first_part(call);
  Data data = sends ? call.send : call.receive;
  // The type and count of a reduction are those of its receive buffer.
  if (info_of(call.collective()).reduces) data.type = call.receive.type;
  return data;
}

// Blocks of MPI_Alltoallw may be anywhere.
bool has_block_on_device(const Call& call, bool sends) {
  const ExchangeSide side(call, sends);
  if (!side.is_given()) return false;
  for (int r = 0, ranks = size_of_comm(call.comm); r < ranks; ++r) {
    if (side.count(r) > 0 && is_on_device(side.block(r))) return true;
  }
  return false;
}

bool is_side_on_device(const Call& call, bool sends) {
  if (call.kind.function == Function::alltoallw) return has_block_on_device(call, sends);
  return is_on_device(some_data(call, sends));
}

// Returns false if an array is missing, which the MPI has to report.
bool has_its_lists(const Call& call) {
  if (lists_blocks(call)) {
    return ExchangeSide(call, false).is_given() && ExchangeSide(call, true).is_given();
  }
  const bool gathers = call.kind.function == Function::allgatherv;
  return !info_of(call.kind.function).lists() || (call.counts && (!gathers || call.displacements));
}

bool is_intercommunicator(MpiComm comm) {
  int inter = 0;
  if (comm != kMpi.comm_null) mpi.Comm_test_inter(comm, &inter);
  return inter != 0;
}

void fill(const Call& call, DeviceBuffer& sent, DeviceBuffer& received) {
  int rank = 0;
  const int ranks = size_of_comm(call.comm);
  if (call.comm != kMpi.comm_null) mpi.Comm_rank(call.comm, &rank);
  DeviceBuffer& from = sends_elsewhere(call) ? sent : received;
  for (const Data& data : inputs_of(call, rank, ranks)) from.add(data, true, false);
  const bool is_local = call.kind.form == Form::local;  // MPI_Reduce_local, which reads both
  for (const Data& data : results_of(call, rank, ranks)) received.add(data, is_local, true);
}

}  // namespace

bool is_device_call(const Call& call) {
  if (!looks_at_buffers() || !info_of(call.collective()).has_data || !find_driver()) return false;
  return is_side_on_device(call, true) || is_side_on_device(call, false);
}

bool is_staged_call(const Call& call, const Decision& decision) {
  // The types of a reduction by a kernel are the MPI's own, so data begin at the address.
  const bool plain = decision.reduction != nullptr;
  const bool sends = call.send.address != kMpi.in_place && !is_never_on_device(call.send.address);
  const bool receives = !is_never_on_device(call.receive.address);
  if ((plain && !sends && !receives) || !find_driver()) return false;
  const bool is_so = plain ? (sends && is_asked_on_device(call.send.address)) ||
                                 (receives && is_asked_on_device(call.receive.address))
                           : is_device_call(call);
  return is_so && is_staged(call, decision);
}

bool is_staged(const Call& call, const Decision& decision) {
  if (decision.is_served() || decision.reason == Reason::in_order) return true;
  if (decision.way == Decision::Way::refuse || decision.reason == Reason::arguments) return false;
  if (decision.reason == Reason::nested) return false;
  if (is_intercommunicator(call.comm) || !has_its_lists(call)) return false;
  if (!mpi_takes_devices()) return true;
  count_device_use(DeviceUse::native, 1);
  return false;
}

DeviceData::DeviceData(const Call& call) : moved_(call) {
  count_device_use(DeviceUse::calls, 1);
  const bool sends = is_side_on_device(call, true), receives = is_side_on_device(call, false);
  fill(call, sent_, received_);
  if ((sends && !sent_.stage()) || (receives && !received_.stage())) {
    log_here("error[no-memory]: no host memory for a buffer on a GPU; ending the job");
    end_job(call.comm);
  }
  if (sends) moved_.send = moved(call.send, sent_.shift());
  if (receives) moved_.receive = moved(call.receive, received_.shift());
}

void DeviceData::load() {
  if (sent_.shift() != 0) check(sent_.load(), "read from");
  if (received_.shift() != 0) check(received_.load(), "read from");
}

void DeviceData::deliver() {
  if (received_.shift() != 0) check(received_.deliver(), "write to");
}

void DeviceData::check(int error, const char* what) const {
  if (error == kCudaSuccess) return;
  log_here("error[device-copy]: cannot %s a GPU's memory in MPI_%s: %s; ending the job", what,
           info_of(moved_.collective()).mpi_name, name_of_device_error(error));
  end_job(moved_.comm);
}

HostBuffers host_buffers_of(const Call& call) {
  HostBuffers buffers;
  if (!looks_at_buffers()) return buffers;
  int rank = 0;
  mpi.Comm_rank(call.comm, &rank);
  const bool is_given = !info_of(call.collective()).reduces || call.root < 0 || call.root == rank;
  for (const bool sends : {false, true}) {
    const Data data = sends || is_given ? some_data(call, sends) : Data();
    if (data.type != kMpi.datatype_null) buffers.first[sends] = first_byte(data);
  }
  return buffers;
}

void check_still_host(const HostBuffers& buffers, MpiComm comm) {
  for (const void* first : buffers.first) {
    if (!is_on_device(first)) continue;
    log_here(
        "error[device-changed]: a buffer of a persistent operation was in host memory when that "
        "was initialised, and is in a GPU's memory now; ending the job");
    end_job(comm);
  }
}

}  // namespace sumac
