// SPDX-License-Identifier: BSD-3-Clause
#include "case.h"

namespace sumac::bench {

std::string name_of(Collective collective, Kind kind) {
  const std::string name = name_of(collective);
  if (kind == Kind::nonblocking) return "i" + name;
  return kind == Kind::persistent ? name + "-persistent" : name;
}

}  // namespace sumac::bench
