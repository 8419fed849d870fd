// SPDX-License-Identifier: BSD-3-Clause
// The MPI alone serves these collectives. Sumac counts their calls, so that its statistics cover
// all collectives of the program.
#pragma once

#include <cstdint>

#include "observe/stats.h"

namespace sumac {

// Each is a row of calls.def in its blocking form.
#define SUMAC_CALL(name)
#define SUMAC_COUNTED_ROW_nonblocking(counted)
#define SUMAC_COUNTED_ROW_persistent(counted)
#define SUMAC_COUNTED(name, counted, form) SUMAC_COUNTED_ROW_##form(counted)
enum class Counted : std::uint8_t {
#define SUMAC_COUNTED_ROW_blocking(counted) counted,
#include "interpose/calls.def"
#undef SUMAC_COUNTED_ROW_blocking
};

inline constexpr const char* kCountedNames[] = {
#define SUMAC_COUNTED(name, counted, form) SUMAC_COUNTED_ROW_##form(counted)
#define SUMAC_COUNTED_ROW_blocking(counted) #counted,
#include "interpose/calls.def"
#undef SUMAC_COUNTED_ROW_blocking
};
#undef SUMAC_COUNTED_ROW_nonblocking
#undef SUMAC_COUNTED_ROW_persistent
#undef SUMAC_CALL
inline constexpr int kNumCounted = sizeof kCountedNames / sizeof *kCountedNames;

constexpr const char* name_of(Counted counted) { return kCountedNames[static_cast<int>(counted)]; }

// All calls of these collectives go this path.
inline constexpr const char* kCountedPath = "mpi: Sumac does not serve this collective";

// The struct is plain bytes, so that ranks can send it to one another.
struct CountedCalls {
  PathCount calls[kNumCounted];
  std::uint64_t ns[kNumCounted] = {};  // 0 if calls are not timed

  void merge(const CountedCalls& other);
};

// These functions count for the whole process. They are thread-safe.
void count_call(Counted counted, std::uint64_t bytes);
void add_time(Counted counted, std::uint64_t ns);
CountedCalls process_counted();

}  // namespace sumac
