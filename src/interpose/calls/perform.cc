// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/perform.h"

#include "base/cpu.h"
#include "devices/where.h"
#include "interpose/calls/adapt.h"
#include "interpose/calls/call_text.h"
#include "interpose/calls/check.h"
#include "interpose/calls/decide.h"
#include "interpose/calls/device_data.h"
#include "interpose/calls/direct_memory.h"
#include "interpose/calls/ordered_calls.h"
#include "interpose/mpi/mpi_functions.h"
#include "observe/trace.h"

namespace sumac {
namespace {

// Adds the size to what count_hand_down() has counted.
void count_bytes(const Entry& entry, const Call& call, const Decision& decision) {
  if (decision.bytes > 0) return;
  const std::size_t bytes = bytes_of(call, decision);
  const Collective collective = entry.collective();
  if (!decision.communicator) {
    return count_process_hand_down(collective, decision.reason, bytes, 0);
  }
  CallCounts& stats = decision.communicator->stats;
  stats.handed[static_cast<int>(collective)][static_cast<int>(decision.reason)].bytes += bytes;
}

// Serves a reduction of one rank, or of no data: its result is its input.
int reduce_alone(Entry& entry, const Call& call, const Decision& decision) {
  const TypeInfo& type = decision.reduction->type;
  if (decision.bytes > 0 && call.send.address != kMpi.in_place) {
    copy_elements(type, static_cast<std::byte*>(call.receive.address),
                  static_cast<const std::byte*>(call.send.address), decision.bytes / type.extent);
  }
  entry.take_locally(decision.communicator->stats, decision.bytes);
  return kMpiSuccess;
}

// Serves a call by run(communicator, described, data), which returns the algorithm that did it.
template <class Run>
int serve(Entry& entry, const Call& call, const Decision& decision, Run run) {
  Communicator& c = *decision.communicator;
  CallData data;
  const ChosenCall described = data.describe(call, decision);
  data.load(described);
  const Algorithm way = data.is_local() ? decision.choice.algorithm : run(c, described, data);
  data.deliver();
  count_served(entry, c.stats, data, way);
  return kMpiSuccess;
}

int reduce_plainly(Entry& entry, const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  run(c, {reduction_of(call, decision), call.collective(), decision.choice,
          decision.reduction->reduces});
  entry.take(c.stats, decision.choice.algorithm, decision.bytes);
  return kMpiSuccess;
}

int run_served(Entry& entry, const Call& call, const Decision& decision) {
  if (decision.plain) [[likely]]
    return reduce_plainly(entry, call, decision);
  if (decision.way == Decision::Way::local && decision.reduction) {
    return reduce_alone(entry, call, decision);
  }
  return serve(entry, call, decision, [](Communicator& c, const ChosenCall& described, CallData&) {
    run(c, described);
    return described.choice.algorithm;
  });
}

int run_around(Entry& entry, const Call& call, const Decision& decision);

// Goes on to what stands within the bit `done`.
int go_on(Entry& entry, const Call& call, Decision decision, std::uint8_t done) {
  decision.around &= static_cast<std::uint8_t>(~done);
  return run_around(entry, call, decision);
}

// The MPI does the call also, to compare the results.
int run_checked(Entry& entry, const Call& call, const Decision& decision) {
  ResultCheck check(call, decision);
  const int error = go_on(entry, call, decision, Decision::kCheck);
  check.finish();
  return error;
}

// Serves a call of a size at which another route than that of the rules may be faster.
int run_by_route(Entry& entry, const Call& call, const Decision& decision) {
  switch (decision.turn.route) {
    case Route::rules:
      break;
    case Route::other: {
      Decision by_other = decision;
      by_other.choice = other_choice(call, decision);
      return go_on(entry, call, by_other, Decision::kTurn);
    }
    case Route::native:
      entry.hand_down(decision.communicator->stats,
                      decision.turn.kind == TurnKind::none ? Reason::slower : Reason::trial,
                      decision.bytes);
      return call.kind.below(call);
  }
  return go_on(entry, call, decision, Decision::kTurn);
}

int run_traced(Entry& entry, const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  const CollectiveInfo& info = call.collective_info();
  const trace::OperationScope traced(info.name, info.is_sized ? decision.bytes : 0, c.trace_group,
                                     c.traced);
  return go_on(entry, call, decision, Decision::kTrace);
}

int run_direct(Entry& entry, const Call& call, const Decision& decision) {
  return serve(entry, call, decision,
               [&](Communicator& c, const ChosenCall& described, const CallData& data) {
                 const DirectTry direct =
                     prepare_direct(c, described, data, decision.direct, decision.tries_direct);
                 const std::uint64_t begin = clock_ns();
                 run(c, described, direct);
                 note_direct(c, described, c.work.direct(), clock_ns() - begin);
                 return way_of(described, c.work.direct());
               });
}

// These stand around a served call, outermost first. Each goes on to the next that the decision
// names, or serves the call itself.
constexpr struct {
  std::uint8_t bit;
  int (*run)(Entry& entry, const Call& call, const Decision& decision);
} kAround[] = {{Decision::kCheck, run_checked},
               {Decision::kTurn, run_by_route},
               {Decision::kTrace, run_traced},
               {Decision::kUser, run_user_reduction},
               {Decision::kDirect, run_direct}};

int run_around(Entry& entry, const Call& call, const Decision& decision) {
  for (const auto& [bit, run] : kAround) {
    if (decision.around & bit) return run(entry, call, decision);
  }
  return run_served(entry, call, decision);
}

}  // namespace

ReduceArguments reduction_of(const Call& call, const Decision& decision) {
  const bool receives = call.receives(decision.communicator->rank);
  const bool in_place = call.send.address == kMpi.in_place;
  ReduceArguments args;
  args.output = receives ? static_cast<std::byte*>(call.receive.address) : nullptr;
  args.input = in_place ? args.output : static_cast<const std::byte*>(call.send.address);
  args.count = static_cast<std::size_t>(call.receive.count);
  if (decision.by_user) {
    args.element = decision.communicator->fold.layout().size;
  } else {
    args.element = decision.reduction->type.extent;
    args.kernel = decision.reduction->kernel;
  }
  args.root = call.root;
  args.radix = decision.choice.radix;
  return args;
}

int (*hand_to_mpi)(const Call& call) = [](const Call& call) { return call.kind.below(call); };

void count_hand_down(Entry& entry, const Decision& decision) {
  if (!decision.communicator) return entry.hand_down(decision.reason, decision.bytes);
  entry.hand_down(decision.communicator->stats, decision.reason, decision.bytes);
}

std::size_t bytes_of(const Call& call, const Decision& decision) {
  if (decision.bytes > 0 || !mpi_is_up()) return decision.bytes;
  int ranks = 0;
  if (has_parts(call.kind.function) && !is_intercommunicator(call.comm)) {
    mpi.Comm_size(call.comm, &ranks);
  }
  return size_of(call, ranks).bytes;
}

void count_served(CallRecord& record, CallCounts& stats, const CallData& data,
                  Algorithm algorithm) {
  if (data.is_local()) return record.take_locally(stats, data.bytes());
  record.take(stats, algorithm, data.bytes());
}

bool was_made(int error) {
  if (error == kMpiSuccess) return true;
  if (!mpi_is_up()) return false;
  int error_class = kMpi.err_other;
  mpi.Error_class(error, &error_class);
  const int of_arguments[] = {kMpi.err_buffer, kMpi.err_count, kMpi.err_type, kMpi.err_op,
                              kMpi.err_comm,   kMpi.err_root,  kMpi.err_arg,  kMpi.err_request};
  return std::find(std::begin(of_arguments), std::end(of_arguments), error_class) ==
         std::end(of_arguments);
}

int hand_down(Entry& entry, const Call& call, const Decision& decision) {
  count_hand_down(entry, decision);
  const bool in_order = decision.reason == Reason::in_order;
  const int error = in_order ? reduce_in_order(call, decision) : hand_to_mpi(call);
  if (error == kMpiSuccess) count_bytes(entry, call, decision);
  if (decision.counts && was_made(error)) {
    const Others others = others_of(call, error);
    count_call(call.comm, 1, others, weight_of(call, others));
  }
  return error;
}

int refuse(Entry& entry, const Decision& decision) {
  count_hand_down(entry, decision);
  return decision.error;
}

namespace {

int perform_as_it_is(Entry& entry, const Call& call, const Decision& decision) {
  switch (decision.way) {
    case Decision::Way::hand_down:
      return hand_down(entry, call, decision);
    case Decision::Way::refuse:
      return refuse(entry, decision);
    case Decision::Way::local:
    case Decision::Way::serve:
      break;
  }
  if (decision.around == 0) [[likely]]
    return run_served(entry, call, decision);
  return run_around(entry, call, decision);
}

// Performs a call with host memory in the place of a GPU's, if its buffers are there.
[[gnu::noinline]] int perform_where_they_are(Entry& entry, const Call& call,
                                             const Decision& decision) {
  const CallPlaces places = places_of(call, decision);
  if (!places.on_device() || !is_staged(call, decision)) {
    return perform_as_it_is(entry, call, decision);
  }
  DeviceData data(call, places);
  data.copy_in_slices(decision);
  data.load();
  const int error = perform_as_it_is(entry, data.call(), decision);
  const bool thrown = decision.by_user && decision.communicator->fold.exception();
  if (error == kMpiSuccess && !thrown) data.deliver();
  return error;
}

int perform(Entry& entry, const Call& call, const Decision& decision) {
  if (looks_at_buffers() && may_be_on_device(call, decision)) [[unlikely]]
    return perform_where_they_are(entry, call, decision);
  return perform_as_it_is(entry, call, decision);
}

// Performs a call whose time a trial compares: all of it, with the copies of a GPU's memory that
// one route may need and another not.
[[gnu::noinline]] int perform_timed(Entry& entry, const Call& call, const Decision& decision) {
  const std::uint64_t begin = clock_ns();
  const int error = perform(entry, call, decision);
  note_turn(call, decision, clock_ns() - begin);
  return error;
}

}  // namespace

int perform_now(Entry& entry, const Call& call, const Decision& decision) {
  // A call with wrong arguments has its turn, which all ranks count, and no time.
  if (decision.turn.kind == TurnKind::timed && decision.is_served()) [[unlikely]]
    return perform_timed(entry, call, decision);
  return perform(entry, call, decision);
}

}  // namespace sumac
