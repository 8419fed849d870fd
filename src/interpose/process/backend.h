// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sumac {

// "Sumac 0.1.0  openmpi  avx3": what is active in this process.
const char* description();

}  // namespace sumac
