// SPDX-License-Identifier: BSD-3-Clause
// The stub starts a back end by this function.
#include "interpose/backend/backend.h"

#include <cstdio>

#include "interpose/calls/calls.h"
#include "interpose/calls/perform.h"
#include "interpose/messages/packing_calls.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/entry.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/progress_hooks.h"
#include "interpose/requests/events.h"
#include "interpose/requests/requests.h"
#include "interpose/watch/counted_calls.h"
#include "interpose/watch/profile.h"
#include "kernels/reduce.h"
#include "machine/presence.h"

namespace sumac {
namespace {

char description_text[128] = "";

}  // namespace

const char* description() { return description_text; }

}  // namespace sumac

extern "C" {

__attribute__((visibility("default"))) const char* sumac_backend_start(const sumac_stub* stub) {
  using namespace sumac;
  if (stub->version != SUMAC_STUB_VERSION) return "the stub and the back end are of two builds";
  if (find_mpi_functions(*stub)) return "this MPI lacks functions that Sumac needs";
  if (stub->intercepts && !mark_as_served(stub->family)) {
    return "no Unix socket can be made, by which other ranks see that this one is served";
  }
  find_progress_hooks(*stub);
  find_device_support(*stub);
  read_settings(stub->site);
  // This is one of the options that ranks must agree on: no rank may serve what another one must
  // not.
  if (stub->requests_pass_by) options.progress = static_cast<std::uint64_t>(Progressing::off);
  std::snprintf(description_text, sizeof description_text, "Sumac %s  %s  %s", SUMAC_VERSION,
                stub->family, simd_name());
  redirect_life_cycle(*stub);
  redirect_info(*stub);
  redirect_shared_windows(*stub);
  redirect_operations(*stub);
  redirect_collectives(*stub);
  redirect_counted(*stub);
  if (calls_are_profiled()) {
    redirect_profiled_packing(*stub);
  } else {
    redirect_packing(*stub);
    redirect_alloc_mem(*stub);
  }
  // Without this, a program's messages do not pass through the back end.
  if (options.pack_messages != 0 && !calls_are_profiled()) {
    hand_to_mpi = hand_packed;
    redirect_messages(*stub);
    serve_neighbors(serve_counted);
  }
  serve_requests(&collective_server(), in_front);
  redirect_requests(*stub);
  return nullptr;
}

__attribute__((visibility("default"))) const char* sumac_backend_last_path() {
  return sumac::name_of_path(sumac::thread_state().last_path);
}

__attribute__((visibility("default"))) const char* sumac_backend_description() {
  return sumac::description();
}
}
