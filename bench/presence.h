// SPDX-License-Identifier: BSD-3-Clause
// Whether Sumac is loaded in front of the MPI.
#pragma once

namespace sumac::bench {

// Without Sumac, `loaded` is false and the strings are empty.
struct Presence {
  bool loaded = false;
  bool active = false;
  const char* version = "";
  const char* description = "";
};
// Must be called after the first MPI call.
Presence presence();
// How the last collective of this thread was served, or "" without Sumac.
const char* last_path();

}  // namespace sumac::bench
