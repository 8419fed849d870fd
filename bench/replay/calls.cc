// SPDX-License-Identifier: BSD-3-Clause
#include "calls.h"

#include <dlfcn.h>

#include <iterator>
#include <string>

#include "interpose/mpi/signatures.h"
#include "presence.h"
#include "sumac/sumac.h"

namespace sumac::replay {
namespace {

template <Function function, Form form, class Count>
int make_by(void* address, const Call& call) {
  const auto make = reinterpret_cast<MpiFunction<function, form, Count>>(address);
  return std::apply(
      make, std::tuple_cat(Signature<function, Count>::write(call), Ending<form>::write(call)));
}

struct Row {
  CallKind kind;
  const char* name;
  int (*make)(void*, const Call&);
};

#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count)                     \
  Row{{Function::function, collective_of(Function::function), Form::form, \
       std::is_same_v<count, MPI_Count>, nullptr},                        \
      "MPI_" #name,                                                       \
      make_by<Function::function, Form::form, count>},
const Row kRows[] = {
#include "interpose/calls.def"
};
#undef SUMAC_CALL

void* loaded(const std::string& name) { return dlsym(RTLD_DEFAULT, name.c_str()); }

// Open MPI 4 has persistent collectives under this name.
void* before_mpi_4(const std::string& name) { return loaded("MPIX" + name.substr(3)); }

void* native(const std::string& name) {
  if (!bench::presence().loaded) return loaded(name);
  const auto ask = reinterpret_cast<decltype(&sumac_native)>(loaded("sumac_native"));
  return ask ? ask(name.c_str()) : nullptr;
}

template <class Find>
Functions find_all(Find find) {
  Functions functions{};
  for (const Row& row : kRows) {
    void* const found = find(row.name);
    functions.rows.push_back(found ? found : before_mpi_4(row.name));
  }
  functions.start = reinterpret_cast<decltype(functions.start)>(find("MPI_Start"));
  functions.startall = reinterpret_cast<decltype(functions.startall)>(find("MPI_Startall"));
  functions.waitall = reinterpret_cast<decltype(functions.waitall)>(find("MPI_Waitall"));
  functions.request_free =
      reinterpret_cast<decltype(functions.request_free)>(find("MPI_Request_free"));
  return functions;
}

}  // namespace

Functions as_called() {
  return find_all([](const std::string& name) { return loaded(name); });
}

Functions of_the_mpi() {
  return find_all([](const std::string& name) { return native(name); });
}

int find_row(Function function, Form form, bool large) {
  for (int row = 0; row < static_cast<int>(std::size(kRows)); ++row) {
    const CallKind& kind = kRows[row].kind;
    if (kind.function == function && kind.form == form && kind.large == large) return row;
  }
  return -1;
}

const CallKind& kind_of(int row) { return kRows[row].kind; }

int make(const Functions& functions, int row, const Call& call) {
  return kRows[row].make(functions.rows[static_cast<std::size_t>(row)], call);
}

}  // namespace sumac::replay
