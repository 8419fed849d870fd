// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective as the program made it, whatever its form and whoever will serve it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/collectives.h"

namespace sumac {

enum class Form : std::uint8_t {
  blocking,
  nonblocking,
  persistent,
  local,  // in this process alone, on no communicator: MPI_Reduce_local
};

struct Call;

// A row of calls.def that is a collective's.
struct CallKind {
  Collective collective;
  Form form;
  int (*below)(const Call&);  // the MPI's own function, see below.h
};

// Elements as the program describes them.
struct Data {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

inline constexpr int kNoRoot = -1;

struct Call {
  const CallKind& kind;
  Data send = {};     // reductions: what this rank gives, or MPI_IN_PLACE
  Data receive = {};  // reductions: the result; broadcasts: the buffer, the root's too
  MPI_Op op = MPI_OP_NULL;
  int root = kNoRoot;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Request* request = nullptr;  // where a deferred call leaves its request

  Collective collective() const { return kind.collective; }
  // Nonblocking or persistent: the call returns before the collective has ended.
  bool is_deferred() const {
    return kind.form == Form::nonblocking || kind.form == Form::persistent;
  }
};

// Whether the call ends on no rank before all have made it.
inline bool ends_together(const Call& call) {
  if (call.collective() == Collective::barrier) return true;
  return call.collective() == Collective::allreduce && call.receive.count > 0;
}

}  // namespace sumac
