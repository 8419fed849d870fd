// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/reduction.h"

#include "interpose/backend/user_handles.h"

namespace sumac {
namespace {

// The buffers the way algorithms take them; false for what the MPI should judge.
bool judge_buffers(const Reduction& call, bool gets_result, ReduceArguments& args) {
  if (!gets_result) {
    args.input = static_cast<const std::byte*>(call.sendbuf);
    return call.sendbuf && call.sendbuf != MPI_IN_PLACE;
  }
  if (!call.sendbuf || !call.recvbuf || call.recvbuf == MPI_IN_PLACE) return false;
  if (kAliasIsError && call.sendbuf == call.recvbuf) return false;
  args.output = static_cast<std::byte*>(call.recvbuf);
  args.input =
      call.sendbuf == MPI_IN_PLACE ? args.output : static_cast<const std::byte*>(call.sendbuf);
  return true;
}

}  // namespace

bool judge_reduction(const Reduction& call, const Communicator& c, ReduceArguments& args,
                     Reason& reason) {
  const TypeInfo* type = find_any_type(call.type);
  const Op* op = find_any_op(call.op);
  args.kernel = type && op ? find_kernel(*type, *op) : nullptr;
  if (!args.kernel) {
    reason = no_kernel_reason(call.op, op);
    return false;
  }
  reason = Reason::arguments;
  const bool rooted = call.root != kNoRoot;
  if (call.count < 0 || (rooted && (call.root < 0 || call.root >= c.size))) return false;
  args.count = static_cast<std::size_t>(call.count);
  args.element = type->size;
  args.root = call.root;
  args.output = nullptr;
  return call.count == 0 || judge_buffers(call, !rooted || c.rank == call.root, args);
}

}  // namespace sumac
