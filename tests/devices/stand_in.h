// SPDX-License-Identifier: BSD-3-Clause
// Stand-ins for the run-times of GPUs: libraries with so much of CUDA's driver, HIP or Level Zero
// as Sumac calls, each with memory of its own. All of them have these functions, by which tests use
// a stand-in like a program uses the run-time, and may ask of it what that would not tell. Programs
// find them with dlsym() in the library that they have opened.
#pragma once

#include <cstddef>
#include <cstdint>

#define STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {

// Nothing is a device's before the program has initialised the run-time.
void stand_in_initialise();
// Returns memory of a device, or managed memory. It is a mapping that faults when the host touches
// it, or, if it is managed, one that does not. The address of freed memory of a size comes next.
void* stand_in_allocate(std::size_t bytes, int managed);
void stand_in_free(void* memory);
// From now on the run-time knows these pages of the host, or does not any more.
void stand_in_pin(void* pages, std::size_t bytes);
void stand_in_unpin(void* pages);

// Returns a second mapping of device memory, which the host can touch.
void* stand_in_view(void* memory);
// From now on the memory is the host's (so that it can be touched, and the run-time does not know
// it), or a device's again. Its contents stay.
void stand_in_set_host(void* memory, int is_host);

struct StandInCounts {
  // `calls` are those that ask about memory, `queries` the addresses that they asked about.
  unsigned long calls, queries, to_host, to_device, bytes_to_host, bytes_to_device, registered;
  // This many functions were called that would have initialised the run-time or that found a
  // mistake: another device's stream, a list that two threads used.
  unsigned long mistakes;
};
StandInCounts stand_in_counts();

// The copy after so many others fails; -1: none does.
void stand_in_fail_copy(long after);
// Copies are done when somebody waits for them, which then takes so much longer.
void stand_in_delay(unsigned microseconds);
// Copies in one direction take so long for a MiB, one after another from when they were begun; 0:
// they take no time.
void stand_in_pace(unsigned microseconds_per_mib);
// From now on every function fails, as when the run-time shuts down.
void stand_in_shut_down();
// Queries fail in threads without a current context, or do not (CUDA).
void stand_in_query_needs_context(int needs);
}
