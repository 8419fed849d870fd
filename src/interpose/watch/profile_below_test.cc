// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/profile_below_test.h"

#include <algorithm>
#include <memory>

#include "interpose/calls/perform.h"
#include "interpose/mpi/fake_requests_test.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/process/members.h"
#include "interpose/requests/events.h"
#include "interpose/watch/profile.h"

namespace sumac {
namespace {

constexpr std::uintptr_t kFirstComm = 0x10000, kFirstType = 0x20000;
constexpr std::size_t kSizes[kTypes] = {4, 8, 24};  // the last one is a derived type's
unsigned drawn = 0;

// The last communicator cannot be watched.
constexpr std::size_t kUnwatched = kComms - 1;

std::size_t index_of(MpiDatatype type) { return type.bits - kFirstType; }

}  // namespace

int AroundProfile::number_of(std::size_t comm) const {
  const auto found = std::ranges::find(known, comm);
  return found == known.end() ? -1 : static_cast<int>(found - known.begin());
}

MpiComm comm_at(std::size_t number) { return {kFirstComm + number}; }
MpiDatatype type_at(std::size_t number) { return {kFirstType + number}; }
std::size_t size_of_type(MpiDatatype type) { return kSizes[index_of(type)]; }
std::string name_in_file(MpiDatatype type) {
  const std::size_t index = index_of(type);
  return index == 0 ? "int32" : index == 1 ? "double" : "mine of 24 bytes";
}

int call_below(const Call& call) {
  const int error = around_profile.error;
  if (std::exchange(around_profile.nests, false)) {
    around_profile.error = kMpiSuccess;
    serve_profiled(call, nullptr);
    around_profile.error = error;
  }
  if (error != kMpiSuccess || !call.is_deferred()) return error;
  FakeRequest made;
  made.polls = static_cast<int>(++drawn * 7 % 5);
  made.persistent = call.kind.form == Form::persistent;
  made.active = !made.persistent;
  made.error = drawn % 6 == 0 ? kMpi.err_other : kMpiSuccess;
  call.request.set(fake_requests.add(made));
  return kMpiSuccess;
}

void begin_profile(unsigned seed, const char* folder) {
  drawn = seed;
  options = {};
  options.profile = folder;
  fake_requests.begin(seed, mpi);
  mpi.Comm_rank = [](MpiComm, int* rank) { return *rank = kOwnRank, kMpiSuccess; };
  mpi.Comm_size = [](MpiComm, int* size) { return *size = 5, kMpiSuccess; };
  mpi.Comm_test_inter = [](MpiComm, int* inter) { return *inter = 0, kMpiSuccess; };
  mpi.Pack = [](const void*, int, MpiDatatype, void*, int, int*, MpiComm) {
    return around_profile.error;
  };
  mpi.Unpack = [](const void*, int, int*, void*, int, MpiDatatype, MpiComm) {
    return around_profile.error;
  };
  read_profile_option();
  serve_requests(nullptr, in_front);
  redirect_profiled_packing({});
}

Communicator* find_or_remember(MpiComm comm) {
  static auto* all = new std::unique_ptr<Communicator>[kComms];
  const std::size_t number = comm.bits - kFirstComm;
  if (number == kUnwatched) return nullptr;
  if (!all[number]) {
    all[number] = std::make_unique<Communicator>();
    all[number]->comm = comm;
    around_profile.known.push_back(number);
  }
  return all[number].get();
}
// Ranks agree on a name after some calls.
void count_call(MpiComm comm, std::uint64_t more, Others, std::uint64_t) {
  Communicator& c = *find_or_remember(comm);
  c.calls += more;
  if (c.calls > 3) c.trace_group = comm.bits;
}

bool world_is_up() { return true; }
bool called_from_within() { return true; }
std::string library_version() { return "a fake"; }
std::vector<int> world_ranks(MpiComm, int) { return {1, 2}; }
ClockOffset measure_clock_offset(MpiComm) { return {}; }
bool ends_together(const Call&) { return true; }
bool was_made(int error) { return error == kMpiSuccess || error == kMpi.err_truncate; }

std::string name_of_communicator(const Communicator&) { return "a communicator"; }
const char* name_of(Form form) {
  constexpr const char* kNames[] = {"blocking", "nonblocking", "persistent", "local"};
  return kNames[static_cast<int>(form)];
}
std::string name_of_type(DType, MpiDatatype type) {
  const std::string name = name_in_file(type);
  return name.substr(0, name.find(' '));
}
CallSize size_of(const Call& call, int) {
  const auto count = static_cast<std::uint64_t>(call.receive.count);
  return {call.receive.type, count, count * size_of_type(call.receive.type)};
}
bool packed_size(MpiDatatype type, std::size_t& bytes) {
  bytes = size_of_type(type);
  return true;
}
const TypeInfo* find_known_type(MpiDatatype type) {
  static const TypeInfo kKnown;
  return index_of(type) < kTypes - 1 ? &kKnown : nullptr;
}
const TypeInfo* find_type(MpiDatatype) { return nullptr; }
const TypeInfo* find_hinted_type(MpiDatatype) { return nullptr; }
const Op* find_op(MpiOp op) {
  static const Op kSum = Op::sum;
  return op == kMpi.sum ? &kSum : nullptr;
}
const Op* find_told_op(MpiOp) { return nullptr; }
void put_packing_in_front(const sumac_stub&) {}

}  // namespace sumac
