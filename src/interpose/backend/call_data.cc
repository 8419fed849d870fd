// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/call_data.h"

#include "interpose/backend/user_operations.h"

namespace sumac {

void describe_arguments(const Call& call, const Decision& decision, LevelsCall& work) {
  const bool rooted = call.collective() == Collective::reduce;
  const bool gets_result = !rooted || decision.communicator->rank == call.root;
  const bool in_place = call.send.address == MPI_IN_PLACE;
  work.collective = call.collective();
  if (decision.way == Decision::Way::serve) work.choice = decision.choice;
  ReduceArguments& args = work.reduction;
  args.output = gets_result ? static_cast<std::byte*>(call.receive.address) : nullptr;
  args.input = in_place ? args.output : static_cast<const std::byte*>(call.send.address);
  args.count = static_cast<std::size_t>(call.receive.count);
  if (decision.by_user) {
    args.element = decision.communicator->fold.layout().size;
  } else {
    args.element = decision.reduction->type.extent;
    args.kernel = decision.reduction->kernel;
  }
  args.root = call.root;
}

void CallData::describe(Work& work, const Call& call, const Decision& decision) {
  local_ = decision.way == Decision::Way::local;
  bytes_ = decision.bytes;
  if (call.collective() == Collective::barrier) {
    native_ = {MPI_INT32_T, MPI_BOR};
    return work.set_barrier(decision.choice, &native_);
  }
  if (call.collective() == Collective::bcast) {
    describe_bcast(work.call, call, decision);
  } else {
    describe_reduction(work.call, call, decision);
  }
}

void CallData::describe_reduction(LevelsCall& work, const Call& call, const Decision& decision) {
  describe_arguments(call, decision, work);
  native_ = {call.receive.type, call.op};
  if (call.is_deferred()) native_ = lasting_handles(call.receive.type, call.op);
  ReduceArguments& args = work.reduction;
  args.native = &native_;
  const TypeInfo& type = decision.reduction->type;
  if (local_) {
    copied_ = type;
  } else if (wants_stage(type, args)) [[unlikely]] {
    staged_.emplace(type, args, call.comm);
  } else {
    return;
  }
  has_copies_ = true;
}

void CallData::describe_bcast(LevelsCall& work, const Call& call, const Decision& decision) {
  work.collective = call.collective();
  work.choice = decision.choice;
  work.bcast = {nullptr, bytes_, call.root};
  if (local_) return;
  packed_.emplace(TypedBuffer{call.receive, call.comm}, bytes_, call.is_deferred());
  work.bcast.buffer = packed_->data();
  packs_ = decision.communicator->rank == call.root;
  has_copies_ = true;
}

void CallData::load_copies(const LevelsCall& work) {
  if (packs_) packed_->pack();
  if (!copied_ || bytes_ == 0) return;
  const ReduceArguments& args = work.reduction;
  if (args.output && args.input != args.output) {
    copy_elements(*copied_, args.output, args.input, args.count);
  }
}

void CallData::deliver_copies() {
  if (packed_ && !packs_) packed_->unpack();
  if (staged_) staged_->deliver();
}

void CallData::free() {
  has_copies_ = packs_ = false;
  copied_.reset();
  packed_.reset();
  staged_.reset();
}

}  // namespace sumac
