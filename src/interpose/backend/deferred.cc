// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/deferred.h"

#include <climits>

#include "interpose/backend/handles.h"
#include "interpose/backend/user_operations.h"

namespace sumac {
namespace {

Plan& hand_down(Plan& plan, Entry& entry, Reason reason) {
  entry.hand_down(plan.communicator->stats, reason, plan.bytes);
  plan.communicator = nullptr;
  return plan;
}

// Asks as admit() does, and whether the call may go on without its caller.
Plan plan_for(Entry& entry, MPI_Comm comm) {
  const Admission admission = admit(entry, comm);
  Plan plan;
  plan.communicator = admission.communicator;
  plan.counts = admission.counts;
  if (plan.communicator && !world_is_up()) return hand_down(plan, entry, Reason::no_world);
  return plan;
}

// Chooses the algorithm, for `bytes` of it.
Plan& choose(Plan& plan, Entry& entry) {
  Communicator& c = *plan.communicator;
  if (plan.local) return plan;
  plan.choice = c.choose(entry.collective(), plan.bytes);
  if (!c.may_overlap) return hand_down(plan, entry, Reason::no_progress);
  if (plan.choice.algorithm == Algorithm::native) return hand_down(plan, entry, Reason::rules);
  c.deferred = true;
  return plan;
}

// In the statistics, and for who asks which way the last call took.
void count_start(const CollectiveRequest& request) {
  Stats& stats = request.communicator->stats;
  const LevelsCall& call = request.call;
  CallRecord record(call.collective);
  if (request.local) {
    record.take_locally(stats, call.bytes());
  } else {
    record.take(stats, call.choice.algorithm, call.bytes());
  }
}

// The data as they are now become what is sent; what needs no other rank is done at once.
void load(CollectiveRequest& request) {
  if (request.packs) request.buffer->pack();
  if (!request.local || request.call.collective == Collective::bcast) return;
  const ReduceArguments& args = request.call.reduction;
  if (args.bytes() > 0 && args.output && args.input != args.output) {
    copy_elements(request.type, args.output, args.input, args.count);
  }
}

}  // namespace

Plan plan_reduction(Entry& entry, const Reduction& call) {
  Plan plan = plan_for(entry, call.comm);
  if (!plan.communicator) return plan;
  Reason reason = Reason::arguments;
  ReduceArguments& args = plan.call.reduction;
  const TypeInfo* type = judge_reduction(call, *plan.communicator, args, reason);
  if (!type) return hand_down(plan, entry, reason);
  plan.type = *type;
  plan.bytes = args.bytes();
  plan.local = is_local(*plan.communicator, plan.bytes);
  return choose(plan, entry);
}

Plan plan_bcast(Entry& entry, const TypedBuffer& buffer, int root, int& error) {
  Plan plan = plan_for(entry, buffer.comm);
  if (!plan.communicator) return plan;
  error = check_type(buffer);
  if (error != MPI_SUCCESS) return hand_down(plan, entry, Reason::arguments);
  std::size_t element = 0;
  const bool has_root = root >= 0 && root < plan.communicator->size;
  if (buffer.count < 0 || !has_root || !packed_size(buffer.type, element)) {
    return hand_down(plan, entry, Reason::arguments);
  }
  plan.bytes = element * static_cast<std::size_t>(buffer.count);
  plan.local = is_local(*plan.communicator, plan.bytes);
  // A null address as in MPI_Bcast; and what MPI_Pack may be unable to pack, which ranks would have
  // to agree on.
  const bool no_buffer = !buffer.address && find_type(buffer.type);
  if (!plan.local && (no_buffer || plan.bytes > INT_MAX)) {
    return hand_down(plan, entry, Reason::arguments);
  }
  plan.call.bcast = {nullptr, plan.bytes, root};
  return choose(plan, entry);
}

Plan plan_barrier(Entry& entry, MPI_Comm comm) {
  Plan plan = plan_for(entry, comm);
  if (!plan.communicator) return plan;
  plan.local = plan.communicator->state == Communicator::State::alone;
  return choose(plan, entry);
}

void describe(CollectiveRequest& request, const Plan& plan) {
  request.native = {MPI_INT32_T, MPI_BOR};
  request.set_barrier(plan.choice, &request.native);
  request.local = plan.local;
}

void describe(CollectiveRequest& request, const Plan& plan, const Reduction& call) {
  request.native = lasting_handles(call.type, call.op);
  request.call = plan.call;
  request.call.collective = call.root == kNoRoot ? Collective::allreduce : Collective::reduce;
  request.call.choice = plan.choice;
  ReduceArguments& args = request.call.reduction;
  args.native = &request.native;
  request.type = plan.type;
  request.local = plan.local;
  if (plan.local || !wants_stage(plan.type, args)) return;
  request.result.emplace(plan.type, args, call.comm);
}

void describe(CollectiveRequest& request, const Plan& plan, const TypedBuffer& buffer) {
  request.call = plan.call;
  request.call.collective = Collective::bcast;
  request.call.choice = plan.choice;
  request.local = plan.local;
  if (plan.local) return;
  request.buffer.emplace(buffer, plan.bytes, true);
  request.call.bcast.buffer = request.buffer->data();
  request.packs = request.communicator->rank == plan.call.bcast.root;
  request.unpacks = !request.packs && request.buffer->is_copy();
}

void start(CollectiveRequest& request) {
  count_start(request);
  load(request);
  begin(request);
}

}  // namespace sumac
