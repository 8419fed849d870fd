// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/reduction.h"

#include "algorithms/in_pieces.h"
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

void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                     std::size_t extent, bool may_use_threads) {
  const void* sources[] = {in, inout};
  if (!may_use_threads || !worth_threads(count * extent)) return kernel(inout, sources, 2, count);
  const UseThreads threads(true);
  in_pieces(inout, count, extent, [&](std::size_t first, std::size_t part) {
    char* to = static_cast<char*>(inout) + first * extent;
    const void* from[] = {static_cast<const char*>(in) + first * extent, to};
    kernel(to, from, 2, part);
  });
}

bool judge_arguments(const Reduction& call, const Communicator& c, ReduceArguments& args) {
  const bool rooted = call.root != kNoRoot;
  if (call.count < 0 || (rooted && (call.root < 0 || call.root >= c.size))) return false;
  args.count = static_cast<std::size_t>(call.count);
  args.root = call.root;
  args.output = nullptr;
  const bool gets_result = !rooted || c.rank == call.root;
  return call.count == 0 || judge_buffers(call, gets_result, args);
}

const TypeInfo* judge_reduction(const Reduction& call, const Communicator& c, ReduceArguments& args,
                                Reason& reason) {
  const Op* op = find_any_op(call.op);
  const TypeInfo* type = op ? find_any_type(call.type) : nullptr;
  args.kernel = type ? find_kernel(*type, *op) : nullptr;
  if (!args.kernel) {
    reason = no_kernel_reason(call.op, op);
    return nullptr;
  }
  reason = Reason::arguments;
  args.element = type->extent;
  return judge_arguments(call, c, args) ? type : nullptr;
}

void run_reduction(Communicator& c, const TypeInfo& type) {
  ReduceArguments& args = c.work.call.reduction;
  if (!wants_stage(type, args)) [[likely]] {
    run(c);
    return;
  }
  const StagedResult result(type, args, c.comm);
  run(c);
  result.deliver();
}

}  // namespace sumac
