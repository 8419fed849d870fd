// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/message_fold.h"

namespace sumac {

Task fold_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  if (shape.is_extra()) {
    group.send(shape.pair(), args.input, args.bytes());
    co_await strand.until(group.stream->all_sent());
  } else if (shape.has_extra()) {
    group.receive(shape.pair(), group.scratch, args.bytes());
    co_await strand.until(group.stream->all_received());
    fold_two(args, args.input, group.scratch, args.output, args.count);
  }
}

Task serve_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  if (shape.is_extra()) {
    group.receive(shape.pair(), args.output, args.bytes());
    co_await strand.until(group.stream->all_received());
  } else if (shape.has_extra()) {
    group.send(shape.pair(), args.output, args.bytes());
    co_await strand.until(group.stream->all_sent());
  }
}

}  // namespace sumac
