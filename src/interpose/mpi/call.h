// SPDX-License-Identifier: BSD-3-Clause
// This is one call of a collective as the program made it, whatever its form and whoever will serve
// it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/algorithm.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

enum class Form : std::uint8_t {
  blocking,
  nonblocking,
  persistent,
  local,  // the call is in this process alone, on no communicator: MPI_Reduce_local
};

// A collective is called by functions, which have arguments of their own; two functions may be the
// same collective. They are the rows of calls.def, each of which exists in several forms. The first
// are those that Sumac serves.
enum class Function : std::uint8_t {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) function,
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) function,
#include "interpose/calls.def"
#undef SUMAC_CALL
};

// The arguments of each function have a letter each, as calls.def says.
inline constexpr std::string_view kLetters[] = {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) arguments,
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) arguments,
#include "interpose/calls.def"
#undef SUMAC_CALL
};
constexpr bool has_argument(Function function, char letter) {
  return kLetters[static_cast<int>(function)].find(letter) != std::string_view::npos;
}

// This is a function that Sumac serves.
struct FunctionInfo {
  const char* name;  // "reduce_scatter_block"
  Function function;
  Collective collective;
  bool lists = has_argument(function, 'C');   // a call lists a count for each rank
  bool places = has_argument(function, 'D');  // and a displacement
};

inline constexpr FunctionInfo kFunctions[] = {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) \
  {#function, Function::function, Collective::collective},
#include "interpose/calls.def"
#undef SUMAC_CALL
};

constexpr const FunctionInfo& info_of(Function function) {
  return kFunctions[static_cast<int>(function)];
}
constexpr const char* name_of(Function function) { return info_of(function).name; }
constexpr Collective collective_of(Function function) { return info_of(function).collective; }

// Returns the first function with the same arguments.
constexpr Function first_like(Function function) {
  int first = 0;
  while (kLetters[first] != kLetters[static_cast<int>(function)]) ++first;
  return static_cast<Function>(first);
}

// Returns true if the function has a part for each rank, so that its counts are those of parts.
constexpr bool has_parts(Function function) { return has_parts(collective_of(function)); }

struct Call;

// This is a row of calls.def for a collective that Sumac serves.
struct CallKind {
  Function function;
  const CollectiveInfo& info;
  Form form;
  bool large;                 // counts are MPI_Count, otherwise int
  int (*below)(const Call&);  // the MPI's own function, see call_below.h
};

// This describes elements as the program does.
struct Data {
  void* address = nullptr;
  MpiCount count = 0;
  MpiDatatype type = kMpi.datatype_null;
};

inline constexpr int kNoRoot = -1;

class SliceCopies;

// This is what the arguments of a collective's function say.
struct MpiArguments {
  Data send = {};     // data of this rank, or MPI_IN_PLACE; empty for a broadcast
  Data receive = {};  // reductions: the result; broadcasts: the buffer, on the root too
  // These have one count for each rank, in place of receive.count, and displacements: int and int,
  // or MPI_Count and MPI_Aint. See Blocks and ExchangeSide.
  const void* counts = nullptr;
  const void* displacements = nullptr;
  DatatypePointer types = nullptr;  // one for each rank, in place of receive.type
  // These are the same for `send`.
  const void* send_counts = nullptr;
  const void* send_displacements = nullptr;
  DatatypePointer send_types = nullptr;
  MpiOp op = kMpi.op_null;
  int root = kNoRoot;
  MpiComm comm = kMpi.comm_null;
  MpiInfo info = kMpi.info_null;
  RequestPointer request = nullptr;  // a deferred call leaves its request here
};

struct Call : MpiArguments {
  const CallKind& kind;
  SliceCopies* copies = nullptr;  // host memory is in the place of a GPU's: see DeviceData

  explicit Call(const CallKind& of) : kind(of) {}

  const CollectiveInfo& collective_info() const { return kind.info; }
  Collective collective() const { return kind.info.collective; }
  // Returns false if a receive buffer means nothing here, since the root alone gets a result. It
  // stands here and is no gets_result(), because each reduction asks.
  bool receives(int rank) const { return kind.info.result != Result::root || rank == root; }
  // Returns true for nonblocking and persistent calls, which return before the collective has
  // ended.
  bool is_deferred() const {
    return kind.form == Form::nonblocking || kind.form == Form::persistent;
  }
};

// These functions serve calls of more elements than an int can count, if the MPI has int counts
// only.

// Serves a reduction part by part; `part` is the MPI's function with int counts.
int in_parts(const Call& reduction, int (*part)(const Call&));
// Serves a broadcast as one element of a type made for it.
int as_one_element(const Call& bcast, int (*whole)(const Call&));
// Refuses a call that without Sumac only an MPI with large counts could serve.
int refuse_count(const Call& call);

}  // namespace sumac
