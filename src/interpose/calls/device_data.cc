// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/device_data.h"

#include "devices/where.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/check.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/own_memory.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool sends_elsewhere(const Call& call) {
  return !is_from_root(call.collective()) && call.send.address != kMpi.in_place;
}

int rank_in_comm(MpiComm comm) {
  int rank = 0;
  if (comm != kMpi.comm_null) mpi.Comm_rank(comm, &rank);
  return rank;
}

int size_of_comm(MpiComm comm) {
  int size = 0;
  if (comm != kMpi.comm_null) mpi.Comm_size(comm, &size);
  return size;
}

bool lists_blocks(const Call& call) {
  return is_all_to_all(call.collective()) && info_of(call.kind.function).lists;
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

// Returns the first part with data of a result that lists its parts.
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
  // A root below 0 belongs to a call between two groups.
  const bool gets = call.root < 0 || call.receives(rank_in_comm(call.comm));
  if (!(sends ? sends_elsewhere(call) : gets)) return {};
  if (lists_blocks(call)) return first_block(call, sends);
  if (info_of(call.kind.function).places && !sends) return first_part(call);
  Data data = sends ? call.send : call.receive;
  // The type and count of a reduction are those of its receive buffer.
  if (call.collective_info().reduces) data.type = call.receive.type;
  return data;
}

// Memory that Sumac has mapped for the program, or its MPI for all ranks of a node, is the host's
// as long as it lives, and Sumac sees its end.
DevicePlace ask(const void* address) {
  if (is_never_on_device(address) || lies_in_shared_memory(address)) return {};
  return place_of(address);
}

// Blocks of MPI_Alltoallw may be anywhere. Returns the place of the first one that is on a device.
DevicePlace place_of_blocks(const Call& call, bool sends) {
  const ExchangeSide side(call, sends);
  if (!side.is_given()) return {};
  for (int r = 0, ranks = size_of_comm(call.comm); r < ranks; ++r) {
    if (side.count(r) <= 0) continue;
    const Data block = side.block(r);
    if (block.type == kMpi.datatype_null) continue;
    const DevicePlace place = ask(first_byte(block));
    if (place.memory == MemoryKind::device) return place;
  }
  return {};
}

// Returns the first byte of one side of a call, or null.
const void* first_byte_of(const Call& call, bool sends) {
  const Data data = some_data(call, sends);
  return data.type == kMpi.datatype_null ? nullptr : first_byte(data);
}

// Returns the input of a reduction by a kernel, or null if that is in the receive buffer. The types
// are the MPI's own, so data begin at the address.
const void* plain_input(const Call& call) {
  return call.send.address == kMpi.in_place ? nullptr : call.send.address;
}

// Two buffers in one page are asked about once.
CallPlaces places_at(const void* send, const void* receive) {
  const DevicePlace received = ask(receive);
  const bool known = receive && are_in_one_page(send, receive);
  return {known ? received : ask(send), received};
}

// Returns false if an array is missing, which the MPI has to report.
bool has_its_lists(const Call& call) {
  if (lists_blocks(call)) {
    return ExchangeSide(call, false).is_given() && ExchangeSide(call, true).is_given();
  }
  const FunctionInfo& info = info_of(call.kind.function);
  return !info.lists || (call.counts && (call.displacements || !info.places));
}

// Says of a call that Sumac does not serve whether it may get host memory in the place of a GPU's.
bool may_be_staged(const Call& call, const Decision& decision) {
  if (decision.way == Decision::Way::refuse || decision.reason == Reason::arguments) return false;
  if (decision.reason == Reason::nested) return false;
  return !is_intercommunicator(call.comm) && has_its_lists(call);
}

void fill(const Call& call, DeviceBuffer& sent, DeviceBuffer& received) {
  const int rank = rank_in_comm(call.comm), ranks = size_of_comm(call.comm);
  DeviceBuffer& from = sends_elsewhere(call) ? sent : received;
  for (const Data& data : inputs_of(call, rank, ranks)) from.add(data, true, false);
  const bool is_local = call.kind.form == Form::local;  // MPI_Reduce_local, which reads both
  for (const Data& data : results_of(call, rank, ranks)) received.add(data, is_local, true);
}

}  // namespace

bool may_be_on_device(const Call& call, const Decision& decision) {
  if (decision.reduction && is_never_on_device(plain_input(call)) &&
      is_never_on_device(call.receive.address)) {
    return false;
  }
  return !find_runtimes().empty();
}

CallPlaces places_of(const Call& call) {
  if (!looks_at_buffers() || !call.collective_info().has_data) return {};
  if (find_runtimes().empty()) return {};
  if (call.kind.function == Function::alltoallw) {
    return {place_of_blocks(call, true), place_of_blocks(call, false)};
  }
  return places_at(first_byte_of(call, true), first_byte_of(call, false));
}

CallPlaces places_of(const Call& call, const Decision& decision) {
  return decision.reduction ? places_at(plain_input(call), call.receive.address) : places_of(call);
}

