// SPDX-License-Identifier: BSD-3-Clause
// The text of a call's arguments in a record. Arguments that MPI does not look at are left out:
// they may be anything.
#include "interpose/calls/blocks.h"
#include "interpose/calls/call_text.h"
#include "interpose/calls/exchange.h"
#include "interpose/record/recorder.h"

namespace sumac {
namespace {

// Places count from there, so that records do not tell where programs lie.
constexpr std::uintptr_t kBaseAlignment = std::uintptr_t{1} << 21;

template <class Number>
void add_number(std::string& text, const char* name, Number number) {
  text += ' ';
  text += name;
  text += '=';
  text += std::to_string(number);
}

// ` name=1,2,3` of `count` values.
template <class Value>
void add_list(std::string& text, const char* name, int count, Value value) {
  text += ' ';
  text += name;
  for (int r = 0; r < count; ++r) {
    text += r == 0 ? '=' : ',';
    text += std::to_string(value(r));
  }
}

bool sends_apart(Function function) {
  return function >= Function::allgather && function <= Function::alltoallw;
}

}  // namespace

std::string Recorder::place_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  if (base_ == 0 && bits) base_ = bits & ~(kBaseAlignment - 1);
  return std::to_string(static_cast<std::intptr_t>(bits - base_));
}

// ` s=PLACE,COUNT,TYPE`, the place `=` for MPI_IN_PLACE.
std::string Recorder::side_of(const char* name, const Data& data, bool in_place) {
  std::string text = std::string(" ") + name + '=';
  if (in_place) return text + '=';
  const bool typed = data.type != MPI_DATATYPE_NULL;
  return text + place_of(data.address) + ',' + std::to_string(data.count) + ',' +
         (typed ? std::to_string(definitions_.type(data.type)) : "-");
}

std::string Recorder::lists_of(const Call& call, bool sends, int ranks) {
  std::string text;
  const ExchangeSide side(call, sends);
  if (call.kind.function == Function::alltoallv || call.kind.function == Function::alltoallw) {
    add_list(text, sends ? "sn" : "rn", ranks, [&](int r) { return side.count(r); });
    add_list(text, sends ? "sd" : "rd", ranks, [&](int r) { return side.place(r); });
  }
  if (call.kind.function == Function::alltoallw) {
    const MPI_Datatype* const types = sends ? call.send_types : call.types;
    add_list(text, sends ? "st" : "rt", ranks, [&](int r) { return definitions_.type(types[r]); });
  }
  return text;
}

std::string Recorder::shape_of(const Call& call) {
  const Function function = call.kind.function;
  const Definitions::Comm& comm = definitions_.communicator(call.comm);
  std::string text = std::string(name_of(function)) + ' ' + name_of(call.kind.form);
  if (call.kind.large) text += " large";
  add_number(text, "c", comm.number);
  if (comm.is_inter) return text;
  if (call.root != kNoRoot) add_number(text, "root", call.root);
  if (call.op != MPI_OP_NULL) add_number(text, "op", definitions_.operation(call.op));
  if (function == Function::barrier) return text;
  const bool in_place = call.send.address == MPI_IN_PLACE;
  if (function != Function::bcast) {
    const Data& send = sends_apart(function) ? call.send : call.receive;
    text += side_of("s", {call.send.address, send.count, send.type}, in_place);
    if (!in_place && sends_apart(function)) text += lists_of(call, true, comm.size);
  }
  const bool gets = function != Function::reduce || comm.rank == call.root;
  if (gets) text += side_of("r", call.receive, false);
  if (function == Function::reduce_scatter || function == Function::allgatherv) {
    const Blocks blocks(call, comm.size);
    add_list(text, "rn", comm.size, [&](int r) { return blocks.count(r); });
    if (function == Function::allgatherv) {
      add_list(text, "rd", comm.size, [&](int r) { return blocks.place(r); });
    }
  }
  if (sends_apart(function)) text += lists_of(call, false, comm.size);
  return text;
}

}  // namespace sumac
