// SPDX-License-Identifier: BSD-3-Clause
// An explanation as text and as JSON, both with a newline at the end.
#pragma once

#include <string>

#include "plan/explain.h"

namespace sumac::plan {

std::string to_text(const Explanation& explanation, const RuleSet& rules, const Options& options);
std::string to_json(const Explanation& explanation, const RuleSet& rules, const Options& options);

}  // namespace sumac::plan
