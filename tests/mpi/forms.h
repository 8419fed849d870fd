// SPDX-License-Identifier: BSD-3-Clause
// A collective called by its name, in any of its forms, through Sumac or as the MPI's own.
#pragma once

#include <string>

#include "check.h"

namespace test {

enum class Form { blocking, nonblocking, persistent };
inline constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::persistent};

// The name of MPI_<name> in this form. `large`: with counts of type MPI_Count.
inline std::string function_name(const std::string& name, Form form, bool large) {
  std::string whole = "MPI_" + name;
  if (form == Form::nonblocking) {
    whole = "MPI_I" + std::string(1, static_cast<char>(name[0] + 'a' - 'A')) + name.substr(1);
  }
  if (form == Form::persistent) whole += "_init";
  return whole + (large ? "_c" : "");
}

// The MPI's own function; null where it has none.
template <class Function>
Function native_function(const char* name) {
  static const auto find = in_sumac<void* (*)(const char*)>("sumac_native");
  return reinterpret_cast<Function>(find(name));
}

// Calls MPI_<name> in this form, the program's or the MPI's own. The function is looked up by name,
// because not every header declares all of them.
template <class... Arguments>
int call_in(bool native, std::string name, Form form, MPI_Comm comm, MPI_Request* request,
            Arguments... arguments) {
  const bool large = name.ends_with("_c");
  if (large) name.resize(name.size() - 2);
  const std::string whole = function_name(name, form, large);
  const auto find = [&]<class Function>(Function*) {
    return native ? native_function<Function*>(whole.c_str()) : in_sumac<Function*>(whole.c_str());
  };
  if (form == Form::blocking) {
    using Function = int(Arguments..., MPI_Comm);
    return find(static_cast<Function*>(nullptr))(arguments..., comm);
  }
  if (form == Form::nonblocking) {
    using Function = int(Arguments..., MPI_Comm, MPI_Request*);
    return find(static_cast<Function*>(nullptr))(arguments..., comm, request);
  }
  using Function = int(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
  return find(static_cast<Function*>(nullptr))(arguments..., comm, MPI_INFO_NULL, request);
}

template <class... Arguments>
int call(const std::string& name, Form form, MPI_Comm comm, MPI_Request* request,
         Arguments... arguments) {
  return call_in(false, name, form, comm, request, arguments...);
}

}  // namespace test
