// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective as the program made it, whatever its form and whoever will serve it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "base/collectives.h"

namespace sumac {

enum class Form : std::uint8_t {
  blocking,
  nonblocking,
  persistent,
  local,  // in this process alone, on no communicator: MPI_Reduce_local
};

// What a collective is called by, apart from the form: each function has arguments of its own. Two
// functions may be the same collective. These are the rows of calls.def.
enum class Function : std::uint8_t {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) function,
#include "interpose/calls.def"
#undef SUMAC_CALL
};

struct FunctionInfo {
  const char* name;  // "reduce_scatter_block"
  Function function;
  Collective collective;
  std::string_view arguments;  // a letter for each, as calls.def says

  // True where a call lists a count for each rank.
  constexpr bool lists() const { return arguments.find('C') != std::string_view::npos; }
};

inline constexpr FunctionInfo kFunctions[] = {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) \
  {#function, Function::function, Collective::collective, arguments},
#include "interpose/calls.def"
#undef SUMAC_CALL
};

constexpr const FunctionInfo& info_of(Function function) {
  return kFunctions[static_cast<int>(function)];
}
constexpr const char* name_of(Function function) { return info_of(function).name; }
constexpr Collective collective_of(Function function) { return info_of(function).collective; }

// The first function with the same arguments.
constexpr Function first_like(Function function) {
  const FunctionInfo* row = kFunctions;
  while (row->arguments != info_of(function).arguments) ++row;
  return row->function;
}

// True when the function has a part for each rank, so that its counts are those of parts.
constexpr bool has_parts(Function function) { return has_parts(collective_of(function)); }

struct Call;

// A row of calls.def for a collective.
struct CallKind {
  Function function;
  Collective collective;
  Form form;
  bool large;                 // counts are MPI_Count, else int
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
  Data send = {};     // what this rank gives, or MPI_IN_PLACE; of broadcasts nothing
  Data receive = {};  // reductions: the result; broadcasts: the buffer, the root's too
  // One count a rank, in place of receive.count, and displacements: int and int, or MPI_Count and
  // MPI_Aint. See Blocks and ExchangeSide.
  const void* counts = nullptr;
  const void* displacements = nullptr;
  const MPI_Datatype* types = nullptr;  // one a rank, in place of receive.type
  // The same for `send`.
  const void* send_counts = nullptr;
  const void* send_displacements = nullptr;
  const MPI_Datatype* send_types = nullptr;
  MPI_Op op = MPI_OP_NULL;
  int root = kNoRoot;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Request* request = nullptr;  // where a deferred call leaves its request

  Collective collective() const { return kind.collective; }
  // True for nonblocking and persistent calls, which return before the collective has ended.
  bool is_deferred() const {
    return kind.form == Form::nonblocking || kind.form == Form::persistent;
  }
};

}  // namespace sumac
