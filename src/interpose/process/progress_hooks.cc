// SPDX-License-Identifier: BSD-3-Clause
// Open MPI calls registered functions from within its progress, which every one of its blocking
// calls runs (opal_progress_register). MPICH does so from version 5 on (MPIX_Async_start). With any
// other MPI the helper thread does the work: it needs no MPI if ranks share memory.
#include "interpose/process/progress_hooks.h"

#include <mutex>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"
#include "observe/log.h"

namespace sumac {
namespace {

using OpalProgress = int (*)();
using OpalRegister = int (*)(OpalProgress);
// The handle of MPIX_STREAM_NULL is an int, and has had this value since streams exist.
using AsyncPoll = int (*)(void* thing);
using AsyncStart = int (*)(AsyncPoll, void* state, int stream);
constexpr int kNoStream = 0x3c000000;
constexpr int kAsyncNoProgress = 0, kAsyncDone = 1;

OpalRegister opal_register, opal_unregister;
AsyncStart async_start;
std::mutex mutex;
bool started = false;
std::atomic<bool> stopping{false};

int on_opal_progress() { return engine().progress(true, false) ? 1 : 0; }

int on_async(void*) {
  if (stopping.load(std::memory_order_relaxed)) return kAsyncDone;
  // Within MPICH's progress no other call of MPICH's is made.
  engine().progress(false, false);
  return kAsyncNoProgress;
}

void start_helper(Helper::Zeal zeal) {
  if (helper().start(zeal, threads_may_call_mpi())) return;
  log(Level::warn,
      "warning[no-thread]: no thread to progress nonblocking collectives with; they go on only in "
      "calls of this process");
}

}  // namespace

void find_progress_hooks(const sumac_stub& stub) {
  opal_register = reinterpret_cast<OpalRegister>(stub.lookup("opal_progress_register"));
  opal_unregister = reinterpret_cast<OpalRegister>(stub.lookup("opal_progress_unregister"));
  if (!opal_unregister) opal_register = nullptr;
  async_start = reinterpret_cast<AsyncStart>(stub.lookup("PMPIX_Async_start"));
}

bool threads_may_call_mpi() {
  int level = kMpi.thread_single;
  return mpi.Query_thread(&level) == kMpiSuccess && level == kMpi.thread_multiple;
}

bool can_progress_messages() { return opal_register || threads_may_call_mpi(); }

void start_progress() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (started) return;
  started = true;
  stopping = false;
  const bool thread = static_cast<Progressing>(options.progress) == Progressing::thread;
  if (opal_register) {
    opal_register(on_opal_progress);
  } else if (async_start) {
    async_start(on_async, nullptr, kNoStream);
  }
  if (thread || !opal_register) start_helper(thread ? Helper::Zeal::busy : Helper::Zeal::rescue);
}

void stop_progress() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (!started) return;
  started = false;
  helper().stop();
  if (opal_register) opal_unregister(on_opal_progress);
  stopping = true;
}

}  // namespace sumac
