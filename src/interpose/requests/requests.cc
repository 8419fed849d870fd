// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/requests.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "interpose/calls/direct_memory.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/handle_tables.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/progress_hooks.h"
#include "strands/lock.h"
#include "team/hang_doctor.h"

namespace sumac {
namespace {

using Phase = CollectiveRequest::Phase;

Lock lock;  // protects everything here; never held across a call of the MPI
HandleTable<CollectiveRequest>& table() {
  static auto* the_table = new HandleTable<CollectiveRequest>;
  return *the_table;
}
// These requests are not the program's: one list has those with a generalized request, which the
// MPI takes for one under way, and the other has those without.
std::vector<CollectiveRequest*>& spare(bool with_handle) {
  static auto* the_spare = new std::vector<CollectiveRequest*>[2];
  return the_spare[with_handle];
}

// The caller must hold the lock.
void change_held(int by) {
  requests_held.store(requests_held.load(std::memory_order_relaxed) + by,
                      std::memory_order_relaxed);
}
void recycle(CollectiveRequest& request) {
  request.carried = false;
  request.own_ranks = nullptr;
  request.phase = Phase::idle;
  spare(request.handle != kMpi.request_null).push_back(&request);
  change_held(-1);
}

// The caller must hold the lock.
void unlist(CollectiveRequest& request) {
  table().erase(request.handle.bits);
  request.handle = kMpi.request_null;
  request.bits.store(0, std::memory_order_relaxed);
}

// The status belongs to the MPI, which copies it, and sets MPI_ERROR if an array has one.
int query(void*, StatusPointer status) {
  fill_status(status);
  status.set_error(kMpiSuccess);
  return kMpiSuccess;
}

int forget(void* state) {
  auto& request = *static_cast<CollectiveRequest*>(state);
  const std::lock_guard<Lock> hold(lock);
  unlist(request);
  recycle(request);
  return kMpiSuccess;
}

// The standard does not allow collectives to be cancelled.
int cancel(void*, int) { return kMpi.err_request; }

// Takes a spare request, preferably one that has a generalized request if `with_handle` asks for
// it.
CollectiveRequest& take_spare(bool with_handle) {
  const std::lock_guard<Lock> hold(lock);
  change_held(1);
  auto& wanted = spare(with_handle && !spare(true).empty());
  if (!wanted.empty()) {
    CollectiveRequest& request = *wanted.back();
    wanted.pop_back();
    return request;
  }
  auto* request = new (std::nothrow) CollectiveRequest;
  if (!request) std::abort();
  return *request;
}

void remember(CollectiveRequest& request) {
  const std::lock_guard<Lock> hold(lock);
  const std::uintptr_t bits = request.handle.bits;
  request.bits.store(bits, std::memory_order_relaxed);
  table().insert(bits, &request);
}

// Returns true if the call has ended, also in the MPI if the result is compared with the MPI's.
bool has_ended(const CollectiveRequest& request) {
  if (!request.ended.load(std::memory_order_acquire)) return false;
  return !request.check || request.check->ended();
}

}  // namespace

std::atomic<int> requests_held{0};

void fill_status(StatusPointer status) {
  static const StatusPointer empty = [] {
    static MpiStatus made;
    mpi.Status_set_elements(made.pointer(), kMpi.byte, 0);
    mpi.Status_set_cancelled(made.pointer(), 0);
    made.pointer().set_source(kMpi.any_source);
    made.pointer().set_tag(kMpi.any_tag);
    return made.pointer();
  }();
  if (status.is_ignored()) return;
  const int error = status.error();
  status.copy_from(empty);
  status.set_error(error);
}

CollectiveRequest& acquire_nonblocking(Communicator& c) {
  CollectiveRequest& request = take_spare(true);
  request.communicator = &c;
  request.persistent = false;
  if (request.handle != kMpi.request_null) return request;
  if (start_generalized({query, forget, cancel}, &request, one(request.handle)) != kMpiSuccess) {
    end_job(c.comm);
  }
  remember(request);
  return request;
}

CollectiveRequest* acquire_persistent(Communicator& c, OwnRanks* ranks) {
  CollectiveRequest& request = take_spare(false);
  request.communicator = &c;
  request.persistent = true;
  request.own_ranks = ranks;
  if (!make_carrier(request.handle, request.carrier)) {
    const std::lock_guard<Lock> hold(lock);
    recycle(request);
    return nullptr;
  }
  ++c.keepers;
  remember(request);
  return &request;
}

CollectiveRequest* find_request(MpiRequest handle) {
  if (handle == kMpi.request_null) return nullptr;
  const std::uintptr_t bits = handle.bits;
  // Mostly the program asks for the request found last: it has started it, and then waits for it.
  static thread_local CollectiveRequest* recent = nullptr;
  if (recent && recent->bits.load(std::memory_order_relaxed) == bits) return recent;
  const std::lock_guard<Lock> hold(lock);
  CollectiveRequest* found = table().find(bits);
  if (found) recent = found;
  return found;
}

void begin(CollectiveRequest& request, const DirectTry& direct) {
  Communicator& c = *request.communicator;
  request.carried = request.delivered = false;
  request.phase = Phase::begun;
  if (request.data.is_local()) return;
  if (!c.watched) [[unlikely]] {
    c.watched = true;
    engine().watch(c.queue, c.sends_messages());
    start_progress();
  }
  const ChosenCall& call = request.described;
  c.doing.store(static_cast<int>(call.collective), std::memory_order_relaxed);
  if (request.own_ranks) {
    c.queue.add_apart(request, call, direct, c.ranks(*request.own_ranks));
  } else {
    c.queue.add(request, call, direct, c.ranks(call.collective), true);
  }
  helper().notify();
}

void wait_for(CollectiveRequest& request) {
  Communicator& c = *request.communicator;
  WaitPolicy policy = c.wait_policy;
  policy.late = report_late_beside;
  if (!request.ended.load(std::memory_order_acquire)) c.queue.wait_for(request, policy);
  Waiting waiting(policy);
  while (!has_ended(request)) waiting.step(false);
}

bool test(CollectiveRequest& request) {
  const auto ended = [&] { return has_ended(request); };
  if (!ended()) request.communicator->queue.progress(false);
  if (ended()) return true;
  probe_mpi(*request.communicator);
  engine().progress(true, false);
  return ended();
}

bool take_end(CollectiveRequest& request, RequestPointer handle, StatusPointer status) {
  if (request.carried) {
    show(handle, 1);
    return false;
  }
  deliver(request);
  fill_status(status);
  request.phase = Phase::idle;
  if (request.persistent) return true;
  handle.set(kMpi.request_null);
  const std::lock_guard<Lock> hold(lock);
  recycle(request);
  return true;
}

void show(RequestPointer handles, int count) {
  for (int i = 0; i < count; ++i) {
    CollectiveRequest* request = find_request(handles[i]);
    if (!request || request->phase != Phase::begun) continue;
    if (request->persistent && !request->carried) {
      request->carried = true;
      mpi.Start(handles + i);
    }
    if (!has_ended(*request)) continue;
    request->phase = Phase::shown;
    deliver(*request);
    if (request->persistent) {
      deliver_carrier(request->carrier);
    } else {
      mpi.Grequest_complete(request->handle);
    }
  }
}

void deliver(CollectiveRequest& request) {
  if (request.delivered) return;
  request.delivered = true;
  Communicator& c = *request.communicator;
  if (request.direct().wanted() && !request.data.is_local()) {
    end_use_of_own_memory();
    count_process_taken(way_of(request.described, request.direct()), request.data.bytes());
  }
  request.data.deliver();
  if (request.device) [[unlikely]]
    request.device->deliver();
  if (request.check) [[unlikely]]
    request.check->compare_alone();
  // This happens here, and not where the MPI frees the request: the MPI must not be called from
  // there.
  if (!request.persistent) {
    request.data.free();
    request.check.reset();
    request.device.reset();
  }
  if (c.left.load(std::memory_order_relaxed)) [[unlikely]]
    let_go(c);
}

bool is_active(const CollectiveRequest& request) {
  if (request.phase != Phase::shown) return request.phase == Phase::begun;
  // The MPI may have told the program since then. It gives the empty status for an inactive
  // request.
  int done = 0;
  MpiStatus status;
  mpi.Request_get_status(request.handle, &done, status.pointer());
  return !done || status.pointer().source() != kMpi.any_source;
}

int refuse(const CollectiveRequest& request, int error) {
  const Communicator& c = *request.communicator;
  const bool freed = c.handle.load(std::memory_order_relaxed) == 0;
  mpi.Comm_call_errhandler(freed ? kMpi.comm_world : c.comm, error);
  return error;
}

void free_persistent(CollectiveRequest& request, RequestPointer handle) {
  if (request.phase == Phase::begun) {
    wait_for(request);
    deliver(request);
    if (request.carried) deliver_carrier(request.carrier);
  }
  {
    // This comes before the MPI gets the handle back, which may belong to another request at once.
    const std::lock_guard<Lock> hold(lock);
    unlist(request);
  }
  mpi.Request_free(handle);
  request.data.free();
  request.check.reset();
  request.device.reset();
  if (request.own_ranks) request.own_ranks->in_use = false;
  drop_keeper(*request.communicator);
  return_carrier(request.carrier);
  const std::lock_guard<Lock> hold(lock);
  recycle(request);
}

void drain(Communicator& c) {
  while (!c.queue.empty()) {
    Waiting waiting(c.wait_policy);
    while (!c.queue.progress() && !c.queue.empty()) waiting.step(false);
  }
}

void end_requests() {
  for (Communicator* c : all_communicators()) drain(*c);
  while (true) {
    MpiRequest handle;
    {
      const std::lock_guard<Lock> hold(lock);
      if (spare(true).empty()) break;
      handle = spare(true).back()->handle;
      spare(true).pop_back();
      change_held(1);
    }
    mpi.Grequest_complete(handle);
    mpi.Request_free(one(handle));
  }
}

}  // namespace sumac
