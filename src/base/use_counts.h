// SPDX-License-Identifier: BSD-3-Clause
// These are counters of the statistics whose counting and printing are in different folders. Each
// has a name, for programs, and a text for people that says what it counts.
#pragma once

#include <cstdint>

namespace sumac {

struct UseText {
  const char* name;
  const char* text;
};

// SUMAC_CHECK=results compares the results of calls with the MPI's own, with these outcomes.
enum class CheckUse : std::uint8_t { equal, undecided, unchecked, differed };
inline constexpr int kNumCheckUses = 4;

inline constexpr UseText kCheckUseTexts[kNumCheckUses] = {
    {"equal", "results compared with the MPI's own: equal, or within the bound"},
    {"undecided", "results that differ from the MPI's own in a way that the standard allows"},
    {"unchecked", "calls whose results could not be compared with the MPI's own"},
    {"differed", "WRONG: results that differ from the MPI's own"},
};

// Memory whose pages other ranks can map is counted, and buffers that were not promoted.
enum class MemoryUse : std::uint8_t {
  born,
  born_bytes,
  attached,
  promotions,
  promoted,
  huge,
  given_back
};

inline constexpr UseText kMemoryUseTexts[] = {
    {"born_shared", "calls of MPI_Alloc_mem whose memory other ranks can map from its beginning"},
    {"born_shared_bytes", "bytes of these"},
    {"attached", "buffers that other ranks saw in place through XPMEM"},
    {"promotions", "promotions of buffers to pages that other ranks map (SUMAC_PROMOTE)"},
    {"promoted_bytes", "bytes promoted"},
    {"huge_bytes", "bytes of these in huge pages, as before"},
    {"given_back_bytes", "bytes given back after the program had freed them"},
};
inline constexpr int kNumMemoryUses = 7;

// Each text says why a buffer was not promoted.
inline constexpr UseText kRefusalTexts[] = {
#define SUMAC_REFUSAL(name, scope, text) {#name, text},
#include "base/refusals.def"
#undef SUMAC_REFUSAL
};
inline constexpr int kNumRefusals = sizeof kRefusalTexts / sizeof kRefusalTexts[0];

// Sumac packs messages, and blocks of all-to-alls (SUMAC_PACK_MESSAGES).
enum class MessageUse : std::uint8_t { sent, received };
inline constexpr UseText kMessageUseTexts[] = {
    {"sent", "packed by Sumac, and sent by the MPI as bytes (SUMAC_PACK_MESSAGES)"},
    {"received", "received by the MPI as bytes, and unpacked by Sumac"},
};
inline constexpr int kNumMessageUses = 2;

// Buffers on GPUs were copied by the driver, so that the call saw host memory.
enum class DeviceUse : std::uint8_t { calls, bytes_in, bytes_out, native };
inline constexpr UseText kDeviceUseTexts[] = {
    {"calls", "calls with buffers in a GPU's memory (SUMAC_DEVICE)"},
    {"bytes_in", "bytes copied from GPUs before these calls"},
    {"bytes_out", "bytes copied to GPUs after them"},
    {"native", "calls with such buffers, as they are, by an MPI that is built for GPUs"},
};
inline constexpr int kNumDeviceUses = 4;

// These obstacles keep ranks of one machine from each other's memory, so that Sumac is slower there
// than it could be. Communicators that were set up so are counted; the log says it once.
enum class Obstacle : std::uint8_t { attach_off, attach_refused, containers };
inline constexpr int kNumObstacles = 3;

inline constexpr UseText kObstacleTexts[kNumObstacles] = {
    {"attach_off", "SUMAC_CMA=off: large messages are copied twice, through shared memory"},
    {"attach_refused",
     "the system refuses cross-memory attach: large messages are copied twice (sumac check)"},
    {"containers",
     "ranks of this machine do not share PID namespace and /dev/shm: the MPI's messages between "
     "them"},
};

// This is how many threads a large reduction used, or why only one.
enum class ThreadUse : std::uint8_t {
  tasks,
  region,
  no_openmp,
  outside,
  one_thread,
  busy,
  elsewhere
};
inline constexpr int kNumThreadUses = 7;

inline constexpr UseText kThreadUseTexts[kNumThreadUses] = {
    {"tasks", "tasks for the threads of the parallel region it was called in"},
    {"region", "a parallel region of its own"},
    {"no_openmp", "one thread: no OpenMP run-time library in the process"},
    {"outside", "one thread: outside of a parallel region (SUMAC_OWN_REGIONS=1 opens one)"},
    {"one_thread", "one thread: no more by OMP_NUM_THREADS or processors"},
    {"busy", "one thread: others at work in such reductions"},
    {"elsewhere", "one thread: nonblocking, went on in whatever thread looked"},
};

}  // namespace sumac
