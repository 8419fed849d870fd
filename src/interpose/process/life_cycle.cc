// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init, MPI_Init_thread and MPI_Finalize: when handles can be learnt, and when everything ends.
// MPI_Comm_free and MPI_Comm_disconnect: which communicator is going.
//
// Sessions are not seen: to catch MPI_Session_init the stub would have to export its name, and a
// program under an MPI without sessions would believe in them. A collective that succeeds without
// MPI_Init shows that there is one; nothing is under way then that would have to end with it.
#include <cerrno>
#include <cstring>
#include <memory>

#include "interpose/calls/calls.h"
#include "interpose/calls/user_handles.h"
#include "interpose/calls/user_operations.h"
#include "interpose/messages/kept_messages.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/progress_hooks.h"
#include "interpose/mpi/self_communicator.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/process/backend.h"
#include "interpose/process/gather.h"
#include "interpose/process/lone_rank.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/trace_choices.h"
#include "interpose/profile/profile.h"
#include "interpose/record/recorder.h"
#include "interpose/requests/carriers.h"
#include "interpose/requests/requests.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "team/unmet.h"

namespace sumac {
namespace {

const sumac_stub* own_stub = nullptr;

void world_came_up(const sumac_launch& told) {
  MpiMessages::set_freeing(true);
  int size = 1;
  mpi.Comm_size(MPI_COMM_WORLD, &size);
  const bool lone = is_lone_rank(told, size);
  note_mpi_up(lone ? told.rank : -1);
  if (lone) warn_of_lone_ranks(told, *own_stub);
  log(Level::info, "%s  %d ranks", description(), size);
  open_own_memory(*own_stub);
  recorder().begin();
  profile().begin();
}

void report() {
  const std::unique_ptr<RankReport> made(new RankReport{all_stats(), process_times()});
  RankReport& own = *made;
  count_own_memory(own.stats);
  trace_counts(own);
  tell_unforced_calls(own.stats, options.algo);
  report_statistics(own);
}

void write_trace() {
  if (!trace::on()) return;
  int rank = 0, size = 1;
  mpi.Comm_rank(MPI_COMM_WORLD, &rank);
  mpi.Comm_size(MPI_COMM_WORLD, &size);
  if (trace::write(rank, size)) return;
  log(Level::warn, "warning[trace]: cannot write rank %d's file into SUMAC_TRACE=%s: %s", rank,
      options.trace, std::strerror(errno));
}

// Before the MPI ends.
void stop() {
  end_requests();
  wait_for_adopted();
  end_carriers();
  stop_progress();
  free_operations();
  end_self_communicator();
  MpiMessages::set_freeing(false);
}

int init(int* argc, char*** argv) {
  const sumac_launch told = sumac_launch_of(own_stub->family);
  const int error = mpi.Init(argc, argv);
  if (error == MPI_SUCCESS) world_came_up(told);
  return error;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const sumac_launch told = sumac_launch_of(own_stub->family);
  const int error = mpi.Init_thread(argc, argv, required, provided);
  if (error == MPI_SUCCESS) world_came_up(told);
  return error;
}

int finalize() {
  if (mpi_is_up()) {
    recorder().end();
    profile().end();
    report();
    write_trace();
  }
  note_world_ends();
  stop();
  const int error = mpi.Finalize();
  note_mpi_down();
  forget_communicators();
  team_context().idle.clear();
  forget_user_handles();
  forget_layouts();
  MpiMessages::set_freeing(true);  // of sessions that are still there
  return error;
}

// The MPI deletes attributes one by one, Sumac's among them, and the callbacks of others may make
// calls on the same communicator.
int end_communicator(int (*end)(MPI_Comm*), MPI_Comm* comm) {
  ThreadState& thread = thread_state();
  const std::uintptr_t outer = thread.freeing;
  if (comm) {
    thread.freeing = handle_bits(*comm);
    Communicator* communicator = *comm == MPI_COMM_NULL ? nullptr : find_communicator(*comm);
    if (communicator) leave(*communicator);
  }
  const int error = end(comm);
  thread.freeing = outer;
  return error;
}

int comm_free(MPI_Comm* comm) { return end_communicator(mpi.Comm_free, comm); }
int comm_disconnect(MPI_Comm* comm) { return end_communicator(mpi.Comm_disconnect, comm); }

}  // namespace

void redirect_life_cycle(const sumac_stub& stub) {
  own_stub = &stub;
  stub.redirect(SUMAC_CALL_Init, reinterpret_cast<void*>(init));
  stub.redirect(SUMAC_CALL_Init_thread, reinterpret_cast<void*>(init_thread));
  stub.redirect(SUMAC_CALL_Finalize, reinterpret_cast<void*>(finalize));
  stub.redirect(SUMAC_CALL_Comm_free, reinterpret_cast<void*>(comm_free));
  stub.redirect(SUMAC_CALL_Comm_disconnect, reinterpret_cast<void*>(comm_disconnect));
}

}  // namespace sumac
