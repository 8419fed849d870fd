// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/call_text.h"

#include <cctype>

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

}  // namespace sumac
