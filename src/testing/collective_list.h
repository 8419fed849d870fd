// SPDX-License-Identifier: BSD-3-Clause
// The names of the collectives of several ranks as messages list them.
#pragma once

#include <string>

#include "base/algorithm.h"

namespace sumac {

inline std::string collective_list(const std::string& between) {
  std::string list;
  for (const char* name : collective_names(is_of_ranks)) {
    list += (list.empty() ? "" : between) + name;
  }
  return list;
}

}  // namespace sumac