bool is_staged(const Call& call, const Decision& decision) {
  // The MPI serves a call whose trial has found it to be faster. A check reads the data.
  const bool is_mpis =
      decision.turn.route == Route::native && !(decision.around & Decision::kCheck);
  if (decision.is_served() ? !is_mpis : decision.reason == Reason::in_order) return true;
  if (!decision.is_served() && !may_be_staged(call, decision)) return false;
  if (!mpi_takes_devices()) return true;
  count_device_use(DeviceUse::native, 1);
  return false;
}

DeviceData::DeviceData(const Call& call, const CallPlaces& places) : moved_(call) {
  count_device_use(DeviceUse::calls, 1);
  const bool sends = places.send.memory == MemoryKind::device;
  const bool receives = places.receive.memory == MemoryKind::device;
  fill(call, sent_, received_);
  sent_.place(places.send);
  received_.place(places.receive);
  if (each_may_differ() && sends) sent_.find_places(true);
  if (each_may_differ() && receives) received_.find_places(true);
  if ((sends && !sent_.stage()) || (receives && !received_.stage())) {
    log_error("error[no-memory]: no host memory for a buffer on a GPU; ending the job");
    end_job(call.comm);
  }
  if (sends) moved_.send = moved(call.send, sent_.shift());
  if (receives) moved_.receive = moved(call.receive, received_.shift());
}

// A call that tries to go direct is not cut; a check reads its data; and another route may be the
// MPI's.
void DeviceData::copy_in_slices(const Decision& decision) {
  constexpr std::uint8_t kMayBe = Decision::kDirect | Decision::kTurn;
  const bool is_left = (decision.around & Decision::kTurn) && decision.turn.route == Route::native;
  const bool plain = (decision.around & ~kMayBe) == 0 && !decision.tries_direct && !is_left;
  in_slices_ = plain && slice_of(moved_, decision) > 0;
  if (in_slices_) moved_.copies = this;
}

// Returns true if the data of the call, which is about to begin, are copied slice by slice.
bool DeviceData::find_runs() {
  const bool in_place = is_from_root(moved_.collective()) || sent_.shift() == 0;
  input_ = in_place ? received_.run(false) : sent_.run(false);
  output_ = received_.run(true);
  const bool all = (sent_.shift() == 0 || input_.on_device) &&
                   (received_.shift() == 0 || input_.on_device || output_.on_device);
  if (!all) input_ = output_ = {};
  return all;
}

void DeviceData::begin_in(Part slice) {
  if (slice.bytes == 0) return;
  in_->begin(input_.on_host + slice.offset, input_.on_device + slice.offset, slice.bytes);
  count_device_use(DeviceUse::bytes_in, slice.bytes);
}

void DeviceData::before(Part slice, Part next) {
  if (!input_.on_device) return;
  if (slice.offset == 0) begin_in(slice);
  check(in_->finish(), "read from");
  begin_in(next);
}

void DeviceData::after(Part slice) {
  if (!output_.on_device || slice.bytes == 0) return;
  out_->begin(output_.on_device + slice.offset, output_.on_host + slice.offset, slice.bytes);
  count_device_use(DeviceUse::bytes_out, slice.bytes);
}

void DeviceData::load() {
  in_.reset();
  out_.reset();
  if (in_slices_ && find_runs()) {
    if (input_.on_device) in_.emplace(input_.place, Towards::host);
    if (output_.on_device) out_.emplace(output_.place, Towards::device);
    return;
  }
  if (sent_.shift() != 0) check(sent_.load(), "read from");
  if (received_.shift() != 0) check(received_.load(), "read from");
}

void DeviceData::load_again() {
  if (sent_.shift() != 0) sent_.find_places(each_may_differ());
  if (received_.shift() != 0) received_.find_places(each_may_differ());
  load();
}

void DeviceData::deliver() {
  if (out_) return check(out_->finish(), "write to");
  if (received_.shift() != 0) check(received_.deliver(), "write to");
}

void DeviceData::check(const DeviceError& error, const char* what) const {
  if (!error) return;
  log_error("error[device-copy]: cannot %s a GPU's memory in MPI_%s: %s; ending the job", what,
            moved_.collective_info().mpi_name, error.name().c_str());
  end_job(moved_.comm);
}

HostBuffers host_buffers_of(const Call& call) {
  HostBuffers buffers;
  if (!looks_at_buffers()) return buffers;
  buffers.first[1] = first_byte_of(call, true);
  buffers.first[0] = first_byte_of(call, false);
  return buffers;
}

void check_still_host(const HostBuffers& buffers, MpiComm comm) {
  if (!looks_at_buffers() || find_runtimes().empty()) return;
  if (!places_at(buffers.first[1], buffers.first[0]).on_device()) return;
  log_error(
      "error[device-changed]: a buffer of a persistent operation was in host memory when that "
      "was initialised, and is in a GPU's memory now; ending the job");
  end_job(comm);
}

}  // namespace sumac
