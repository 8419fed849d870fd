// SPDX-License-Identifier: BSD-3-Clause
// A counter of the statistics: its name, for programs, and what it counts, for people.
#pragma once

namespace sumac {

struct UseText {
  const char* name;
  const char* text;
};

}  // namespace sumac
