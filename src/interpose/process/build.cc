// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/meeting.h"

#ifndef SUMAC_BUILD_HASH
#include "sumac_build_hash.h"  // made from the sources, see cmake/SumacBuildHash.cmake
#endif

namespace sumac {

std::uint64_t build_hash() { return SUMAC_BUILD_HASH; }

}  // namespace sumac
