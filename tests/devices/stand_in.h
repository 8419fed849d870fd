// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for CUDA's driver, with so much of it as Sumac and its tests call, and what tests may
// ask of it besides.
#pragma once

#include <cstddef>

extern "C" {

// Memory of a device is a mapping that faults when it is touched. This is a second mapping of the
// same memory.
void* stand_in_view(unsigned long long address);
// From now on the memory at `address`, allocated by cuMemAlloc, is the host's (so that it can be
// touched, and the driver does not know it), or a device's again. Its contents stay.
void stand_in_set_host(unsigned long long address, int is_host);

struct StandInCounts {
  unsigned long queries, to_host, to_device, bytes_to_host, bytes_to_device, registered;
};
StandInCounts stand_in_counts();

// The copy after so many others fails with CUDA_ERROR_LAUNCH_FAILED; -1: none does.
void stand_in_fail_copy(long after);
// Copies are done when somebody waits for them, which then takes so much longer.
void stand_in_delay(unsigned microseconds);
// From now on every function fails, as when the driver shuts down.
void stand_in_shut_down();
// Queries fail in threads without a current context, or do not.
void stand_in_query_needs_context(int needs);

int cuInit(unsigned flags);
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes);
int cuMemAllocManaged(unsigned long long* address, std::size_t bytes, unsigned flags);
int cuMemFree_v2(unsigned long long address);
int cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags);
int cuMemHostUnregister(void* address);
int cuCtxPushCurrent_v2(void* context);
int cuCtxPopCurrent_v2(void** context);
int cuDevicePrimaryCtxRetain(void** context, int device);
}
