// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init, MPI_Init_thread and MPI_Finalize tell when handles can be learnt, and when everything
// ends. MPI_Comm_free and MPI_Comm_disconnect tell which communicator is going.
//
// Sessions are not seen: to catch MPI_Session_init the stub would have to export its name, and a
// program under an MPI without sessions would believe in them. A collective that succeeds without
// MPI_Init shows that there is one; nothing is under way then that would have to end with it.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "interpose/backend/backend.h"
#include "interpose/calls/calls.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/mpi/world.h"
#include "interpose/process/entry.h"
#include "interpose/process/lone_rank.h"
#include "interpose/process/meeting.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/progress_hooks.h"
#include "interpose/process/statistics.h"
#include "interpose/process/trace_choices.h"
#include "interpose/requests/held_requests.h"
#include "interpose/requests/requests.h"
#include "interpose/watch/profile.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "team/warnings.h"

namespace sumac {
namespace {

const sumac_stub* own_stub = nullptr;

// These are this rank and the number of ranks, for reports after the MPI has ended; the rank is -1
// if MPI_COMM_WORLD has not come up.
int own_rank = -1, world_size = 0;
pid_t own_process = 0;
bool reported = false;

void world_came_up(const sumac_launch& told) {
  MpiMessages::set_freeing(true);
  int size = 1;
  mpi.Comm_size(kMpi.comm_world, &size);
  mpi.Comm_rank(kMpi.comm_world, &own_rank);
  world_size = size;
  own_process = getpid();
  const bool lone = is_lone_rank(told, size);
  note_mpi_up(lone ? told.rank : -1);
  if (lone) warn_of_lone_ranks(told, *own_stub);
  log(Level::info, "%s  %d ranks", description(), size);
  profile().begin();
  if (own_rank != 0) return;
  // If the job is killed, it leaves this report.
  report_in_file(*std::make_unique<RankReport>(), size, "unknown");
  watch_end(own_rank);
}

std::unique_ptr<RankReport> own_report() {
  std::unique_ptr<RankReport> own(
      new RankReport{all_stats(), process_times(), process_counted(), process_learnt()});
  count_own_memory(own->stats);
  return own;
}

void report() {
  reported = true;
  const auto made = own_report();
  RankReport& own = *made;
  trace_counts(own);
  tell_unforced_calls(own.stats, options.algo);
  report_statistics(own);
  end_is_told();
}

void write_trace() {
  if (!trace::on()) return;
  int rank = 0, size = 1;
  mpi.Comm_rank(kMpi.comm_world, &rank);
  mpi.Comm_size(kMpi.comm_world, &size);
  if (trace::write(rank, size)) return;
  log(Level::warn, "warning[trace]: cannot write rank %d's file into SUMAC_TRACE=%s: %s", rank,
      options.trace, std::strerror(errno));
}

// This must be called before the MPI ends.
void stop() {
  end_requests();
  wait_for_freed();
  end_carriers();
  stop_progress();
  end_self_communicator();
  MpiMessages::set_freeing(false);
}

int init(int* argc, char*** argv) {
  const sumac_launch told = sumac_launch_of(own_stub->family);
  const int error = mpi.Init(argc, argv);
  if (error == kMpiSuccess) world_came_up(told);
  return error;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const sumac_launch told = sumac_launch_of(own_stub->family);
  const int error = mpi.Init_thread(argc, argv, required, provided);
  if (error == kMpiSuccess) world_came_up(told);
  return error;
}

// Children that the program forks come to the functions below, too, and must do nothing there.
bool is_own_process() { return own_rank >= 0 && getpid() == own_process; }

// Reports on a process that does not come to MPI_Finalize.
void report_early(const char* end) {
  if (!is_own_process() || !stats_wanted().wanted) return;
  if (std::exchange(reported, true)) return;
  report_alone(*own_report(), own_rank, world_size, end);
  end_is_told();
}

// No other rank may come to report, so the rank that ends the job does.
int abort(MpiComm comm, int code) {
  if (is_own_process()) profile().write_early();
  report_early("MPI_Abort");
  return mpi.Abort(comm, code);
}

int finalize() {
  if (mpi_is_up()) {
    profile().end();
    report();
    write_trace();
  }
  note_world_ends();
  if (mpi_is_up()) end_declined(nullptr);
  stop();
  const int error = mpi.Finalize();
  note_mpi_down();
  forget_communicators();
  idle_teams().give_up_all(team_context());
  team_context().idle.clear();
  forget_user_handles();
  forget_layouts();
  end_own_memory();
  MpiMessages::set_freeing(true);  // frees those of sessions that are still there
  return error;
}

// The MPI deletes attributes one by one, Sumac's among them, and the callbacks of others may make
// calls on the same communicator.
int end_communicator(int (*end)(CommPointer), CommPointer comm) {
  ThreadState& thread = thread_state();
  const std::uintptr_t outer = thread.freeing;
  if (comm) {
    thread.freeing = (*comm).bits;
    Communicator* communicator = *comm == kMpi.comm_null ? nullptr : find_communicator(*comm);
    if (communicator) leave(*communicator);
  }
  const int error = end(comm);
  thread.freeing = outer;
  return error;
}

int comm_free(CommPointer comm) { return end_communicator(mpi.Comm_free, comm); }
int comm_disconnect(CommPointer comm) { return end_communicator(mpi.Comm_disconnect, comm); }

}  // namespace

void redirect_life_cycle(const sumac_stub& stub) {
  own_stub = &stub;
  in_front.Init = init;
  in_front.Init_thread = init_thread;
  in_front.Finalize = finalize;
  in_front.Abort = abort;
  in_front.Comm_free = comm_free;
  in_front.Comm_disconnect = comm_disconnect;
  for (int call = SUMAC_CALL_Init; call <= SUMAC_CALL_Comm_disconnect; ++call) {
    put_in_front(stub, static_cast<sumac_call>(call));
  }
}

}  // namespace sumac

// The stub calls this when the process ends by exit(). The MPI may have ended by then.
extern "C" __attribute__((visibility("default"))) void sumac_backend_at_exit() {
  if (sumac::is_own_process()) sumac::profile().write_early();
  if (sumac::own_rank == 0) sumac::report_early("exit");
}
