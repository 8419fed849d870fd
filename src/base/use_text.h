// SPDX-License-Identifier: BSD-3-Clause
// A counter of the statistics has a name, for programs, and a text for people that says what it
// counts.
#pragma once

namespace sumac {

struct UseText {
  const char* name;
  const char* text;
};

}  // namespace sumac
