// SPDX-License-Identifier: BSD-3-Clause
// Makes MPI_Request_get_status_all, _any and _some of MPI 4.1 out of MPI_Request_get_status, for an
// MPI that lacks them. An inactive persistent request of the MPI's cannot be told from a completed
// one, so it counts as completed, with the empty status that MPI_Request_get_status gives it.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interpose/stub/internal.h"

enum { kMpiUndefined = -32766 };  // value in every MPI family

typedef int (*get_status_int)(int request, int* done, void* status);
typedef int (*get_status_pointer)(void* request, int* done, void* status);

// The families' binary interfaces differ in these.
static struct {
  bool pointers;  // requests are pointers, otherwise ints
  uintptr_t null_request;
  size_t status_bytes, error_offset;  // size of MPI_Status, and where its MPI_ERROR is
  void *ignored_status, *ignored_statuses;
  void* get_status;
} abi;

static bool learn_abi(const struct sumac_stub* stub) {
  abi.get_status = stub->real[SUMAC_CALL_Request_get_status];
  if (stub->family == NULL || abi.get_status == NULL) return false;
  if (strcmp(stub->family, "openmpi") == 0) {
    abi.pointers = true;
    // A program may hold a copy of the object in its own data (a copy relocation), which all
    // libraries then use, so the global scope comes first.
    const void* object = dlsym(RTLD_DEFAULT, "ompi_request_null");
    if (object == NULL) object = stub_symbol(stub->mpi, "ompi_request_null");
    abi.null_request = (uintptr_t)object;
    abi.status_bytes = 24;
    abi.error_offset = 8;
    return abi.null_request != 0;
  }
  abi.null_request = 0x2c000000;
  abi.status_bytes = 20;
  abi.error_offset = 16;
  abi.ignored_status = abi.ignored_statuses = (void*)1;
  return strcmp(stub->family, "mpich") == 0;
}

static uintptr_t request_at(const void* requests, int i) {
  return abi.pointers ? ((const uintptr_t*)requests)[i] : ((const uint32_t*)requests)[i];
}

static int ask(uintptr_t request, int* done, void* status) {
  if (abi.pointers) return ((get_status_pointer)abi.get_status)((void*)request, done, status);
  return ((get_status_int)abi.get_status)((int)request, done, status);
}

static void* status_at(void* statuses, int i) {
  if (statuses == abi.ignored_statuses) return abi.ignored_status;
  return (char*)statuses + (size_t)i * abi.status_bytes;
}

static int get_status_all(int count, const void* requests, int* done, void* statuses) {
  *done = 1;
  for (int i = 0; i < count && *done; ++i) {
    const int error = ask(request_at(requests, i), done, status_at(statuses, i));
    if (error != 0) return error;
  }
  return 0;
}

static int get_status_any(int count, const void* requests, int* index, int* done, void* status) {
  bool active = false;
  *index = kMpiUndefined;
  *done = 0;
  for (int i = 0; i < count; ++i) {
    if (request_at(requests, i) == abi.null_request) continue;
    active = true;
    const int error = ask(request_at(requests, i), done, status);
    if (*done) *index = i;
    if (*done || error != 0) return error;
  }
  if (active) return 0;
  // The whole status is set: MPI_Request_get_status may leave out MPI_ERROR.
  const int success = 0;
  if (status != abi.ignored_status) {
    memcpy((char*)status + abi.error_offset, &success, sizeof success);
  }
  return ask(abi.null_request, done, status);
}

static int get_status_some(int count, const void* requests, int* ended, int* indices,
                           void* statuses) {
  bool active = false;
  *ended = 0;
  for (int i = 0; i < count; ++i) {
    if (request_at(requests, i) == abi.null_request) continue;
    active = true;
    int done = 0;
    const int error = ask(request_at(requests, i), &done, status_at(statuses, *ended));
    if (error != 0) return error;
    if (done) indices[(*ended)++] = i;
  }
  if (!active) *ended = kMpiUndefined;
  return 0;
}

void* stub_request_status(int call, const struct sumac_stub* stub) {
  void* function = NULL;
  if (call == SUMAC_CALL_Request_get_status_all) function = (void*)get_status_all;
  if (call == SUMAC_CALL_Request_get_status_any) function = (void*)get_status_any;
  if (call == SUMAC_CALL_Request_get_status_some) function = (void*)get_status_some;
  return function != NULL && learn_abi(stub) ? function : NULL;
}
