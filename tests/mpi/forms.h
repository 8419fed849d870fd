// SPDX-License-Identifier: BSD-3-Clause
// A collective called by its name, in any of its forms.
#pragma once

#include <string>

#include "check.h"

namespace test {

enum class Form { blocking, nonblocking, persistent };
inline constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::persistent};

// Calls MPI_<name> in this form. The function is looked up by name, because not every header
// declares all of them.
template <class... Arguments>
int call(std::string name, Form form, MPI_Comm comm, MPI_Request* request, Arguments... arguments) {
  const std::string large = name.ends_with("_c") ? "_c" : "";
  name.resize(name.size() - large.size());
  if (form == Form::blocking) {
    using Function = int (*)(Arguments..., MPI_Comm);
    return in_sumac<Function>(("MPI_" + name + large).c_str())(arguments..., comm);
  }
  if (form == Form::nonblocking) {
    using Function = int (*)(Arguments..., MPI_Comm, MPI_Request*);
    name = "MPI_I" + std::string(1, static_cast<char>(name[0] + 'a' - 'A')) + name.substr(1);
    return in_sumac<Function>((name + large).c_str())(arguments..., comm, request);
  }
  using Function = int (*)(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
  const std::string whole = "MPI_" + name + "_init" + large;
  return in_sumac<Function>(whole.c_str())(arguments..., comm, MPI_INFO_NULL, request);
}

}  // namespace test
