// SPDX-License-Identifier: BSD-3-Clause
// The help of `sumac plan`, in the layout of the commands in Python (help_layout.py).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sumac::plan {

std::string help_of(const CLI::App& app, const char* examples, const char* status);

}  // namespace sumac::plan
