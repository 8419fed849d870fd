// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/call_text.h"

#include <cctype>

#include "interpose/calls/blocks.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

const char* name_of(Form form) {
  static constexpr const char* kNames[] = {"blocking", "nonblocking", "persistent", "local"};
  return kNames[static_cast<int>(form)];
}

std::string mpi_name(const CallKind& kind) {
  const bool nonblocking = kind.form == Form::nonblocking;
  std::string name = name_of(kind.function);
  if (!nonblocking) name[0] = static_cast<char>(std::toupper(name[0]));
  return (nonblocking ? "MPI_I" : "MPI_") + name + (kind.form == Form::persistent ? "_init" : "") +
         (kind.large ? "_c" : "");
}

std::string name_of_communicator(const Communicator& c) {
  char name[kMostName] = "";
  int length = 0;
  const bool freed = c.handle.load(std::memory_order_relaxed) == 0;
  if (!freed) mpi.Comm_get_name(c.comm, name, &length);
  return length > 0 ? name : "a communicator";
}

std::string name_of_type(DType element, MpiDatatype type) {
  if (element != DType::none) return name_of(element);
  char name[kMostName] = "";
  int length = 0;
  if (type != kMpi.datatype_null) mpi.Type_get_name(type, name, &length);
  return length > 0 ? name : "derived";
}

CallSize size_of_data(MpiDatatype type, MpiCount count) {
  std::size_t element = 0;
  if (count < 0 || !packed_size(type, element)) return {type, 0, 0};
  const auto elements = static_cast<std::uint64_t>(count);
  return {type, elements, elements * element};
}

namespace {

CallSize size_of_exchange(const Call& call, int ranks) {
  const ExchangeSide side(call, false);
  CallSize all{side.data().type, 0, 0};
  if (!side.is_given()) return all;
  for (int r = 0; r < ranks; ++r) {
    const MpiCount count = side.count(r);
    if (count <= 0) continue;
    const CallSize block = size_of_data(side.type(r), count);
    all.type = block.type;
    all.count += block.count;
    all.bytes += block.bytes;
  }
  return all;
}

}  // namespace

CallSize size_of(const Call& call, int ranks) {
  if (!call.collective_info().has_data) return {};
  if (!has_parts(call.kind.function)) return size_of_data(call.receive.type, call.receive.count);
  if (ranks == 0) return {call.receive.type, 0, 0};
  if (is_all_to_all(call.collective())) return size_of_exchange(call, ranks);
  MpiCount elements = 0;
  const bool valid = Blocks(call, ranks).total(elements);
  return size_of_data(call.receive.type, valid ? elements : 0);
}

}  // namespace sumac
