// SPDX-License-Identifier: BSD-3-Clause
// A job that hangs is reported once for the ranks of a host, by one of those that wait.
#pragma once

#include <string>
#include <vector>

#include "team/hang_doctor_page.h"

namespace sumac {

// Returns true if `own`, whose page is among the others', is to report a hang: no rank before it
// waits as long (it reports itself), and none has reported while it waits.
bool is_to_report(const std::vector<SeenRank>& ranks, const RankStatus& own, std::uint64_t now,
                  std::uint64_t limit_ns);

// Returns the lines of the report: ranks that wait in the same call, and every other rank by
// itself.
std::vector<std::string> report_lines(const std::vector<SeenRank>& ranks, std::uint64_t now);

}  // namespace sumac
