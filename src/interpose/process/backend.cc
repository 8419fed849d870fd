// SPDX-License-Identifier: BSD-3-Clause
// The function by which the stub starts a back end.
#include "interpose/process/backend.h"

#include <cstdio>

#include "interpose/calls/calls.h"
#include "interpose/calls/counted_calls.h"
#include "interpose/messages/point_to_point.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/progress_hooks.h"
#include "interpose/process/settings.h"
#include "interpose/profile/profile.h"
#include "interpose/profile/profiled_calls.h"
#include "interpose/profile/profiled_requests.h"
#include "interpose/requests/completion.h"
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
  read_settings();
  // One of the options that ranks must agree on: no rank may serve what another one must not.
  if (stub->requests_pass_by) options.progress = static_cast<std::uint64_t>(Progressing::off);
  std::snprintf(description_text, sizeof description_text, "Sumac %s  %s  %s", SUMAC_VERSION,
                stub->family, simd_name());
  redirect_life_cycle(*stub);
  redirect_info(*stub);
  redirect_shared_windows(*stub);
  redirect_operations(*stub);
  redirect_collectives(*stub);
  redirect_counted(*stub);
  RequestCalls requests = request_calls(*stub);
  if (calls_are_profiled()) {
    redirect_profiled_packing(*stub);
    requests = profiled_request_calls(requests);
  } else {
    redirect_packing(*stub);
  }
  if (messages_are_packed()) {
    redirect_messages(*stub);
    requests = message_request_calls(requests);
  }
  redirect_requests(*stub, requests);
  return nullptr;
}

__attribute__((visibility("default"))) const char* sumac_backend_last_path() {
  return sumac::thread_state().last_path;
}

__attribute__((visibility("default"))) const char* sumac_backend_description() {
  return sumac::description();
}
}
