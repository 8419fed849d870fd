// SPDX-License-Identifier: BSD-3-Clause
// What is loaded in front of the MPI.
#pragma once

namespace sumac::bench {

// Without Sumac: loaded false, the strings empty.
struct Presence {
  bool loaded = false;
  bool active = false;
  const char* version = "";
  const char* description = "";
};
// Asked after the first MPI call.
Presence presence();
// How the last collective of this thread was served; "" without Sumac.
const char* last_path();

}  // namespace sumac::bench
