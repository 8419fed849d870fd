// SPDX-License-Identifier: BSD-3-Clause
// What Sumac's statistics say of messages that it has packed.
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

namespace test {

struct PackedCounts {
  long sent = 0, received = 0;
};

// By this process.
inline PackedCounts messages_packed() {
  static const auto stats = in_sumac<std::size_t (*)(char*, std::size_t)>("sumac_stats");
  std::vector<char> text(1 << 16);
  stats(text.data(), text.size());
  const char* const found = std::strstr(text.data(), "\"messages\": {\"sent\": ");
  PackedCounts counts;
  CHECK(found && std::sscanf(found, "\"messages\": {\"sent\": %ld, \"received\": %ld", &counts.sent,
                             &counts.received) == 2);
  return counts;
}

}  // namespace test
