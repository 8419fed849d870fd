// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "interpose/calls/blocks.h"
#include "interpose/calls/check.h"
#include "interpose/calls/exchange.h"
#include "interpose/calls/ordered_calls.h"
#include "interpose/calls/settled_test.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/mpi/world.h"
#include "interpose/process/meeting.h"
#include "interpose/process/own_memory.h"

namespace sumac {
namespace {

AttributeEnd end_of_type = nullptr, end_of_communicator = nullptr;
std::map<std::uintptr_t, bool> watched_types;
std::map<std::uintptr_t, void*> attributes;  // the key is a communicator

// The table has no other functions. It is constant-initialised, hence there by now.
[[maybe_unused]] const bool has_functions = [] {
  mpi.Comm_set_attr = [](MpiComm comm, int, void* attribute) {
    attributes[comm.bits] = attribute;
    return kMpiSuccess;
  };
  mpi.Type_set_attr = [](MpiDatatype type, int, void*) {
    watched_types[type.bits] = true;
    return kMpiSuccess;
  };
  mpi.Comm_free_keyval = mpi.Type_free_keyval = [](int*) { return kMpiSuccess; };
  return true;
}();

}  // namespace

std::uint64_t results_checked = 0;

Family family() { return around_decide.family; }
bool world_is_up() { return around_decide.has_world; }
bool promotes() { return around_decide.promotes; }
void tend_own_memory() {}
bool called_from_within() { return false; }
int check_type(MpiDatatype, MpiComm) { return kMpiSuccess; }
// The ranks compare their options, and set up once enough calls have been made.
void set_up(Communicator& c, Others others) {
  if (others == Others::not_heard_of) {
    ++around_decide.declined;
    return;
  }
  ++around_decide.meetings;
  around_decide.others = others;
  const bool takes_up = c.known && !is_asked(others) && around_decide.has_idle;
  if (takes_up || has_calls_enough(c, others)) c.state = Communicator::State::together;
}
KnownGroup* known_group_of(Communicator&) {
  static KnownGroup group{Board(nullptr, 2, 0)};
  if (!around_decide.have_met) return nullptr;
  group.weight = 0;
  return &group;
}
void end_declined(const Communicator*) {}
bool needs_no_others(Communicator& c) {
  if (around_decide.alone) c.state = Communicator::State::alone;
  return around_decide.alone;
}

// One rank stands for all. The second communicator is told the times of the first one's agreements,
// as its own ones differ.
void MpiOob::all_max(std::uint64_t* words, std::size_t count) {
  static auto* told = new std::deque<std::uint64_t>;
  const bool tells = communicator_.handle == kKeeps;
  for (std::size_t i = 0; i < count; ++i) {
    if (tells) told->push_back(words[i]);
    if (tells || told->empty()) continue;
    words[i] = told->front();
    told->pop_front();
  }
}

// These judge what has been decided before.
bool takes_check(const Call&, const Decision& decision) {
  return ++decision.communicator->checkable % results_checked == 0;
}
void decide_user_reduction(const Call&, Decision& decision) {
  decision.by_user = true;
  decision.way = Decision::Way::serve;
}
Decision keep_order(const Call&, const Decision& decision) { return decision; }

// The tests make reductions only.
bool Blocks::total(MpiCount&) const { return false; }
Data own_data(const Call&, int, int) { return {}; }
bool ExchangeSide::is_given() const { return false; }
MpiCount ExchangeSide::count(int) const { return 0; }
MpiDatatype ExchangeSide::type(int) const { return kMpi.datatype_null; }
std::size_t ExchangeSide::bytes(int) const { return 0; }

TypeInfo known_type(DType dtype) {
  TypeInfo info;
  info.extent = info.size = size_of(dtype);
  info.dtype = dtype;
  info.operations = kArithmetic | kLogical | kBitwise | kLocation;
  if (dtype == DType::i16_i32 || dtype == DType::f64_i32) info.size -= sizeof(std::int16_t);
  return info;
}

const TypeInfo* find_known_type(MpiDatatype type) {
  static const auto* types = [] {
    auto* made = new std::vector<TypeInfo>;
    for (int i = 0; i < kNumDTypes; ++i) made->push_back(known_type(static_cast<DType>(i)));
    return made;
  }();
  const std::uintptr_t number = type.bits - kTypes;
  return number < types->size() ? &(*types)[number] : nullptr;
}
const TypeInfo* find_type(MpiDatatype type) { return find_known_type(type); }
const Op* find_op(MpiOp op) {
  static const auto* ops = [] {
    auto* made = new std::vector<Op>;
    for (int i = 0; i <= kNumOps; ++i) made->push_back(static_cast<Op>(i));
    return made;
  }();
  const std::uintptr_t number = op.bits - kOps;
  return number < ops->size() ? &(*ops)[number] : nullptr;
}
ReduceFn find_kernel(const TypeInfo& type, Op op, bool) {
  return is_defined(op, type.dtype) ? find_reduce(op, type.dtype) : nullptr;
}
bool packed_size(MpiDatatype type, std::size_t& bytes) {
  const TypeInfo* info = find_any_type(type);
  if (info) bytes = info->size;
  return info;
}
bool lies_packed(MpiDatatype type) {
  const TypeInfo* info = find_any_type(type);
  return info && !info->has_gaps();
}

int create_comm_keyval(AttributeEnd ended, int*) {
  end_of_communicator = ended;
  return kMpiSuccess;
}
int create_type_keyval(AttributeEnd ended, int*) {
  end_of_type = ended;
  return kMpiSuccess;
}
void free_type(std::uintptr_t handle) {
  if (watched_types.erase(handle)) end_of_type(handle, nullptr);
}
void free_communicator(std::uintptr_t handle) {
  const auto found = attributes.find(handle);
  if (found == attributes.end()) return;
  end_of_communicator(handle, found->second);
  attributes.erase(found);
}

}  // namespace sumac
