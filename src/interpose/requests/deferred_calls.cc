// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/requests.h"

#include <algorithm>

#include "interpose/calls/direct_memory.h"
#include "interpose/calls/ordered_calls.h"
#include "interpose/calls/perform.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/held_requests.h"
#include "team/set_up.h"

namespace sumac {
namespace {

// Returns the call that is described: with host memory in the place of a GPU's.
const Call& take_data(CollectiveRequest& request, const Call& call, const Decision& decision) {
  request.host_buffers = {};
  const CallPlaces places = places_of(call);
  if (!places.on_device()) [[likely]] {
    if (request.persistent) request.host_buffers = host_buffers_of(call);
    return call;
  }
  request.device = std::make_unique<DeviceData>(call, places);
  request.device->copy_in_slices(decision);
  if (!request.persistent) request.device->load();
  return request.device->call();
}

void describe(CollectiveRequest& request, const Call& call, const Decision& decision) {
  request.described = request.data.describe(call, decision);
  request.may_go_direct = decision.direct;
  request.tries_direct = decision.tries_direct;
}

// This holds the host memory of an operation that is left to the MPI, and whose buffers are in a
// GPU's memory.
class StagedRequest final : public RequestHolder {
 public:
  explicit StagedRequest(std::unique_ptr<DeviceData> data) : data_(std::move(data)) {}
  void starts() override {
    copied_ = false;
    data_->load_again();
  }
  void seen(StatusPointer) override {
    if (!std::exchange(copied_, true)) data_->deliver();
  }
  void ended(StatusPointer status, bool success, std::uint64_t) override {
    if (success) seen(status);
  }

 private:
  const std::unique_ptr<DeviceData> data_;
  bool copied_ = false;  // the result has been copied
};

// Calls make(call) with host memory in the place of a GPU's, and keeps that for the MPI's request.
template <class Make>
int make_below(const Call& call, const Decision& decision, Make make) {
  const CallPlaces places = places_of(call);
  if (!places.on_device() || !is_staged(call, decision)) return make(call);
  const bool persistent = call.kind.form == Form::persistent;
  auto data = std::make_unique<DeviceData>(call, places);
  if (!persistent) data->load();
  const std::uint64_t holds = holds_of_thread();
  const int error = make(data->call());
  if (error != kMpiSuccess) return error;
  auto staged = std::make_unique<StagedRequest>(std::move(data));
  if (persistent) {
    hold(*call.request, std::move(staged), true);
  } else if (holds_of_thread() != holds) {
    hold_too(*call.request, std::move(staged));  // an exchange between neighbours was packed
  } else {
    hold_unless_ended(*call.request, std::move(staged));
  }
  return error;
}

int below(const Call& call, const Decision& decision) {
  return make_below(call, decision, [](const Call& made) { return made.kind.below(made); });
}

int leave_deferred(Entry& entry, const Call& call, const Decision& decision) {
  return make_below(call, decision,
                    [&](const Call& made) { return hand_down(entry, made, decision); });
}

int start_now(Entry& entry, const Call& made, const Decision& decision) {
  CollectiveRequest& request = acquire_nonblocking(*decision.communicator);
  const Call& call = take_data(request, made, decision);
  describe(request, call, decision);
  request.communicator->deferred |= !request.data.is_local();
  if (decision.around & Decision::kCheck) [[unlikely]]
    request.check = std::make_unique<ResultCheck>(call, decision);
  start(entry, request);
  call.request.set(request.handle);
  return kMpiSuccess;
}

int initialise(Entry& entry, const Call& made, Decision decision) {
  Communicator& c = *decision.communicator;
  const bool local = decision.way == Decision::Way::local;
  OwnRanks* ranks = nullptr;
  c.deferred |= !local;
  if (!local) {
    decision.tries_direct = start_tries_direct(made, decision);
    ranks = acquire_own_ranks(c, made.collective(), decision.choice, decision.tries_direct);
    if (!ranks) {
      Decision left = decision;
      leave_to_mpi(left, Reason::no_room);
      count_hand_down(entry, keep_order(made, left));
      return below(made, left);
    }
  }
  CollectiveRequest* request = acquire_persistent(c, ranks);
  if (!request) {
    // The program is told, because other ranks may have made their requests.
    mpi.Comm_call_errhandler(made.comm, kMpi.err_request);
    return kMpi.err_request;
  }
  const Call& call = take_data(*request, made, decision);
  describe(*request, call, decision);
  if (decision.around & Decision::kCheck) [[unlikely]] {
    request->check = std::make_unique<ResultCheck>(call, decision);
    if (!request->check->initialise()) request->check.reset();
  }
  entry.note_path(local ? kLocalPath : path_of(decision.choice.algorithm));
  call.request.set(request->handle);
  return kMpiSuccess;
}

// Everything about a persistent call is decided at its initialisation, which may wait for other
// ranks, so the first one on a communicator sets it up. The MPI's own request comes first: if the
// MPI accepts a call without an error, all ranks have made it.
int set_up_and_initialise(Entry& entry, const Call& call, const Decision& decision) {
  const int error = below(call, decision);
  // It counts as enough calls, because it will be used many times.
  const std::uint64_t enough = std::max(kAgreeAfter, options.known_after);
  if (was_made(error)) count_call(call.comm, enough, Others::will_come, 0);
  Decision again = error == kMpiSuccess ? decide(entry, call) : decision;
  if (!again.is_served()) {
    if (error == kMpiSuccess) again.bytes = bytes_of(call, again);
    count_hand_down(entry, keep_order(call, again));
    return error;
  }
  forget_held(*call.request);
  mpi.Request_free(call.request);
  return initialise(entry, call, again);
}

}  // namespace

// These calls never set a communicator up, since that waits for other ranks. They are left to the
// MPI until a persistent call has done so, or a blocking call from which no rank returns early.
int perform_nonblocking(Entry& entry, const Call& call, const Decision& decision) {
  if (decision.way == Decision::Way::hand_down) return leave_deferred(entry, call, decision);
  if (decision.way == Decision::Way::refuse) return refuse(entry, decision);
  return start_now(entry, call, decision);
}

int perform_persistent(Entry& entry, const Call& call, const Decision& decision) {
  if (decision.way == Decision::Way::refuse) return refuse(entry, decision);
  if (decision.way != Decision::Way::hand_down) return initialise(entry, call, decision);
  if (decision.counts) return set_up_and_initialise(entry, call, decision);
  return leave_deferred(entry, call, keep_order(call, decision));
}

namespace {

// Reads a persistent operation's input anew.
void load_again(CollectiveRequest& request) {
  if (request.device) request.device->load_again();
  check_still_host(request.host_buffers, request.communicator->comm);
}

}  // namespace

void start(CallRecord& record, CollectiveRequest& request) {
  if (request.persistent) load_again(request);
  if (request.check && request.persistent) [[unlikely]]
    request.check->load();
  const ChosenCall& call = request.described;
  request.data.load(call);
  Communicator& c = *request.communicator;
  const DirectTry direct =
      prepare_direct(c, call, request.data, request.may_go_direct, request.tries_direct);
  if (direct.wanted()) {
    record.note_path(path_of(call.choice.algorithm));  // counted when it has ended
  } else {
    count_served(record, c.stats, request.data, call.choice.algorithm);
  }
  begin(request, direct);
  if (request.check) [[unlikely]]
    request.check->start();
}

}  // namespace sumac
